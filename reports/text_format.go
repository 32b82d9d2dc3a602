package reports

import (
	"fmt"
	"strconv"
	"strings"
)

// percent writes a ratio with one decimal.
func percent(ratio float64) string { return fmt.Sprintf("%.1f%%", 100*ratio) }

// short writes a number with as many decimals as it needs, two at most.
func short(x float64) string { return strconv.FormatFloat(round(x, 2), 'f', -1, 64) }

// count writes a number with its unit, as in 12,345 cycles.
func count(n int64, unit string) string {
	if n != 1 {
		unit += "s"
	}
	return thousands(n) + " " + unit
}

// thousands writes a number in groups of three digits.
func thousands(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// duration writes a time with three significant digits.
func duration(seconds float64) string {
	switch {
	case seconds < 1e-3:
		return significant(seconds*1e6) + " us"
	case seconds < 1:
		return significant(seconds*1e3) + " ms"
	}
	return significant(seconds) + " s"
}

func significant(x float64) string {
	switch {
	case x < 10:
		return strconv.FormatFloat(x, 'f', 2, 64)
	case x < 100:
		return strconv.FormatFloat(x, 'f', 1, 64)
	}
	return strconv.FormatFloat(x, 'f', 0, 64)
}

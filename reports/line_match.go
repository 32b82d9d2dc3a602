package reports

import "strings"

// maxLineTable bounds the table of matchLines, elements. Texts that differ in more lines are matched by number there.
const maxLineTable = 1 << 22

// matchLines says which line of after each line of before has become, -1 for none; both count from 0. Equal lines are matched
// by the longest common subsequence (space at both ends aside); of a run of changed lines the first has become the first and
// so on.
func matchLines(before, after []string) []int {
	match := make([]int, len(before))
	first := 0
	for first < len(before) && first < len(after) && sameText(before[first], after[first]) {
		match[first] = first
		first++
	}
	last := 0
	for last < len(before)-first && last < len(after)-first && sameText(before[len(before)-1-last], after[len(after)-1-last]) {
		last++
		match[len(before)-last] = len(after) - last
	}
	matchMiddle(match[first:len(match)-last], before[first:len(before)-last], after[first:len(after)-last], first)
	return match
}

func sameText(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// matchMiddle fills in the matches of what lies between common ends; offset is where it begins.
func matchMiddle(match []int, before, after []string, offset int) {
	if len(before)*len(after) > maxLineTable {
		pairUp(match, 0, len(before), 0, len(after), offset)
		return
	}
	lengths := commonLengths(before, after)
	i, j, changed, inserted := 0, 0, 0, 0 // the run of changed lines began at changed and inserted
	for i < len(before) && j < len(after) {
		switch {
		case sameText(before[i], after[j]) && lengths[i][j] == lengths[i+1][j+1]+1:
			pairUp(match, changed, i, inserted, j, offset)
			match[i] = j + offset
			i, j = i+1, j+1
			changed, inserted = i, j
		case lengths[i+1][j] >= lengths[i][j+1]:
			i++
		default:
			j++
		}
	}
	pairUp(match, changed, len(before), inserted, len(after), offset)
}

// pairUp matches the lines from..to of before with those from first..end of after in their order.
func pairUp(match []int, from, to, first, end, offset int) {
	for ; from < to; from, first = from+1, first+1 {
		match[from] = -1
		if first < end {
			match[from] = first + offset
		}
	}
}

// commonLengths holds the lengths of the longest common subsequences of all ends of two texts.
func commonLengths(a, b []string) [][]int32 {
	rows := make([][]int32, len(a)+1)
	cells := make([]int32, (len(a)+1)*(len(b)+1))
	for i := range rows {
		rows[i] = cells[i*(len(b)+1) : (i+1)*(len(b)+1)]
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if sameText(a[i], b[j]) {
				rows[i][j] = rows[i+1][j+1] + 1
			} else {
				rows[i][j] = max(rows[i+1][j], rows[i][j+1])
			}
		}
	}
	return rows
}

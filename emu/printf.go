package emu

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Device-side printf formats as C does (ISO C 7.21.6.1, glibc where that leaves a choice). Its arguments lie in the
// caller's local memory as C lays out a structure of them.

// maxString bounds the strings that the device runtime reads.
const maxString = 1 << 16

// maxField bounds the width and the precision of a conversion.
const maxField = 1 << 12

// callPrintf is vprintf(format, arguments); it returns the number of arguments.
func callPrintf(w *warp, o *op, lane int) error {
	format, err := w.stringAt(o, lane, w.argument64(abiArgument, lane))
	if err != nil {
		return err
	}
	p := printer{arguments: argumentReader{w: w, o: o, lane: lane, next: w.argument64(abiArgument+2, lane)}}
	text, err := p.format(format)
	if err != nil {
		return err
	}
	w.regs[abiResult][lane] = uint32(p.arguments.count)
	return w.block.run.print(text)
}

// printLimit is how much a launch may print, bytes: the size of the buffer that it prints to by default (cudaLimitPrintfFifoSize of
// the CUDA Runtime API). There it holds formats and arguments, here what they make. A GPU overwrites the oldest output with what does
// not fit; here, where everything is shown as it comes, the rest is dropped.
const printLimit = 1 << 20

// print shows what a thread prints, as far as the buffer goes.
func (r *launchRun) print(text string) error {
	if r.overflown {
		return nil
	}
	if room := printLimit - r.printed; int64(len(text)) > room {
		r.overflown = true
		text = fmt.Sprintf("%s\n[device-side printf: a launch prints %d bytes at most (cudaLimitPrintfFifoSize), the rest is dropped]\n", text[:room], printLimit)
	}
	r.printed += int64(len(text))
	r.machine.printed += int64(len(text))
	if _, err := io.WriteString(r.machine.options.Stdout, text); err != nil {
		return fmt.Errorf("device-side printf: %w", err)
	}
	return nil
}

// An argumentReader reads the arguments of a printf one after another.
type argumentReader struct {
	w     *warp
	o     *op
	lane  int
	next  uint64
	count int
}

// word reads the next argument, of 4 or 8 bytes.
func (a *argumentReader) word(size int) (uint64, error) {
	a.count++
	at := (a.next + uint64(size) - 1) &^ uint64(size-1)
	a.next = at + uint64(size)
	var b [8]byte
	for k := 0; k < size; k += 4 {
		part, _, _, err := a.w.memoryAt(a.o, a.lane, at+uint64(k), 4)
		if err != nil {
			return 0, err
		}
		copy(b[k:], part)
	}
	return binary.LittleEndian.Uint64(b[:]), nil
}

// text reads the string that the next argument points to.
func (a *argumentReader) text() (string, error) {
	addr, err := a.word(8)
	if err != nil || addr == 0 {
		return "(null)", err
	}
	return a.w.stringAt(a.o, a.lane, addr)
}

// A printer formats one printf.
type printer struct {
	arguments argumentReader
	out       strings.Builder
}

// A printfSpec is one conversion specification of a format: a % and what follows.
type printfSpec struct {
	minus, plus, space, hash, zero bool
	width                          int
	precision                      int // -1 where there is none
	length                         string
	verb                           byte
}

func (p *printer) format(format string) (string, error) {
	for {
		text, rest, found := strings.Cut(format, "%")
		p.out.WriteString(text)
		if !found {
			return p.out.String(), nil
		}
		c, rest, err := p.parse(rest)
		if err != nil {
			return "", err
		}
		text, err = p.convert(&c)
		if err != nil {
			return "", err
		}
		p.out.WriteString(text)
		format = rest
	}
}

// parse reads a conversion, from behind its % to its letter.
func (p *printer) parse(s string) (c printfSpec, rest string, err error) {
	flags := map[byte]*bool{'-': &c.minus, '+': &c.plus, ' ': &c.space, '#': &c.hash, '0': &c.zero}
	for len(s) > 0 && flags[s[0]] != nil {
		*flags[s[0]] = true
		s = s[1:]
	}
	if c.width, s, err = p.number(s); err != nil {
		return c, "", err
	}
	if c.width < 0 {
		c.minus, c.width = true, -c.width
	}
	c.precision = -1
	if after, ok := strings.CutPrefix(s, "."); ok {
		if c.precision, s, err = p.number(after); err != nil {
			return c, "", err
		}
	}
	rest = strings.TrimLeft(s, "hlLqjzt")
	c.length = s[:len(s)-len(rest)]
	if rest != "" {
		c.verb, rest = rest[0], rest[1:]
	}
	return c, rest, nil
}

// number reads a width or a precision; * takes it from the arguments.
func (p *printer) number(s string) (n int, rest string, err error) {
	if after, ok := strings.CutPrefix(s, "*"); ok {
		v, err := p.arguments.word(4)
		return max(-maxField, min(int(int32(v)), maxField)), after, err
	}
	rest = strings.TrimLeft(s, "0123456789")
	if digits := s[:len(s)-len(rest)]; digits != "" {
		if n, err = strconv.Atoi(digits); err != nil || n > maxField {
			n = maxField
		}
	}
	return n, rest, nil
}

// convert formats the next argument.
func (p *printer) convert(c *printfSpec) (string, error) {
	switch c.verb {
	case '%':
		return "%", nil
	case 'd', 'i', 'u', 'x', 'X', 'o':
		return p.integer(c)
	case 'c':
		v, err := p.arguments.word(4)
		return c.pad("", string([]byte{byte(v)}), false), err
	case 'p':
		v, err := p.arguments.word(8)
		if v == 0 {
			return c.pad("", "(nil)", false), err
		}
		return c.pad("", "0x"+strconv.FormatUint(v, 16), false), err
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		v, err := p.arguments.word(8)
		return c.float(math.Float64frombits(v)), err
	case 's':
		s, err := p.arguments.text()
		if c.precision >= 0 && c.precision < len(s) {
			s = s[:c.precision]
		}
		return c.pad("", s, false), err
	case 0:
		return "%", nil
	}
	return "%" + string(c.verb), nil
}

// pad brings a number or text to the width. Zeros go between the prefix (sign, 0x) and the digits.
func (c *printfSpec) pad(prefix, digits string, zeros bool) string {
	n := max(0, c.width-len(prefix)-len(digits))
	switch {
	case c.minus:
		return prefix + digits + strings.Repeat(" ", n)
	case zeros && c.zero:
		return prefix + strings.Repeat("0", n) + digits
	}
	return strings.Repeat(" ", n) + prefix + digits
}

// sign is what stands before a number.
func (c *printfSpec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case c.plus:
		return "+"
	case c.space:
		return " "
	}
	return ""
}

// integer formats the next argument in one of the integer conversions.
func (p *printer) integer(c *printfSpec) (string, error) {
	size := 4
	if strings.ContainsAny(c.length, "lLqjzt") {
		size = 8
	}
	v, err := p.arguments.word(size)
	prefix, base := "", 10
	switch c.verb {
	case 'd', 'i':
		s := c.signed(v, size)
		prefix, v = c.sign(s < 0), uint64(s)
		if s < 0 {
			v = -v
		}
	default:
		v = c.unsigned(v)
		prefix, base = c.base(v)
	}
	digits := strconv.FormatUint(v, base)
	if c.precision == 0 && v == 0 {
		digits = ""
	}
	if n := c.precision - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	if c.verb == 'o' && c.hash && !strings.HasPrefix(digits, "0") {
		digits = "0" + digits
	}
	if c.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	return c.pad(prefix, digits, c.precision < 0), err
}

// signed narrows a signed argument to its length modifier.
func (c *printfSpec) signed(v uint64, size int) int64 {
	switch {
	case size == 8:
		return int64(v)
	case c.length == "hh":
		return int64(int8(v))
	case c.length == "h":
		return int64(int16(v))
	}
	return int64(int32(v))
}

// unsigned narrows an unsigned argument to its length modifier.
func (c *printfSpec) unsigned(v uint64) uint64 {
	switch c.length {
	case "hh":
		return uint64(uint8(v))
	case "h":
		return uint64(uint16(v))
	}
	return v
}

// base returns the prefix that # asks for and the number base of an unsigned conversion.
func (c *printfSpec) base(v uint64) (prefix string, base int) {
	switch c.verb {
	case 'o':
		return "", 8
	case 'x', 'X':
		if c.hash && v != 0 {
			return "0" + string(c.verb), 16
		}
		return "", 16
	}
	return "", 10
}

// float formats a number in one of the floating-point conversions.
func (c *printfSpec) float(v float64) string {
	upper := c.verb < 'a'
	prefix := c.sign(math.Signbit(v))
	var digits string
	finite := !math.IsInf(v, 0) && !math.IsNaN(v)
	v = math.Abs(v)
	switch {
	case math.IsNaN(v):
		digits = "nan"
	case math.IsInf(v, 0):
		digits = "inf"
	case c.verb == 'a' || c.verb == 'A':
		prefix += "0x"
		digits = c.hexadecimal(v)
	default:
		digits = c.decimal(v)
	}
	if upper {
		prefix, digits = strings.ToUpper(prefix), strings.ToUpper(digits)
	}
	return c.pad(prefix, digits, finite)
}

// decimal formats a number as %e, %f or %g, in lower case. Go's numbers are C's in these formats; only the choice that
// %g makes, and what # keeps, are told to it.
func (c *printfSpec) decimal(v float64) string {
	precision := c.precision
	if precision < 0 {
		precision = 6
	}
	verb := c.verb | 0x20
	if verb != 'g' {
		s := strconv.FormatFloat(v, verb, precision, 64)
		if c.hash && precision == 0 {
			mantissa, exponent, found := strings.Cut(s, "e")
			if s = mantissa + "."; found {
				s += "e" + exponent
			}
		}
		return s
	}
	precision = max(precision, 1)
	scientific := strconv.FormatFloat(v, 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(scientific, "e")
	if x, _ := strconv.Atoi(exponent); x >= -4 && x < precision {
		mantissa, exponent = strconv.FormatFloat(v, 'f', precision-1-x, 64), ""
	} else {
		exponent = "e" + exponent
	}
	if c.hash {
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
	} else if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	return mantissa + exponent
}

// hexadecimal formats a number as %a does, without the 0x and in lower case: as glibc, with the leading digit of the
// binary format, which is 0 of subnormal numbers.
func (c *printfSpec) hexadecimal(v float64) string {
	const digits = 13
	b := math.Float64bits(v)
	significand, exponent := b&(1<<52-1), int(b>>52)-1023
	switch {
	case b == 0:
		exponent = 0
	case exponent == -1023:
		exponent = -1022
	default:
		significand |= 1 << 52
	}
	n := digits
	if c.precision >= 0 && c.precision < digits {
		n = c.precision
		cut := uint(4 * (digits - n))
		half, odd := uint64(1)<<(cut-1), significand>>cut&1
		significand = (significand + half - 1 + odd) >> cut
	}
	fraction := ""
	if n > 0 {
		fraction = fmt.Sprintf("%0*x", n, significand&(1<<(4*n)-1))
	}
	if c.precision < 0 {
		fraction = strings.TrimRight(fraction, "0")
	} else {
		fraction += strings.Repeat("0", max(0, c.precision-digits))
	}
	if fraction != "" || c.hash {
		fraction = "." + fraction
	}
	return fmt.Sprintf("%x%sp%+d", significand>>(4*n), fraction, exponent)
}

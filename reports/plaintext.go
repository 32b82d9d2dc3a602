package reports

import (
	"bytes"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LongestLine is how many characters of a line messages and terminals show.
const LongestLine = 400

// styleSequences are the escape sequences that gpa's own text has, see Style. A terminal is given no others.
var styleSequences = [][]byte{[]byte("\x1b[1m"), []byte("\x1b[2m"), []byte("\x1b[32m"), []byte("\x1b[1;31m"), []byte("\x1b[0m")}

// A PlainWriter makes text fit to be read. Kernels, line tables and report files bring their own names and texts: whatever could steer
// a terminal or show text in another order than it has (ECMA-48, Unicode Standard Annex 9) becomes a question mark, and long lines are
// cut.
type PlainWriter struct {
	W      io.Writer
	column int    // of the line that is being written
	rest   []byte // a character of which only a part has been written
}

// Write writes a text as it is to be read. It reports all of it as written.
func (p *PlainWriter) Write(text []byte) (int, error) {
	out := p.append(make([]byte, 0, len(text)), append(p.rest, text...))
	if _, err := p.W.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// append appends a text as it is to be read, but for a last character that is not whole yet.
func (p *PlainWriter) append(out, text []byte) []byte {
	p.rest = nil
	for len(text) > 0 {
		if n := styleSequence(text); n > 0 {
			out, text = append(out, text[:n]...), text[n:]
			continue
		}
		if !utf8.FullRune(text) {
			p.rest = bytes.Clone(text)
			break
		}
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n':
			out, p.column = append(out, '\n'), -1
		case p.column == LongestLine:
			out = append(out, "..."...)
		case p.column > LongestLine:
		case !legible(r, n):
			out = append(out, '?')
		default:
			out = append(out, text[:n]...)
		}
		p.column++
		text = text[n:]
	}
	return out
}

// styleSequence returns the length of the style that a text begins with, 0 for none.
func styleSequence(text []byte) int {
	for _, s := range styleSequences {
		if bytes.HasPrefix(text, s) {
			return len(s)
		}
	}
	return 0
}

// legible reports whether a character of n bytes is one to be shown.
func legible(r rune, n int) bool {
	return r == '\t' || r == '\u00a0' || unicode.IsPrint(r) && (r != utf8.RuneError || n > 1)
}

// plainText returns a text on one line as it is to be read.
func plainText(s string) string {
	return string(new(PlainWriter).append(nil, []byte(s)))
}

// OneLine keeps a text from breaking out of its line, and from reaching a terminal's controls.
func OneLine(s string) string { return plainText(strings.Join(strings.Fields(s), " ")) }

// Clipped keeps a text from filling the terminal.
func Clipped(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

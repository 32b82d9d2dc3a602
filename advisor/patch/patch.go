// Package patch changes CUDA C++ source text as advice says: a loop unrolled, pointers restrict, launch bounds, single-precision constants,
// approximate functions. It sees tokens, brackets and statements, no types and no macros: where a change is not certain to mean what
// the advice means it is not made, and whoever makes one compiles the result and compares what it computes.
package patch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gpa/cubin/cxx"
)

// A Source is CUDA C++ text with its loops.
type Source struct {
	*cxx.Source
	loops []loop
}

// NewSource takes a text apart. It takes any text: to what is no C++ no patch applies.
func NewSource(text []byte) *Source {
	s := &Source{Source: cxx.NewSource(text)}
	s.findLoops()
	return s
}

// ErrNothing says that there is nothing in the source that a change applies to.
var ErrNothing = errors.New("nothing in the source to change")

// nothing is ErrNothing with what was looked for.
func nothing(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNothing, fmt.Sprintf(format, args...))
}

// An edit puts a text in the place of the bytes from start to end. One with no bytes stands before others of its place.
type edit struct {
	start, end int
	to         string
}

// apply makes edits that do not overlap, of which there is at least one.
func (s *Source) apply(edits []edit) ([]byte, error) {
	if len(edits) == 0 {
		return nil, ErrNothing
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	var out []byte
	at := 0
	for _, e := range edits {
		if e.start < at {
			return nil, nothing("two changes of one place")
		}
		out = append(append(out, s.Text[at:e.start]...), e.to...)
		at = e.end
	}
	return append(out, s.Text[at:]...), nil
}

// newline is the end of line that the text has.
func (s *Source) newline() string {
	if strings.Contains(string(s.Text[:min(len(s.Text), 4096)]), "\r\n") {
		return "\r\n"
	}
	return "\n"
}

// indent is the white space with which the line of a byte begins, and whether only that stands before it.
func (s *Source) indent(at int) (space string, first bool) {
	begin := at
	for begin > 0 && s.Text[begin-1] != '\n' {
		begin--
	}
	end := begin
	for end < at && (s.Text[end] == ' ' || s.Text[end] == '\t') {
		end++
	}
	return string(s.Text[begin:end]), end == at
}

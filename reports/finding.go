package reports

import (
	"fmt"
	"io"
	"strings"

	"gpa/cubin"
)

// A Finding is an error of a kernel, as gpa check reports it.
type Finding struct {
	Kind   string  `json:"kind"`
	Family string  `json:"family"` // memory, init, race or barrier
	Level  string  `json:"level"`  // error or warning
	Kernel string  `json:"kernel"` // empty where it is of no kernel
	At     Party   `json:"at"`
	Other  *Party  `json:"other,omitempty"` // the earlier access of a race, where threads went that a barrier missed, or the call that allocated the memory
	Space  string  `json:"space,omitempty"` // of the address: global, shared or local
	Addr   *uint64 `json:"address,omitempty"`
	Bytes  int     `json:"bytes,omitempty"`
	Buffer string  `json:"buffer,omitempty"`
	Detail string  `json:"detail,omitempty"`
	Count  int64   `json:"count"` // how often, by threads
}

// Verdict is the error that findings amount to: nil where there are none, or only warnings and these do not count.
func Verdict(findings []Finding, strict bool) error {
	errs, warnings := 0, 0
	for i := range findings {
		if findings[i].Level == "warning" {
			warnings++
		} else {
			errs++
		}
	}
	count := func(n int, what string) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	switch {
	case errs > 0 && warnings > 0:
		return fmt.Errorf("%s and %s found", count(errs, "error"), count(warnings, "warning"))
	case errs > 0:
		return fmt.Errorf("%s found", count(errs, "error"))
	case warnings > 0 && strict:
		return fmt.Errorf("%s found", count(warnings, "warning"))
	}
	return nil
}

// A Party is a thread and the instruction that it executed.
type Party struct {
	Location
	Block  [3]int `json:"block"`
	Thread [3]int `json:"thread"`
}

// Place describes the instruction at an offset of a code section and the thread at it.
func Place(module *cubin.File, code int, pc uint64, block, thread [3]int) Party {
	return Party{Locate(module, code, pc), block, thread}
}

// WriteFindings writes findings for people, with the lines of the source where source knows its text.
func WriteFindings(w io.Writer, findings []Finding, source func(file string) []byte, style Style) error {
	t := &textReport{style: style, sources: sources{open: source}}
	for i := range findings {
		if i > 0 {
			t.line("")
		}
		t.finding(i+1, &findings[i])
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

func (t *textReport) finding(number int, f *Finding) {
	times := ""
	if f.Count > 1 {
		times = fmt.Sprintf(", %d times", f.Count)
	}
	warning := ""
	if f.Level == "warning" {
		warning = "warning: "
	}
	if f.Kernel == "" {
		t.inked(badInk, "%d. %s%s", number, warning, f.Kind)
		t.paragraph("   ", f.where())
		return
	}
	t.inked(badInk, "%d. %s%s in kernel %s%s", number, warning, f.Kind, f.Kernel, times)
	if where := f.where(); where != "" {
		t.paragraph("   ", where)
	}
	t.party("   ", &f.At)
	if f.Other != nil {
		t.line("   %s", f.relation())
		t.party("   ", f.Other)
	}
}

// relation introduces the other place.
func (f *Finding) relation() string {
	switch f.Family {
	case "race":
		if f.Level == "warning" {
			return "and, earlier:"
		}
		return "and, not ordered with it, earlier:"
	case "init", "memory":
		if f.Kind == "another thread's local memory" {
			return "the address was written by:"
		}
		return "allocated by:"
	}
	return "and:"
}

// where says which memory was touched and what is wrong with it.
func (f *Finding) where() string {
	var parts []string
	if f.Addr != nil {
		what := strings.TrimSpace(f.Space + " address")
		if f.Bytes > 0 {
			what = fmt.Sprintf("%d bytes at %s", f.Bytes, what)
		}
		parts = append(parts, fmt.Sprintf("%s %#x", what, *f.Addr))
	}
	for _, s := range []string{f.Buffer, f.Detail} {
		if s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ": ")
}

func (t *textReport) party(indent string, p *Party) {
	t.line("%s%s  block %s thread %s  %s", indent, p.instruction(0), triple(p.Block), triple(p.Thread), p.inlining())
	t.source(indent, p.Location)
}

func triple(v [3]int) string { return fmt.Sprintf("(%d,%d,%d)", v[0], v[1], v[2]) }

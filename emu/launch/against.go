package launch

import (
	"fmt"
	"slices"
)

// A Tolerance says which differences between two outputs do not count: |got - want| <= Atol + Rtol·|want|.
type Tolerance struct{ Rtol, Atol float64 }

// Against compares what the session's buffers hold with those of another one: a kernel after a change with the kernel before
// it. Compared are the buffers and symbols for which both files have expectations, or all buffers that both have where there
// is no such expectation. A nil tolerance is the wider of the two expectations'.
func (s *Session) Against(before *Session, t *Tolerance) ([]Check, error) {
	list := s.outputs(before)
	for i := range list {
		if t != nil {
			list[i].Rtol, list[i].Atol = t.Rtol, t.Atol
		}
	}
	return s.compared(before, list)
}

// AllAgainst compares all buffers and symbols that both files name, each within a tolerance of its own.
func (s *Session) AllAgainst(before *Session, tolerance func(name string, e Elem) Tolerance) ([]Check, error) {
	names := s.Names()
	for i := range s.File.Expect {
		names = append(names, s.File.Expect[i].Name)
	}
	var list []Expectation
	for i, name := range names {
		now, here := s.buffers[name]
		if _, there := before.buffers[name]; here && there && !slices.Contains(names[:i], name) {
			t := tolerance(name, now.elem)
			list = append(list, Expectation{Name: name, Rtol: t.Rtol, Atol: t.Atol})
		}
	}
	return s.compared(before, list)
}

// compared compares buffers of two sessions.
func (s *Session) compared(before *Session, list []Expectation) ([]Check, error) {
	var checks []Check
	for _, x := range list {
		now, was := s.buffers[x.Name], before.buffers[x.Name]
		if now.elem != was.elem || now.bytes != was.bytes {
			return nil, fmt.Errorf("%s is %v of %s before and %v of %s after", x.Name, was.shape, was.elem, now.shape, now.elem)
		}
		got, err := s.read(now)
		if err != nil {
			return nil, err
		}
		want, err := before.read(was)
		if err != nil {
			return nil, err
		}
		checks = append(checks, x.compare(now.elem, got, want))
	}
	return checks, nil
}

// outputs lists what is compared, with the tolerances of the files.
func (s *Session) outputs(before *Session) []Expectation {
	var list []Expectation
	both := func(name string) bool {
		_, here := s.buffers[name]
		_, there := before.buffers[name]
		return here && there
	}
	for _, x := range s.File.Expect {
		i := slices.IndexFunc(before.File.Expect, func(y Expectation) bool { return y.Name == x.Name })
		if i >= 0 && both(x.Name) {
			y := &before.File.Expect[i]
			list = append(list, Expectation{Name: x.Name, Rtol: max(x.Rtol, y.Rtol), Atol: max(x.Atol, y.Atol)})
		}
	}
	for i := 0; len(s.File.Expect) == 0 && i < len(s.File.Buffers); i++ {
		if name := s.File.Buffers[i].Name; both(name) {
			list = append(list, Expectation{Name: name})
		}
	}
	return list
}

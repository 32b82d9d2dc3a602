package launch

import (
	"bytes"

	"gpa/emu"
)

// Benchmarks launch the same kernel again and again, and applications in loops. A launch of the same kernel with the same shape
// and arguments that finds device memory as another found it, with empty caches both, is that launch once more, to the last
// cycle. Sieve and others recognise repeated launches by what they execute (Naderan-Tahan et al., ISPASS 2023); here the state of
// the machine is at hand, and there is no error. That a kernel which overwrites its outputs with the same values again leaves
// memory as it was makes the third launch of such a kernel the second one again.

// A known launch is one that may come again: the last of its kind.
type known struct {
	run           int // number of the run
	launch        *emu.Launch
	before, after *emu.State
	printed       int64 // by all launches before it
}

// begin takes note of the i-th launch of the file before it runs, nil where nothing is to be kept of it: where nobody observes it,
// running it again costs little.
func (s *Session) begin(i int, l *emu.Launch) *known {
	if l.WarmCaches || l.Observer == nil || l.WhatIf != nil || !s.comesAgain(i, l) {
		return nil
	}
	before := s.Machine.State()
	if before == nil {
		return nil
	}
	return &known{run: s.runs, launch: l, before: before, printed: s.Machine.Printed()}
}

// end keeps what a launch has done, unless it printed: that would have to be printed again.
func (s *Session) end(k *known) {
	if k == nil || s.Machine.Printed() != k.printed {
		return
	}
	if k.after = s.Machine.State(); k.after == nil {
		return
	}
	if old := s.kind(k.launch); old != nil {
		*old = *k
		return
	}
	s.known = append(s.known, *k)
}

// kind finds the known launch that differs at most in its memory.
func (s *Session) kind(l *emu.Launch) *known {
	for i := range s.known {
		if sameLaunch(s.known[i].launch, l) {
			return &s.known[i]
		}
	}
	return nil
}

func sameLaunch(a, b *emu.Launch) bool {
	return a.Kernel == b.Kernel && a.Grid == b.Grid && a.Block == b.Block && a.SharedDynamic == b.SharedDynamic &&
		a.Cooperative == b.Cooperative && a.Stack == b.Stack && bytes.Equal(a.Params, b.Params)
}

// comesAgain reports whether the file has the i-th launch more than once.
func (s *Session) comesAgain(i int, l *emu.Launch) bool {
	if s.File.Launches[i].Repeat > 1 {
		return true
	}
	for k := range s.File.Launches {
		if k == i {
			continue
		}
		if s.equals(k, l) {
			return true
		}
	}
	return false
}

// equals reports whether a launch is the k-th of the file.
func (s *Session) equals(k int, l *emu.Launch) bool {
	o, err := s.Launch(k)
	return err == nil && sameLaunch(o, l)
}

// Same reports whether the i-th and the k-th launch of the file are one, with the same arguments.
func (s *Session) Same(i, k int) bool {
	l, err := s.Launch(i)
	return err == nil && s.equals(k, l)
}

// Again reports whether the i-th launch of the file would do exactly what an earlier one did, and the number of that run of the
// session, counted from 0. It then leaves memory as that launch did: the launch need not be run.
func (s *Session) Again(i int) (run int, ok bool) {
	if len(s.known) == 0 {
		return 0, false
	}
	l, err := s.Launch(i)
	if err != nil || l.WarmCaches {
		return 0, false
	}
	k := s.kind(l)
	if k == nil || !s.Machine.In(k.before) {
		return 0, false
	}
	s.Machine.Enter(k.after)
	s.Machine.Progress().Skip(l)
	return k.run, true
}

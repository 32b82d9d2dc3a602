package cubin

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// same returns the replacement of a section by itself.
func same(code *Code) Replacement {
	r := Replacement{Code: code}
	for i := range code.Insts {
		r.Insts = append(r.Insts, NewInst{Inst: code.Insts[i], Old: i})
	}
	return r
}

// spread returns code with a NOP before every instruction, and the branches where they went. Control comes to the NOP.
func spread(nop sass.Inst, code *Code) Replacement {
	r := Replacement{Code: code, Entries: make(map[int]int)}
	for i := range code.Insts {
		in := NewInst{Inst: code.Insts[i], Old: i}
		for _, o := range in.Inst.Operands {
			if o.Kind == sass.KindTarget {
				if to, ok := code.InstIndex(o.Imm); ok {
					in.Branch, in.To = true, 2*to
				}
			}
		}
		r.Entries[i] = len(r.Insts)
		r.Insts = append(r.Insts, NewInst{Inst: nop, Old: -1}, in)
	}
	return r
}

// TestReplaceBySame replaces code by itself: only the encoding of the line programs may differ, and what they say may not.
func TestReplaceBySame(t *testing.T) {
	for _, name := range corpus(t) {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var list []Replacement
		for _, code := range f.Codes {
			list = append(list, same(code))
		}
		data, err := f.Replace(list...)
		if err != nil {
			t.Error(err)
			continue
		}
		g, err := NewFile(name, data)
		if err != nil {
			t.Error(err)
			continue
		}
		for i := range f.Sections {
			s := f.Sections[i].Name
			if slices.Contains(lineSections[:], s) {
				continue
			}
			if !bytes.Equal(f.SectionData(i), g.SectionData(i)) && !strings.HasSuffix(s, "debug_line") && !strings.HasSuffix(s, "debug_line_sass") {
				t.Errorf("%s: section %s differs", name, s)
			}
		}
		for i, code := range f.Codes {
			compareFrames(t, name, code, g.Codes[i], func(i int) int { return i })
		}
	}
}

// compareFrames compares the inline stacks of two codes, the second having the instructions of the first at other places.
func compareFrames(t *testing.T, name string, a, b *Code, place func(int) int) {
	t.Helper()
	for i := range a.Insts {
		x, y := a.Frames(a.Insts[i].PC), b.Frames(uint64(place(i))*sass.InstSize)
		if !slices.Equal(x, y) {
			t.Errorf("%s: %s 0x%x: frames %v, want %v", name, a.Name, a.Insts[i].PC, y, x)
			return
		}
	}
}

// TestReplaceSpread puts a NOP before every instruction and looks at what the result says of the instructions.
func TestReplaceSpread(t *testing.T) {
	done := 0
	defer func() {
		if done < 50 {
			t.Errorf("only %d cubins", done)
		}
	}()
	for _, name := range corpus(t) {
		f, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		nop, err := sass.Parse(f.Arch, 0, "NOP", sass.Control{Stall: 1, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			continue // the architecture has no table yet
		}
		done++
		var list []Replacement
		for _, code := range f.Codes {
			list = append(list, spread(nop, code))
		}
		data, err := f.Replace(list...)
		if err != nil {
			t.Error(err)
			continue
		}
		g, err := NewFile(name, data)
		if err != nil {
			t.Error(err)
			continue
		}
		compareSpread(t, f, g)
		if dir := os.Getenv("GPA_SPREAD"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// compareSpread checks what follows from the places of instructions.
func compareSpread(t *testing.T, f, g *File) {
	t.Helper()
	for i, a := range f.Codes {
		b := g.Codes[i]
		compareFrames(t, f.Name, a, b, func(i int) int { return 2*i + 1 })
		for k := range a.Functions {
			x, y := a.Functions[k], b.Functions[k]
			if y.Name != x.Name || y.Offset != 2*x.Offset || y.Size != 2*x.Size {
				t.Errorf("%s: function %+v, was %+v", f.Name, y, x)
			}
		}
		for pc, targets := range a.IndirectTargets {
			got := b.IndirectTargets[2*pc+sass.InstSize]
			for k := range targets {
				if len(got) != len(targets) || got[k] != 2*targets[k] {
					t.Errorf("%s: indirect targets %x, were %x", f.Name, got, targets)
					break
				}
			}
		}
	}
	for i := range f.Relocs {
		x, y := f.Relocs[i], g.Relocs[i]
		if x.Code != nil && (y.Offset != 2*x.Offset+sass.InstSize || y.Symbol != x.Symbol) {
			t.Errorf("%s: relocation %+v, was %+v", f.Name, y, x)
		}
		if x.Target.Code != nil && y.Target.Offset+uint64(y.Addend) != 2*(x.Target.Offset+uint64(x.Addend)) {
			t.Errorf("%s: relocation to 0x%x, was 0x%x", f.Name, y.Target.Offset+uint64(y.Addend), x.Target.Offset+uint64(x.Addend))
		}
	}
	for i, x := range f.Kernels {
		y := g.Kernels[i]
		for k := range x.Syscalls {
			if len(y.Syscalls) != len(x.Syscalls) || y.Syscalls[k] != 2*x.Syscalls[k]+sass.InstSize {
				t.Errorf("%s: calls of system functions at %x, were %x", f.Name, y.Syscalls, x.Syscalls)
				break
			}
		}
	}
}

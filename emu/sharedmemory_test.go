package emu

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"gpa/emu/reconv"
)

// A byteSource gives out bytes one after another, and knows which were returned.
type byteSource struct {
	data     []byte
	next     uint64
	returned []uint64
}

const sourceBase = 0x1000_0000

func (s *byteSource) Take(_ string, size int64) (uint64, []byte, error) {
	at := s.next
	if at+uint64(size) > uint64(len(s.data)) {
		return 0, nil, errors.New("full")
	}
	s.next += (uint64(size) + 0xfff) &^ 0xfff
	return sourceBase + at, s.data[at : at+uint64(size)], nil
}

func (s *byteSource) Return(addr uint64) { s.returned = append(s.returned, addr) }

// Two machines with a module each run over one memory: what one has stored, the other loads, and both are seen from outside.
func TestSharedMemory(t *testing.T) {
	memory := NewMemory(&byteSource{data: make([]byte, 1<<16)}, 0)
	bytes := make([]byte, 256)
	const addr = 0x2000_0000
	if err := memory.Map("shared", addr, bytes); err != nil {
		t.Fatal(err)
	}
	for _, overlap := range []uint64{addr, addr - 1, addr + 255} {
		if err := memory.Map("again", overlap, make([]byte, 2)); err == nil {
			t.Errorf("memory at %#x twice", overlap)
		}
	}
	const double = `
	[B------:R-:W-:-:S01] MOV R2, c[0x0][0x160]
	[B------:R-:W-:-:S06] MOV R3, c[0x0][0x164]
	[B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
	[B0-----:R-:W-:-:S06] IADD3 R4, R4, R4, RZ
	[B------:R-:W-:-:S02] STG.E.SYS [R2], R4
	EXIT`
	binary.LittleEndian.PutUint32(bytes, 5)
	for range 2 {
		p := &timedProgram{text: double, buffers: [][]uint32{{0}}}
		f := p.assemble(t)
		m, err := New(testModel(t), f, Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Launch(context.Background(), p.launch(f, binary.LittleEndian.AppendUint64(nil, addr))); err != nil {
			t.Fatal(err)
		}
	}
	if got := binary.LittleEndian.Uint32(bytes); got != 20 {
		t.Errorf("two machines that double made %d of 5, want 20", got)
	}
	if err := memory.Unmap(addr); err != nil {
		t.Fatal(err)
	}
	p := &timedProgram{text: double, buffers: [][]uint32{{0}}}
	f := p.assemble(t)
	m, err := New(testModel(t), f, Options{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	var fault *Fault
	if _, err := m.Launch(context.Background(), p.launch(f, binary.LittleEndian.AppendUint64(nil, addr))); !errors.As(err, &fault) || fault.Kind != OutOfBounds {
		t.Errorf("an access to what was unmapped: %v", err)
	}
}

// States copy memory that stays where it is.
func TestSharedMemoryState(t *testing.T) {
	memory := NewMemory(&byteSource{data: make([]byte, 1<<16)}, 0)
	bytes := make([]byte, 64)
	const addr = 0x2000_0000
	if err := memory.Map("shared", addr, bytes); err != nil {
		t.Fatal(err)
	}
	m, err := New(testModel(t), (&timedProgram{text: "EXIT"}).assemble(t), Options{Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	state := m.Contents()
	bytes[3] = 7
	if m.In(state) {
		t.Error("the state changed with the memory")
	}
	m.Enter(state)
	if bytes[3] != 0 || !m.In(state) {
		t.Error("the memory is not in the state that it entered")
	}
}

// cvta.const reads the generic address of constant bank 3 from bank 0.
func TestConstantAddress(t *testing.T) {
	p := &timedProgram{text: "EXIT"}
	m, l, _ := p.start(t, testModel(t), Options{})
	m.constants = 0x12_3456_7890
	r := &launchRun{machine: m, launch: l}
	at := bankLayoutOf(m.module.Arch).constant
	if got := binary.LittleEndian.Uint64(r.bank0()[at:]); got != m.constants {
		t.Errorf("%#x, want %#x", got, m.constants)
	}
}

// A launch that is made ready by the one before does what that did, under every re-convergence model.
func TestCompiledOnce(t *testing.T) {
	for _, model := range reconv.Models() {
		p := &timedProgram{text: `
			S2R R0, SR_TID.X
			ISETP.GT.AND P0, PT, R0, 0x7, PT
			@P0 BRA other
			IADD3 R1, R0, 0x1, RZ
			BRA end
			other:
			IADD3 R1, R0, 0x2, RZ
			end:
			EXIT`, threads: 64}
		m, l, _ := p.start(t, testModel(t), Options{Reconvergence: model})
		var first *Result
		for range 3 {
			r, err := m.Launch(context.Background(), l)
			if err != nil {
				t.Fatalf("%s: %v", model.Name(), err)
			}
			if first == nil {
				first = r
			}
			if r.WarpInstructions != first.WarpInstructions || r.Reconvergence != first.Reconvergence {
				t.Errorf("%s: %d warp instructions, %+v; at first %d, %+v", model.Name(), r.WarpInstructions, r.Reconvergence, first.WarpInstructions, first.Reconvergence)
			}
		}
		if m.compiled.kernel != l.Kernel {
			t.Errorf("%s: nothing was kept", model.Name())
		}
		l.Block[0] = 32
		r, err := m.Launch(context.Background(), l)
		if err != nil || 2*r.WarpInstructions > first.WarpInstructions+8 {
			t.Errorf("%s: %v, %d warp instructions of half the threads", model.Name(), err, r.WarpInstructions)
		}
	}
}

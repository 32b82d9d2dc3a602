package emu

import "testing"

// TestLocalMemoryOfPlaces holds that blocks which follow each other on an SM have the same local memory: what all blocks of a grid
// store there would not fit into L2, what those store that the GPU holds at a time does, and nothing is written to DRAM.
func TestLocalMemoryOfPlaces(t *testing.T) {
	p := timedProgram{blocks: 20_000, text: `
		[B------:R-:W-:-:S04] MOV R1, RZ
		[B------:R-:W-:-:S02] STL [R1], R0
		[B------:R-:W-:-:S02] STL [R1+0x4], R0
		[B------:R-:W-:-:S02] STL [R1+0x8], R0
		[B------:R-:W-:-:S02] STL [R1+0xc], R0
		[B------:R-:W-:Y:S05] EXIT`}
	r, _, _ := p.run(t, nil)
	const stored = 4 * 32 * 4 // bytes of a block
	if m := testModel(t); float64(p.blocks*stored) < m.L2.Size.Value {
		t.Fatalf("%d blocks fit into L2", p.blocks)
	}
	if r.Traffic.DRAMWritten > 0 {
		t.Errorf("%d sectors are written to DRAM, want none", r.Traffic.DRAMWritten)
	}
}

// TestLocalMemoryGivenOut holds how much local memory the driver gives a thread: as much as the calls take where the compiler could
// follow them, 1,024 bytes at least, and the call stack of the launch where it could not.
func TestLocalMemoryGivenOut(t *testing.T) {
	for _, tt := range []struct {
		name                   string
		stack, frame, minStack int
		may, given             int // bytes
	}{
		{"a small frame", 16384, 40, 40, 16384, 1024},
		{"a large frame", 16384, 5000, 5000, 16384, 5008},
		{"a frame larger than the stack", 1024, 5000, 5000, 5008, 5008},
		{"recursion", 16384, 40, 0, 16384, 16384},
		{"a stack smaller than what is usual", 64, 40, 40, 64, 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := timedProgram{text: "[B------:R-:W-:Y:S05] EXIT"}
			m, l, _ := p.start(t, testModel(t), Options{})
			l.Stack, l.Kernel.LocalFrame, l.Kernel.MinStack = tt.stack, tt.frame, tt.minStack
			r, err := m.prepare(l)
			if err != nil {
				t.Fatal(err)
			}
			if r.localBytes != tt.may || r.localPlace != tt.given {
				t.Errorf("a thread may use %d bytes and is given %d, want %d and %d", r.localBytes, r.localPlace, tt.may, tt.given)
			}
			if got := r.result().LocalBytes; got != tt.frame {
				t.Errorf("the result tells %d bytes, want %d", got, tt.frame)
			}
		})
	}
}

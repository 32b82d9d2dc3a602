package emu

import (
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/mem"
)

// TestRegisterPorts issues two FFMA one after another. On GA102 the second one's operands in the bank that the first
// reads three times hold it back (Huerta et al., MICRO 2025, listing 1: 5, 6 and 7 cycles); on Volta only three
// operands in one bank do (Jia et al. 2018).
func TestRegisterPorts(t *testing.T) {
	ga102 := registerPorts{banks: 2, ports: 1, window: 3}
	volta := registerPorts{banks: 2, ports: 2, window: 1}
	tests := []struct {
		name   string
		ports  registerPorts
		first  [3]uint8
		second [3]uint8
		reuse  uint8 // of the first
		want   [2]int64
	}{
		{"GA102, one operand in the bank", ga102, [3]uint8{2, 4, 6}, [3]uint8{8, 9, 11}, 0, [2]int64{0, 0}},
		{"GA102, two operands in the bank", ga102, [3]uint8{2, 4, 6}, [3]uint8{8, 10, 11}, 0, [2]int64{0, 1}},
		{"GA102, three operands in the bank", ga102, [3]uint8{2, 4, 6}, [3]uint8{8, 10, 12}, 0, [2]int64{0, 2}},
		{"GA102, three operands, one kept", ga102, [3]uint8{2, 4, 6}, [3]uint8{2, 10, 12}, 1, [2]int64{0, 1}},
		{"GA102, kept for another slot", ga102, [3]uint8{2, 4, 6}, [3]uint8{10, 2, 12}, 1, [2]int64{0, 2}},
		{"Volta, two operands in the bank", volta, [3]uint8{2, 4, 5}, [3]uint8{8, 10, 11}, 0, [2]int64{0, 0}},
		{"Volta, three operands in the bank", volta, [3]uint8{2, 4, 6}, [3]uint8{8, 9, 11}, 0, [2]int64{1, 0}},
		{"RZ is not read", volta, [3]uint8{2, 4, sass.RZ}, [3]uint8{sass.RZ, sass.RZ, sass.RZ}, 0, [2]int64{0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, v := tt.ports, new(resident)
			a := timing{registers: tt.first, reuse: tt.reuse}
			b := timing{registers: tt.second}
			first := p.read(v, &a, 10)
			second := p.read(v, &b, 11+first)
			if got := [2]int64{first, second}; got != tt.want {
				t.Errorf("held back for %v cycles, want %v", got, tt.want)
			}
		})
	}
}

// TestRegisterCacheOfAnotherWarp holds that an operand that one warp keeps does not serve another.
func TestRegisterCacheOfAnotherWarp(t *testing.T) {
	p := registerPorts{banks: 2, ports: 1, window: 3}
	a := timing{registers: [3]uint8{2, 4, 6}, reuse: 1}
	b := timing{registers: [3]uint8{2, 10, 12}}
	p.read(new(resident), &a, 10)
	if hold := p.read(new(resident), &b, 11); hold != 2 {
		t.Errorf("held back for %d cycles, want 2", hold)
	}
}

// TestRegisterCacheExamples holds the four examples of Huerta et al., listing 4: whether an operand comes from the cache.
func TestRegisterCacheExamples(t *testing.T) {
	first := timing{registers: [3]uint8{2, 3, 4}, reuse: 1} // IADD3 R1, R2.reuse, R3, R4
	third := timing{registers: [3]uint8{2, 12, 13}}         // IADD3 R10, R2, R12, R13
	second := func(a, b, c uint8, reuse uint8) timing {     // FFMA R5, A, B, C
		return timing{registers: [3]uint8{a, b, c}, reuse: reuse}
	}
	for _, tt := range []struct {
		name   string
		second timing
		want   [2]bool // R2 of the second, where it has it, and of the third instruction
	}{
		{"1: it becomes unavailable", second(2, 7, 8, 0), [2]bool{true, false}},
		{"2: it is retained", second(2, 7, 8, 1), [2]bool{true, true}},
		{"3: another slot", second(7, 2, 8, 0), [2]bool{false, true}},
		{"4: another register of the bank in the slot", second(4, 7, 8, 0), [2]bool{false, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, v := registerPorts{banks: 2, ports: 1, window: 3}, new(resident)
			kept := func(i *timing) bool { // of the operands, where R2 is one
				for slot, reg := range i.registers {
					if reg == 2 && p.cache[0][slot] == (cached{v, 2}) {
						return true
					}
				}
				return false
			}
			p.read(v, &first, 10)
			var got [2]bool
			for i, in := range []*timing{&tt.second, &third} {
				got[i] = kept(in)
				p.read(v, in, int64(20+10*i))
			}
			if got != tt.want {
				t.Errorf("from the cache: %v, want %v", got, tt.want)
			}
		})
	}
}

// newTestCore returns a sub-core with warps that are ready in the given cycles and need the ALU.
func newTestCore(ready ...int64) *subcore {
	s := &subcore{at: mem.Never, wake: mem.Never, issuedAt: -1}
	for _, r := range ready {
		s.join(&resident{core: s, ready: r, unit: unit(arch.ALU)})
	}
	return s
}

// TestPick holds the policy: greedy, else the youngest.
func TestPick(t *testing.T) {
	s := newTestCore(5, 3, 7)
	if s.at != 3 {
		t.Errorf("something may issue from %d on, want 3", s.at)
	}
	if v, at := s.pick(0); v != nil || at != 3 {
		t.Errorf("in cycle 0: %v, %d; want none before 3", v, at)
	}
	if v, _ := s.pick(3); v != s.warps[1] {
		t.Error("in cycle 3 the one that is ready is not picked")
	}
	if v, _ := s.pick(8); v != s.warps[2] {
		t.Error("in cycle 8 the youngest is not picked")
	}
	s.last = s.warps[0]
	if v, _ := s.pick(8); v != s.warps[0] {
		t.Error("the warp that issued last is not picked again")
	}
	s.pipes[arch.ALU] = 20
	if v, at := s.pick(9); v != nil || at != 20 {
		t.Errorf("with a busy pipe: %v, %d; want none before 20", v, at)
	}
	s.held = 30
	if v, at := s.pick(21); v != nil || at != 30 {
		t.Errorf("with the dispatcher holding back: %v, %d; want none before 30", v, at)
	}
}

// TestMissingOperand holds that the scheduler waits with a warp whose constant operand is missing, four cycles at most, and then turns to
// another until the operand is there (Huerta et al., section 5.1).
func TestMissingOperand(t *testing.T) {
	for _, tt := range []struct {
		constant int64 // cycle in which the operand of the youngest comes
		picked   []int // by cycle from 10 on: place of the warp, -1 for none
	}{
		{10, []int{1}},
		{12, []int{-1, -1, 1}},
		{17, []int{-1, -1, -1, -1, 0, 0, 0, 1}},
		{mem.Never, []int{-1, -1, -1, -1, 0, 0, 0, 0}},
	} {
		s := newTestCore(5, 5)
		s.operand = 4
		s.warps[1].constant = tt.constant
		for i, want := range tt.picked {
			got := -1
			if v, _ := s.pick(10 + int64(i)); v != nil {
				got = int(v.place)
			}
			if got != want {
				t.Errorf("operand in cycle %d: warp %d issues in cycle %d, want %d", tt.constant, got, 10+i, want)
			}
		}
	}
}

// TestPickInTurn holds that warps which have found the queue for global memory full enter it, where the model says so, by the age
// of their blocks and then in the order in which they came, and that those which came after that wait behind them.
func TestPickInTurn(t *testing.T) {
	for _, c := range []struct {
		name   string
		inTurn bool
		older  int   // warps of an older block than that of the others
		order  []int // places of the warps, which are ready in cycles 5, 3, 5 and 40
	}{
		{"in turn", true, 4, []int{1, 2, 0, 3}},
		{"older block first", true, 1, []int{0, 1, 2, 3}},
		{"youngest first", false, 4, []int{3, 2, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			model, err := arch.ByName("t4")
			if err != nil {
				t.Fatal(err)
			}
			s := newTestCore(5, 3, 5, 40)
			s.inTurn, s.path = c.inTurn, mem.NewSM(mem.NewConfig(model, 0, false), 0)
			blocks := [2]*residentBlock{{}, {}}
			for i, v := range s.warps {
				v.unit, v.block = unitLG, blocks[min(i/c.older, 1)]
			}
			for s.path.LGReady(0) == 0 { // fill the queue
				s.path.Global(0, 0, nil, mem.Global{Kind: mem.Read, Passes: 20})
			}
			free := s.path.LGReady(0)
			if v, _ := s.pick(10); v != nil {
				t.Fatal("a warp is picked for a queue that is full")
			}
			for _, want := range c.order {
				v, _ := s.pick(max(free, 50))
				if v != s.warps[want] {
					t.Fatalf("the warp at %d is picked, want %d", v.place, want)
				}
				s.unlist(v)
				v.ready = mem.Never
			}
		})
	}
}

// TestLeave holds that the others keep their state when a warp leaves.
func TestLeave(t *testing.T) {
	s := newTestCore(1, 2, 3, 100)
	s.pick(50)
	gone, last := s.warps[1], s.warps[3]
	s.unlist(gone)
	s.leave(gone)
	if len(s.warps) != 3 || last.place != 2 {
		t.Fatalf("%d warps, the youngest at %d", len(s.warps), last.place)
	}
	if v, _ := s.pick(60); v != s.warps[1] {
		t.Error("the youngest that is ready is not picked")
	}
	if v, _ := s.pick(100); v != last {
		t.Error("the warp that was waiting is lost")
	}
}

package activity

import (
	"math/bits"

	"gpa/cubin/branch"
	"gpa/cubin/sass"
	"gpa/emu"
)

// Branches measures where the lanes of warps are lost, as Gupta and Datta do ("Characterizing performance loss from mapping
// general purpose applications onto GPU architectures", section IV): each lane of each issued instruction is active, or
// inactive because of the last branch that parted it from the active ones, which is intrinsic or extrinsic. It is a
// [emu.Tracer] of launches without timing, under any re-convergence model. Under PDOM it keeps what the paper's stack of
// thread status rows has.
//
// The paper's rows are kept by lane: where lanes part, each of them remembers the branch and the group that came to it.
// An inactive lane owes its state to the innermost branch whose group the active lanes were in too. A group that parts is
// inside the groups of all branches that it still remembers, as long as groups re-converge in the order of a stack; where
// a model brings lanes together otherwise, the branches whose groups do not hold the new group are forgotten.
type Branches struct {
	deaf
	list    []branch.Branch
	uses    []BranchUse
	at      []int32 // by instruction: branch, -1 for none
	bases   []int
	slots   []Slots // by instruction
	threads int
	warps   map[warpID]*partings
	free    []*partings
}

// Slots count lanes of issued warp instructions.
type Slots struct {
	Active int64
	// Lost are inactive lanes, by the type of the branch that parted them from the active ones.
	Lost [3]int64
	// Absent are lanes that the launch has no thread for, in the last warp of a block, and those that no branch has parted
	// from the active ones.
	Absent int64
}

// Total is the number of lanes.
func (s *Slots) Total() int64 {
	return s.Active + s.Lost[branch.Uniform] + s.Lost[branch.Intrinsic] + s.Lost[branch.Extrinsic] + s.Absent
}

// Add adds the slots of other instructions.
func (s *Slots) Add(o *Slots) {
	s.Active += o.Active
	s.Absent += o.Absent
	for t := range s.Lost {
		s.Lost[t] += o.Lost[t]
	}
}

// Fractions returns the paper's f_A, f_I and f_E: shares of the lanes. A branch whose condition cannot differ between
// threads loses none.
func (s *Slots) Fractions() (active, intrinsic, extrinsic float64) {
	total := s.Total()
	return ratio(s.Active, total), ratio(s.Lost[branch.Intrinsic], total), ratio(s.Lost[branch.Extrinsic], total)
}

// NewBranches returns a tracer that tells apart the given branches of a module.
func NewBranches(list []branch.Branch) *Branches {
	m := &Branches{list: list, uses: make([]BranchUse, len(list))}
	for i := range list {
		m.uses[i].Branch = list[i]
	}
	return m
}

// Uses returns what the branches did, in their order.
func (m *Branches) Uses() []BranchUse { return m.uses }

// Slots returns what has been counted of an instruction.
func (m *Branches) Slots(code, inst int) *Slots { return &m.slots[m.bases[code]+inst] }

// Total returns what has been counted of all instructions.
func (m *Branches) Total() Slots {
	var sum Slots
	for i := range m.slots {
		sum.Add(&m.slots[i])
	}
	return sum
}

// A warpID is a warp of a launch.
type warpID struct{ block, warp int }

// Begin takes note of the launch. A further one of the same module adds to what has been counted.
func (m *Branches) Begin(f *emu.LaunchFacts) {
	m.threads = f.Block[0] * f.Block[1] * f.Block[2]
	m.warps = make(map[warpID]*partings)
	if m.slots != nil {
		return
	}
	insts := 0
	for _, c := range f.Module.Codes {
		m.bases = append(m.bases, insts)
		insts += len(c.Insts)
	}
	m.slots, m.at = make([]Slots, insts), make([]int32, insts)
	for i := range m.at {
		m.at[i] = -1
	}
	for i := range m.list {
		m.at[m.bases[m.list[i].Code]+m.list[i].Inst] = int32(i)
	}
}

// BeginBlock gives the warps of a block their states.
func (m *Branches) BeginBlock(block, _ int) {
	for warp := range (m.threads + 31) / 32 {
		p := &partings{}
		if last := len(m.free) - 1; last >= 0 {
			p, m.free = m.free[last], m.free[:last]
		}
		p.reset(len(m.list), m.threads-32*warp)
		m.warps[warpID{block, warp}] = p
	}
}

// EndBlock drops them.
func (m *Branches) EndBlock(block int) {
	for warp := range (m.threads + 31) / 32 {
		id := warpID{block, warp}
		m.free = append(m.free, m.warps[id])
		delete(m.warps, id)
	}
}

// Step counts an instruction.
func (m *Branches) Step(s *emu.Step) {
	p := m.warps[warpID{s.Block, s.Warp}]
	inst := m.bases[s.Code] + int(s.Inst.PC/sass.InstSize)
	p.look(s.Active)
	m.count(&m.slots[inst], p)
	at := m.at[inst]
	if at >= 0 {
		m.uses[at].execute(s, p.first(at))
	}
	if s.Parted {
		p.part(s.Active, at)
	}
}

// count adds the lanes of an issued instruction.
func (m *Branches) count(slots *Slots, p *partings) {
	active := int64(bits.OnesCount32(p.active))
	slots.Active += active
	slots.Absent += int64(p.absent)
	for _, l := range p.lost {
		use := &m.uses[l.branch]
		slots.Lost[use.Branch.Type] += int64(l.lanes)
		use.Lost += int64(l.lanes)
		use.Issues++
		use.Working += active
	}
}

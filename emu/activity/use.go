package activity

import (
	"math/bits"

	"gpa/cubin/branch"
	"gpa/cubin/sass"
	"gpa/emu"
)

// A BranchUse is what a branch did, a row of the paper's branch target buffer (Figure 6).
type BranchUse struct {
	Branch     branch.Branch
	Executions int64 // by warps: DYN COUNT
	Instances  int64 // lanes that came to it
	Taken      int64 // lanes that took it, or that a conditional exit ended
	Warps      int64 // warps that executed it at least once
	// Lost are slots that were inactive because of it, in Issues warp instructions that had Working lanes active.
	Lost, Issues, Working int64
}

// TakenFraction is the part of the lanes that took the branch.
func (u *BranchUse) TakenFraction() float64 { return ratio(u.Taken, u.Instances) }

// Occupancy is the part of the warps' lanes that took the branch, as in Figure 6, where full warps come to every branch and
// it equals the taken fraction.
func (u *BranchUse) Occupancy() float64 { return ratio(u.Taken, 32*u.Executions) }

// Add adds what the same branch did in another launch.
func (u *BranchUse) Add(o *BranchUse) {
	u.Executions += o.Executions
	u.Instances += o.Instances
	u.Taken += o.Taken
	u.Warps += o.Warps
	u.Lost += o.Lost
	u.Issues += o.Issues
	u.Working += o.Working
}

// execute counts an execution of the branch.
func (u *BranchUse) execute(s *emu.Step, first bool) {
	u.Executions++
	u.Instances += int64(bits.OnesCount32(s.Active))
	taken := s.Taken
	if s.Inst.Op == sass.EXIT {
		taken = s.Exited()
	}
	u.Taken += int64(bits.OnesCount32(taken))
	if first {
		u.Warps++
	}
}

// A Grade says what an extrinsic branch is there for, as the paper's last section proposes to tell them apart.
type Grade string

// The grades.
const (
	Ungraded Grade = ""         // not extrinsic, or no lanes are lost
	Serial   Grade = "serial"   // one thread of the warp works, the others wait for it
	Critical Grade = "critical" // in the repeated part of the kernel: warps execute it more than once
	SetUp    Grade = "set-up"   // warps execute it once
)

// Grade grades the branch. How much it matters are the slots that it loses.
func (u *BranchUse) Grade() Grade {
	switch {
	case u.Branch.Type != branch.Extrinsic || u.Lost == 0:
		return Ungraded
	case u.Working == u.Issues:
		return Serial
	case u.Executions > u.Warps:
		return Critical
	}
	return SetUp
}

// A Class adds up the branches of a type.
type Class struct {
	Branches                     int
	Executions, Instances, Taken int64
}

// TakenFraction is the part of the lanes that took the branches, weighted by instances.
func (c *Class) TakenFraction() float64 { return ratio(c.Taken, c.Instances) }

// Classes adds up branches by type.
func Classes(uses []BranchUse) [3]Class {
	var list [3]Class
	for i := range uses {
		u, c := &uses[i], &list[uses[i].Branch.Type]
		c.Branches++
		c.Executions += u.Executions
		c.Instances += u.Instances
		c.Taken += u.Taken
	}
	return list
}

// Shares returns what each type of branches is of all branches, and of those that warps executed.
func Shares(classes [3]Class) (static, dynamic [3]float64) {
	branches, executions := 0, int64(0)
	for _, c := range classes {
		branches += c.Branches
		executions += c.Executions
	}
	for i, c := range classes {
		static[i] = float64(c.Branches) / float64(max(branches, 1))
		dynamic[i] = ratio(c.Executions, executions)
	}
	return static, dynamic
}

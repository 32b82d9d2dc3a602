package profiler

import (
	"math"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// Settle returns a launch with its samples at the instructions to which they belong. Hardware shows a warp at the pc behind the last
// instruction that it issued until the target of a branch is looked up (see [Sample]). Here a sample of a warp that issues is at what it
// issues, one of a warp that goes elsewhere is at the branch's target, or at the instruction itself where the code does not tell
// the target (RET, indirect branches) or there is none (EXIT). Of conditional branches as many go elsewhere as the source counters say;
// without counters none. The sum of samples stays as it is.
func Settle(l *Launch, module *cubin.File, issue *arch.Issue) *Launch {
	s := settler{launch: l, module: module, wait: issue.Branch.Value - issue.Resolving.Value - 1, targets: make([]map[uint64]bool, len(module.Codes))}
	settled := *l
	settled.Samples = make([]Sample, 0, len(l.Samples))
	for i := range l.Samples {
		settled.Samples = s.add(settled.Samples, l.Samples[i])
	}
	settled.Samples = Collect(settled.Samples)
	return &settled
}

// A settler puts the samples of a launch where they belong.
type settler struct {
	launch  *Launch
	module  *cubin.File
	wait    float64           // cycles that a warp waits behind a branch until its target is looked up
	targets []map[uint64]bool // by code: where branches lead to, nil where that was not looked for
}

// add appends a sample, in parts where it belongs to several instructions.
func (s *settler) add(list []Sample, sample Sample) []Sample {
	before := s.before(&sample)
	if before == nil {
		return append(list, sample)
	}
	to, share := before.PC, 1.0
	switch {
	case sample.Reason == stall.Selected:
	case !redirects(before.Op):
		share = 0
	case sample.Reason == stall.Wait:
		share = s.waits(&sample, before)
		if at := staticTarget(before); at != nil {
			if _, ok := s.module.Codes[sample.Code].InstIndex(at.Imm); ok {
				to = at.Imm
			}
		}
	case sample.Reason == stall.Drain:
	case sample.Reason == stall.BranchResolving && staticTarget(before) == nil && (before.Op == sass.RET || !s.isTarget(sample.Code, sample.PC)):
	default:
		share = 0
	}
	count := int64(math.Round(share * float64(sample.Count)))
	if count > 0 {
		moved := sample
		moved.PC, moved.Count, moved.Latency = to, count, min(count, int64(math.Round(share*float64(sample.Latency))))
		list = append(list, moved)
		sample.Count, sample.Latency = sample.Count-count, min(sample.Latency-moved.Latency, sample.Count-count)
	}
	return append(list, sample)
}

// before returns the instruction before that of a sample, nil where there is none.
func (s *settler) before(sample *Sample) *sass.Inst {
	if sample.Code < 0 || sample.Code >= len(s.module.Codes) {
		return nil
	}
	code := s.module.Codes[sample.Code]
	if i, ok := code.InstIndex(sample.PC); ok && i > 0 {
		return &code.Insts[i-1]
	}
	return nil
}

// waits is the share of the wait samples behind a branch that are of warps that it takes elsewhere: for those of another warp the stall
// count of the branch counts.
func (s *settler) waits(behind *Sample, branch *sass.Inst) float64 {
	if !branch.Conditional() {
		return 1
	}
	all, _ := s.launch.Counter(behind.Code, branch.PC)
	next, _ := s.launch.Counter(behind.Code, behind.PC)
	falls := float64(min(all.Executions, next.Executions)) * max(float64(branch.Control.Stall)-1, 0)
	jumps := float64(max(all.Executions-next.Executions, 0)) * s.wait
	if jumps <= 0 {
		return 0
	}
	return jumps / (falls + jumps)
}

// isTarget reports whether a branch of the code leads to a pc.
func (s *settler) isTarget(code int, pc uint64) bool {
	if s.targets[code] == nil {
		s.targets[code] = make(map[uint64]bool)
		for i := range s.module.Codes[code].Insts {
			if at := staticTarget(&s.module.Codes[code].Insts[i]); at != nil {
				s.targets[code][at.Imm] = true
			}
		}
	}
	return s.targets[code][pc]
}

// redirects reports whether an instruction leads warps elsewhere than to the one behind it, or ends them.
func redirects(op sass.Op) bool {
	return op.Properties().Redirects()
}

// staticTarget returns the operand that holds the address in the same code that a branch leads to, nil where there is none.
func staticTarget(in *sass.Inst) *sass.Operand {
	if in.Op.Properties().Flow != sass.FlowJump {
		return nil
	}
	return in.Target()
}

package advisor

import (
	"fmt"
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// Threads of a row of a block that all go through the same rounds, with the same results, as where each element of a row finds the row's sum for
// itself, can share these rounds: each has then a part of them to do, and what they load becomes neighbours' words.

// sameRounds matches the loops of a nest whose rounds are the same for neighbouring lanes.
func (in *Input) sameRounds(n *loopNest) []*Match {
	lanes := warpSize
	if x := in.Launch.Block[0]; x < warpSize {
		lanes = powerOfTwo(float64(x))
	}
	if lanes < 2 || in.Launch.Block[0]%lanes != 0 || n.barrier || n.scanned || len(n.handed) > 0 || len(n.sums) > 0 || n.samples < leastSame*in.Total {
		return nil
	}
	same := *n
	same.loops, same.samples = nil, 0
	u := in.uniformity(false)
	for _, l := range n.loops {
		uniform, loads := true, 0
		in.eachInst(n.code, l, func(i int) {
			x := blamer.Node{Code: n.code, Inst: i}
			op := in.Inst(x).Op
			uniform = uniform && op.Properties().Writes == 0 && (len(in.Inst(x).Defs(nil)) == 0 || u.uniform(x))
			if op.Properties().Loads(sass.SpaceGlobal) {
				loads++
			}
		})
		if uniform && loads > 0 {
			same.loops = append(same.loops, l)
			same.samples += in.samplesInLoop(n.code, l)
		}
	}
	if same.samples < leastSame*in.Total || !slices.Contains(same.loops, same.hottest) {
		return nil
	}
	matches := []*Match{in.sameMatch(&same, lanes)}
	if in.asInSource(&same) {
		matches = append(matches, in.sameMatch(&same, lanes))
	}
	return matches
}

// sameMatch is the advice that so many neighbouring lanes share the rounds of a nest.
func (in *Input) sameMatch(n *loopNest, lanes int) *Match {
	m := in.distributed(n, min(float64(lanes), n.rounds))
	m.Variant = fmt.Sprintf("%d lanes that do the same%s", lanes, n.variant())
	m.Change = &Change{Streams: &Streams{Rolled: n.rolled.among(lanes), Transposed: &Transposed{Loops: in.streamLoops(n), Width: lanes, Combined: true, Results: in.results(n), Own: true}}}
	m.Suggestions = []string{
		fmt.Sprintf("%d neighbouring threads all go through the same %.0f rounds of the loop at %s, and get the same. Let them share the rounds: thread j takes rounds j, j+%d and so on, and __shfl_xor_sync puts the parts together, so that each has the result.",
			lanes, in.sourceRounds(n), in.nestPlace(n), lanes),
		"They then read neighbouring addresses at once. Where more threads of a block get the same, let all of them share the rounds, and put the parts of the warps together in shared memory. All of them have to be there: threads beyond the end of a row must not leave before.",
	}
	return m
}

// leastSame is the share of the samples from which on rounds that several threads do alike are looked at.
const leastSame = .25

// A uniformity tells which values are the same for the lanes of a warp that have threadIdx.y and z in common: those that nothing makes which differs
// from lane to lane, as threadIdx.x does.
type uniformity struct {
	in     *Input
	known  map[blamer.Node]bool
	launch bool // for all threads of the launch, whoever of them comes there
}

// uniformity prepares it, for the lanes of a warp or for all threads of the launch.
func (in *Input) uniformity(launch bool) *uniformity {
	return &uniformity{in: in, known: make(map[blamer.Node]bool), launch: launch}
}

// uniform reports whether an instruction makes the same value in all these lanes.
func (u *uniformity) uniform(n blamer.Node) bool {
	met := make(map[blamer.Node]bool)
	if !u.follow(n, met) {
		u.known[n] = false
		return false
	}
	for x := range met {
		u.known[x] = true
	}
	return true
}

// operandsBut reports whether what an instruction reads besides an operand has the same value in all of them.
func (u *uniformity) operandsBut(n blamer.Node, but *sass.Operand) bool {
	for _, r := range u.in.Inst(n).Uses(nil) {
		if !isValue(r) || r >= sass.ResPred || r >= sass.Resource(but.Reg) && r < sass.Resource(but.Reg)+sass.Resource(but.Width) {
			continue // who comes there, or what is asked elsewhere
		}
		if !u.reads(n, r) {
			return false
		}
	}
	return true
}

// reads reports whether what an instruction reads in a register is the same value in all of them.
func (u *uniformity) reads(n blamer.Node, r sass.Resource) bool {
	return !slices.ContainsFunc(u.in.defsWithin(nil, n.Code, n.Inst, r), func(d int) bool { return !u.uniform(blamer.Node{Code: n.Code, Inst: d}) })
}

// follow goes to all that a value is made of, and reports whether none of it differs.
func (u *uniformity) follow(n blamer.Node, met map[blamer.Node]bool) bool {
	if known, found := u.known[n]; found || met[n] {
		return known || met[n]
	}
	met[n] = true
	if c := u.in.codes[n.Code]; c.executions != nil && c.executions[n.Inst] == 0 {
		return true // makes nothing
	}
	if u.differs(n) {
		return false
	}
	uses := u.in.Inst(n).Uses(nil)
	if u.in.Inst(n).Op == sass.CALL {
		e := u.in.effectOfCall(n.Code, n.Inst)
		if e == nil || e.loads {
			return false
		}
		uses = slices.Sorted(maps.Keys(e.reads))
	}
	for _, r := range uses {
		if !isValue(r) || !u.launch && (r >= sass.ResUReg && r < sass.ResPred || r >= sass.ResUPred) {
			continue // of the warp
		}
		for _, d := range u.in.defsWithin(nil, n.Code, n.Inst, r) {
			if !u.follow(blamer.Node{Code: n.Code, Inst: d}, met) {
				return false
			}
		}
	}
	return true
}

// differs reports whether an instruction itself brings what differs from lane to lane, or is executed by some of them alone.
func (u *uniformity) differs(n blamer.Node) bool {
	const nearly = .9
	inst := u.in.Inst(n)
	p := inst.Op.Properties()
	if k := u.in.counts(n); !u.launch && inst.Guard.Always() && k.executions > 0 && k.threads < nearly*warpSize*k.executions || p.Crosses || isAtomic(inst.Op) ||
		p.Reads&^(sass.SpaceGlobal|sass.SpaceShared|sass.SpaceConstant) != 0 {
		return true
	}
	if u.launch {
		return slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool { return o.Kind == sass.KindSReg && o.Imm != sass.SRZ })
	}
	return slices.ContainsFunc(inst.Operands, func(o sass.Operand) bool {
		return o.Kind == sass.KindSReg && !slices.Contains([]int64{sass.SRTIDY, sass.SRTIDZ, sass.SRCTAIDX, sass.SRCTAIDY, sass.SRCTAIDZ, sass.SRZ}, int64(o.Imm))
	})
}

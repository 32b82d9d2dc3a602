package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// asyncCopy matches, on GPUs that can copy from global to shared memory without registers, stores to shared memory that wait for the
// load of what they store. A copy that runs beside the computation hides the latency.
type asyncCopy struct{}

func (asyncCopy) Name() string { return "async-copy" }
func (asyncCopy) Class() Class { return LatencyHiding }

func (asyncCopy) Match(in *Input) []*Match {
	if in.Model.Arch < int(sass.SM80) {
		return nil
	}
	c := newCollector(in)
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if b.Detail == blamer.GlobalMemory && in.Inst(b.Def).Op == sass.LDG && in.Inst(b.Use).Op == sass.STS && in.stores(b.Use, b.Def) {
			if l := in.CommonLoop(b.Def, b.Use); l != nil && !in.feedsBack(l, b.Def) {
				c.add(in.loopScope(b.Def.Code, l), b)
			}
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.hide(min(m.Latency, in.samplesIn(m.Scope)-m.Samples)) // the copy is under way during the whole round before
		m.Change = in.doubleBuffered(m)
		m.Suggestions = []string{
			fmt.Sprintf("The loop copies from global to shared memory by way of registers at %s and waits for it. Use cuda::memcpy_async or __pipeline_memcpy_async, and begin the copy for the next round before working on this one (two buffers).",
				in.places(m.uses(), 3)),
			"The second buffer takes shared memory; check that as many blocks still fit on an SM.",
		}
	}
	return append(matches, in.furtherStages()...)
}

// doubleBuffered is the change that loads the tile of the next round while this one is worked on. With two buffers no barrier has to
// stand behind the work on one of them.
func (in *Input) doubleBuffered(m *Match) *Change {
	code, l := m.Scope.Code, m.Scope.Loop
	c := in.prefetched(code, l, in.ahead(code, l))
	if c == nil {
		return nil
	}
	c.Shared = 2 * in.shared()
	c.Gone = in.releasing(code, l)
	return c
}

// releasing returns the barriers of a loop that only release what was read: shared memory is loaded from, and nothing stored there, since
// the barrier before. There is none where a round has one barrier.
func (in *Input) releasing(code int, l *cfg.Loop) (list []blamer.Node) {
	loads, stores := false, false // since the barrier before
	barriers := 0
	in.eachInst(code, l, func(i int) {
		n := blamer.Node{Code: code, Inst: i}
		switch p := in.Inst(n).Op.Properties(); {
		case in.Inst(n).Op == sass.BAR:
			if barriers++; loads && !stores {
				list = append(list, n)
			}
			loads, stores = false, false
		default:
			loads = loads || p.Loads(sass.SpaceShared)
			stores = stores || p.Accesses(sass.SpaceShared) && !p.Loads(sass.SpaceShared)
		}
	})
	if barriers < 2 {
		return nil
	}
	return list
}

// samplesIn returns all samples of a loop or function scope.
func (in *Input) samplesIn(s Scope) float64 {
	c, sum := in.codes[s.Code], 0.0
	for _, id := range in.blocksOf(s) {
		for i := c.graph.Blocks[id].First; i <= c.graph.Blocks[id].Last; i++ {
			sum += c.total[i]
		}
	}
	return sum
}

// stores reports whether a store stores what a load has loaded, unchanged.
func (in *Input) stores(store, load blamer.Node) bool {
	if store.Code != load.Code {
		return false
	}
	s, l := in.Inst(store), in.Inst(load)
	for i := range s.Operands {
		o := &s.Operands[i]
		if o.Kind == sass.KindReg && o.Source && len(l.Operands) > 0 {
			to := destination(l)
			return to != nil && to.Reg == o.Reg
		}
	}
	return false
}

// destination returns the register that an instruction writes, nil for none.
func destination(in *sass.Inst) *sass.Operand {
	for i := range in.Operands {
		if o := &in.Operands[i]; o.Kind == sass.KindReg && o.Dest {
			return o
		}
	}
	return nil
}

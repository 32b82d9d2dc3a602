package advisor

import (
	"cmp"
	"slices"

	"gpa/blamer"
	"gpa/cubin/sass"
)

// addUnexposed enters stalls that go, but for what they hide.
func (c *collector) addUnexposed(s Scope, blames []*blamer.Blame) {
	gone, factors := map[int]map[int]float64{}, map[int]map[int]float64{}
	for _, b := range blames {
		if gone[b.Use.Code] == nil {
			gone[b.Use.Code] = map[int]float64{}
		}
		gone[b.Use.Code][b.Use.Inst] += b.Count
	}
	for code, at := range gone {
		factors[code] = c.in.exposing(code, at)
	}
	for _, b := range blames {
		c.addShare(s, b, orWhole(factors[b.Use.Code], b.Use.Inst))
	}
}

// exposing returns by which factors the samples that go at instructions of a section shrink because they hide a latency
// that stays: where a result of a MUFU or of shared memory is used behind them, the wait for it gets longer by as much as
// they get shorter.
func (in *Input) exposing(code int, gone map[int]float64) map[int]float64 {
	factors := map[int]float64{}
	if len(gone) == 0 {
		return factors
	}
	for i := range in.Module.Codes[code].Insts {
		n := blamer.Node{Code: code, Inst: i}
		if latency := in.hiddenLatency(n); latency > 0 && gone[i] == 0 && in.Block(n) != nil {
			in.expose(factors, gone, n, latency)
		}
	}
	return factors
}

// hiddenLatency is the latency of an instruction whose result may be used long after it was there, in cycles; 0 where it
// depends on the memory.
func (in *Input) hiddenLatency(n blamer.Node) float64 {
	p := in.Inst(n).Op.Properties()
	if p.Class == sass.ClassMUFU || p.Class == sass.ClassShared && p.Reads != sass.NoSpace {
		return in.Model.Latencies.Of(p.Class).Value
	}
	return 0
}

// expose enters the factors of the instructions between one that stays and the first that uses its result.
func (in *Input) expose(factors, gone map[int]float64, n blamer.Node, latency float64) {
	between, c := in.untilUse(n), in.codes[n.Code]
	cycle, goes, stays := 0.0, 0.0, 0.0 // cycle: samples of one cycle of every execution
	for _, i := range between {
		cycle += c.issued[i] / float64(len(between))
		goes += gone[i]
		stays += c.total[i] - gone[i]
	}
	lacking := latency*cycle - stays
	if lacking <= 0 || goes <= 0 {
		return
	}
	for _, i := range between {
		if gone[i] > 0 {
			factors[i] = min(1-min(1, lacking/goes), orWhole(factors, i))
		}
	}
}

// untilUse returns the instructions behind one up to the first that uses its result, in its block and the one that most
// often follows; none where neither does.
func (in *Input) untilUse(n blamer.Node) []int {
	result := withoutCounters(in.Inst(n).Defs(nil))
	used := func(i int) bool {
		uses := in.Inst(blamer.Node{Code: n.Code, Inst: i}).Uses(nil)
		return slices.ContainsFunc(uses, func(r sass.Resource) bool { return slices.Contains(result, r) })
	}
	b, c := in.Block(n), in.codes[n.Code]
	list, found := untilFirst(nil, n.Inst+1, b.Last, used)
	switch {
	case found:
		return list
	case len(b.Succs) == 0:
		return nil
	}
	next := slices.MaxFunc(b.Succs, func(x, y int) int { return cmp.Compare(c.executed(x), c.executed(y)) })
	if list, found = untilFirst(list, c.graph.Blocks[next].First, c.graph.Blocks[next].Last, used); !found {
		return nil
	}
	return list
}

// untilFirst appends the instructions of a range up to the first that passes a test, and says whether there is one.
func untilFirst(list []int, first, last int, test func(i int) bool) ([]int, bool) {
	for i := first; i <= last; i++ {
		list = append(list, i)
		if test(i) {
			return list, true
		}
	}
	return list, false
}

// orWhole returns the factor of an instruction, 1 where there is none.
func orWhole(factors map[int]float64, i int) float64 {
	if f, ok := factors[i]; ok {
		return f
	}
	return 1
}

// saved tells how many samples go with the instructions of a sequence.
func (in *Input) saved(code int, found sequence) map[int]float64 {
	gone := map[int]float64{}
	for i, share := range found {
		if share <= 0 {
			continue
		}
		gone[i] = share * in.codes[code].issued[i]
		for _, b := range in.byUse[blamer.Node{Code: code, Inst: i}] {
			if goesWithCode(b.Detail) {
				gone[i] += found.shareOf(b) * b.Count
			}
		}
	}
	return gone
}

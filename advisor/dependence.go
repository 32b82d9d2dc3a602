package advisor

import (
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// What depended on what through memory is in the record of an emulated launch. Samples of a real GPU have none, and the record is of
// a few blocks: where it does not tell, advice says what it assumes.

// An assumption is what an advice takes for granted that neither the code nor the record of the launch tells.
type assumption string

// The assumptions that advice makes.
const (
	assumedUnwritten   assumption = "nobody stores to what these loads read during the launch"
	assumedIndependent assumption = "no round of the loop reads or overwrites in memory what another one stores"
	assumedRedundant   assumption = "the barriers order nothing in code that was not looked at"
)

// recordPlace is where a node stands in a record.
func (in *Input) recordPlace(n blamer.Node) profiler.Place {
	return profiler.Place{Code: n.Code, PC: in.Inst(n).PC}
}

// nodeOf is the node that stands at a place of a record.
func nodeOf(p profiler.Place) blamer.Node {
	return blamer.Node{Code: p.Code, Inst: int(p.PC / sass.InstSize)}
}

// recorded returns what the record tells of a load, nil where it does not.
func (in *Input) recorded(load blamer.Node) *profiler.LoadRecord {
	if in.Launch.Record == nil {
		return nil
	}
	return in.Launch.Record.Load(in.recordPlace(load))
}

// written reports whether any block of the launch stores to memory that a load reads; known is false where nothing tells.
func (in *Input) written(load blamer.Node) (written, known bool) {
	r := in.recorded(load)
	if r == nil {
		return false, false
	}
	return r.Stored > 0, true
}

// ownMemory reports whether all that a load reads is also stored afterwards by the thread that reads it, and by no other, as far as the record tells: an
// array that is updated in place. What it has stored before it has to wait for, whatever the compiler knows of pointers.
func (in *Input) ownMemory(load blamer.Node) bool {
	r := in.recorded(load)
	if r == nil {
		return false
	}
	at, own := in.recordPlace(load), int64(0)
	for _, d := range in.Launch.Record.Dependences {
		switch {
		case d.Space != "global" || d.From != at && d.To != at:
		case d.Party != profiler.SameThread || d.Carried || d.Kind == profiler.FlowDependence && d.To == at:
			return false
		default:
			own += d.Bytes
		}
	}
	return own >= r.Bytes
}

// feedsBack reports whether a load reads in a round of the loop what an earlier round of it has stored, as far as the record tells.
func (in *Input) feedsBack(l *cfg.Loop, load blamer.Node) bool {
	at := in.recordPlace(load)
	return slices.ContainsFunc(in.carried(load.Code, l), func(d profiler.Dependence) bool {
		return d.Kind == profiler.FlowDependence && d.To == at
	})
}

// carried returns the recorded dependences between rounds of a loop.
func (in *Input) carried(code int, l *cfg.Loop) []profiler.Dependence {
	if in.Launch.Record == nil || l == nil {
		return nil
	}
	first := in.codes[code].graph.Blocks[l.Header].First
	return in.Launch.Record.CarriedBy(in.recordPlace(blamer.Node{Code: code, Inst: first}))
}

// ordered reports whether the rounds of a loop depend on each other, so that they have to be done one after the other; where they do
// not, assumed is what nothing tells, empty for nothing. That a round stores to shared or local memory over what earlier rounds used
// is no dependence: each part can have memory of its own; nor is what earlier rounds copy there asynchronously for later ones, nor a running value that each round stores to the same place, or a sum there, or counts.
func (in *Input) ordered(code int, l *cfg.Loop) (ordered bool, assumed assumption) {
	return in.orderedBut(code, l, false)
}

// orderedBut is the same, where rounds that a scan makes independent count as such if scans are wanted.
func (in *Input) orderedBut(code int, l *cfg.Loop, scans bool) (ordered bool, assumed assumption) {
	if _, found := in.recurrenceBut(code, l, scans); found {
		return true, ""
	}
	sums, counts := in.memorySums(code, l), in.memoryCounts(code, l)
	var f *registerFlow // made once, where something depends
	var scanned map[blamer.Node]bool
	if scans {
		scanned = in.memoryScan(code, l)
	}
	for _, d := range in.carried(code, l) {
		if scanned[nodeOf(d.To)] && d.Kind == profiler.FlowDependence {
			continue
		}
		if f == nil {
			f = in.flowOf(code, l)
		}
		if from, to := nodeOf(d.From), nodeOf(d.To); sums[from] && sums[to] || counts[from] && counts[to] {
			continue
		}
		if d.Space == "shared" && in.Inst(nodeOf(d.From)).Op.Properties().Async == sass.AsyncCopy {
			continue // what earlier rounds have fetched for later ones
		}
		if d.Space == "global" && f.setsAlike(nodeOf(d.From), nodeOf(d.To)) {
			continue
		}
		inPlace := d.Kind == profiler.OutputDependence && in.running[nodeOf(d.From)] && in.running[nodeOf(d.To)]
		if d.Kind == profiler.FlowDependence || d.Space == "global" && !inPlace {
			return true, ""
		}
	}
	if in.storesIn(code, l) && !in.observed(code, l) {
		return false, assumedIndependent
	}
	return false, ""
}

// setsAlike reports whether a dependence between rounds is of stores that set words to what no round changes, as a mark that something was visited:
// whichever round does so first, the same words have the same values in the end. A load of such a word may only decide whether that very word
// is set, and others with it, all to what no round changes.
func (f *registerFlow) setsAlike(from, to blamer.Node) bool {
	sets := func(n int) bool {
		return f.inst(n).Op == sass.STG && !slices.ContainsFunc(f.stored(n), func(value int) bool { return !f.invariant(value, map[int]bool{}) })
	}
	decides := func(load, store int) bool {
		at, is := f.inst(load).Address(), f.inst(store).Address()
		return f.inst(load).Op == sass.LDG && sets(store) && at != nil && is != nil && at.Reg == is.Reg && at.UReg == is.UReg && at.Offset == is.Offset && f.onlyDecides(load)
	}
	if sets(from.Inst) && sets(to.Inst) {
		return slices.Equal(f.stored(from.Inst), f.stored(to.Inst)) // one value
	}
	all := true
	f.in.eachInst(f.code, f.loop, func(i int) {
		if op := f.inst(i).Op; movesGlobal(op) && op != sass.LDG {
			all = all && sets(i)
		}
	})
	return all && (decides(to.Inst, from.Inst) || decides(from.Inst, to.Inst))
}

// onlyDecides reports whether what a load brings is used for nothing but comparisons of predicates by which instructions are guarded.
func (f *registerFlow) onlyDecides(load int) bool {
	only := true
	for n, edges := range f.from {
		if slices.ContainsFunc(edges, func(e flowEdge) bool { return e.node == load }) {
			only = only && n >= 0 && f.inst(n).Op.Properties().Compares != sass.ComparesNothing && f.onlyGuards(n)
		}
	}
	return only
}

// onlyGuards reports whether what a comparison finds is used as a guard alone.
func (f *registerFlow) onlyGuards(compare int) bool {
	only := true
	for n, edges := range f.from {
		for _, e := range edges {
			if e.node == compare && (n < 0 || e.resource != f.inst(n).Guard.Resource()) {
				only = false
			}
		}
	}
	return only
}

// storesIn reports whether a loop has stores, or calls of what may store.
func (in *Input) storesIn(code int, l *cfg.Loop) bool {
	found := false
	in.eachInst(code, l, func(i int) {
		found = found || in.mayStore(blamer.Node{Code: code, Inst: i})
	})
	return found
}

// mayStore reports whether an instruction stores, or calls what may store.
func (in *Input) mayStore(n blamer.Node) bool {
	x := in.Inst(n)
	return x.Op == sass.CALL || effectOf(x)&(writeGlobal|writeShared) != 0 || x.Op == sass.STL
}

// observed reports whether the record tells of a store of the loop.
func (in *Input) observed(code int, l *cfg.Loop) bool {
	if in.Launch.Record == nil {
		return false
	}
	found := false
	in.eachInst(code, l, func(i int) {
		found = found || in.Launch.Record.Store(in.recordPlace(blamer.Node{Code: code, Inst: i})) != nil
	})
	return found || in.Launch.Record.Complete
}

// assume adds what an advice takes for granted, once.
func (m *Match) assume(a assumption) {
	if a != "" && !slices.Contains(m.Assumed, string(a)) {
		m.Assumed = append(m.Assumed, string(a))
	}
}

package blamer

import (
	"gpa/cubin/sass"
)

// An outcome is one of the ways in which an access can go: the share of executions that go so, and the cycles from the issue
// to the arrival of the result.
type outcome struct {
	share, cycles float64
	miss          bool // L1 does not hold the data when the access looks it up
}

// arrivals returns how many cycles after its issue the result of a source arrives, by the published latencies of the GPU. Where
// the dependency is on the reading of operands alone, it is when these have been read.
func (a *analysis) arrivals(d dependency) []outcome {
	in := &a.code.Insts[d.def]
	if a.readBarrierOnly(d) {
		return []outcome{{share: 1, cycles: a.operandsRead(in)}}
	}
	if at := globalLoad(in); at != nil {
		return a.loadArrivals(d.def, at)
	}
	return []outcome{{share: 1, cycles: a.latency(in), miss: returnsValue(in.Op) || isCopy(in)}}
}

// operandsRead is how long a variable-latency instruction takes to read its operands, cycles.
func (a *analysis) operandsRead(in *sass.Inst) float64 {
	m := a.model
	entry := m.Queues.EntryMIO.Value
	if sourceOf(in.Op).throughL1TEX() {
		entry = m.Queues.Entry.Value
	}
	if isStore(in.Op) || in.Op.Properties().Stores(sass.SpaceShared) {
		entry += m.Latencies.StoreData.Value
	}
	return entry
}

// latency is that of a variable-latency instruction, cycles; of loads from global memory in L1.
func (a *analysis) latency(in *sass.Inst) float64 {
	if isCopy(in) {
		return a.model.Latencies.L2.Value
	}
	return a.model.Latencies.Of(in.Op.Properties().Class).Value
}

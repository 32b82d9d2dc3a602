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
	return []outcome{{share: 1, cycles: a.latency(in), miss: returnsValue(in.Op) || in.Op == sass.LDGSTS}}
}

// operandsRead is how long a variable-latency instruction takes to read its operands, cycles.
func (a *analysis) operandsRead(in *sass.Inst) float64 {
	m := a.model
	entry := m.Queues.EntryMIO.Value
	if sourceOf(in.Op).throughL1TEX() {
		entry = m.Queues.Entry.Value
	}
	if isStore(in.Op) || in.Op == sass.STS {
		entry += m.Latencies.StoreData.Value
	}
	return entry
}

// latency is that of a variable-latency instruction, cycles; of loads from global memory in L1.
func (a *analysis) latency(in *sass.Inst) float64 {
	l := &a.model.Latencies
	switch in.Op {
	case sass.LDS, sass.LDSM:
		return l.Shared.Value
	case sass.ATOMS:
		return l.Atomic.Value
	case sass.ATOM, sass.ATOMG, sass.RED, sass.REDG:
		return l.Global.Value
	case sass.LDGSTS:
		return l.L2.Value
	case sass.LDC:
		return l.Constant.Value
	case sass.SHFL:
		return l.Shuffle.Value
	case sass.FCHK:
		return l.Check.Value
	case sass.HMMA:
		return l.Half.Value
	case sass.POPC, sass.FLO, sass.BREV:
		return l.BitCount.Value
	case sass.MUFU:
		return l.MUFU.Value
	case sass.F2F, sass.F2I, sass.I2F, sass.FRND:
		return l.Convert.Value
	case sass.DADD, sass.DMUL, sass.DFMA, sass.DSETP:
		return l.FP64.Value
	}
	if sourceOf(in.Op).throughL1TEX() {
		return l.L1.Value
	}
	return l.Special.Value
}

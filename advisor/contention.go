package advisor

import (
	"gpa/blamer"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// warpsOnSM is the number of warps that an SM holds at a time.
func (in *Input) warpsOnSM() float64 {
	f := &in.Launch.Facts
	return f.WarpsPerScheduler * float64(f.SchedulersPerSM)
}

// samplesOf is how many samples so many warps give that wait so many cycles each: an SM is sampled once a period, and each of its
// warps is as likely as any other.
func (in *Input) samplesOf(warps, cycles float64) float64 {
	if in.Launch.Period <= 0 || in.warpsOnSM() <= 0 {
		return 0
	}
	return warps * cycles / (float64(in.Launch.Period) * in.warpsOnSM())
}

// queued is the number of samples in which warps wait for global memory longer than an access that is alone takes, even one that
// misses all caches: they wait for other accesses. 0 where the profile does not tell how often instructions ran.
func (in *Input) queued() float64 {
	sum := 0.0
	for _, use := range sortedKeys(in.byUse) {
		for _, b := range in.byUse[use] {
			if share := in.queuedShare(b); b.Detail == blamer.GlobalMemory && share < 1 {
				sum += share * b.Count
			}
		}
	}
	return sum + in.ByReason[stall.LgThrottle]
}

// firstUses is the number of samples in which warps wait for constants and, where the code fits the cache, for instructions that
// nobody on their SM has used before: they come once for each SM.
func (in *Input) firstUses() float64 {
	sum := in.ByReason[stall.ImcMiss]
	if in.hotBytes() <= in.instructionCache() {
		sum += in.missedFetches()
	}
	return sum
}

// busyCycles is the number of cycles in which an SM with work holds warps; 0 where the profile does not tell.
func (in *Input) busyCycles() float64 {
	return in.held() * float64(in.Launch.Facts.Cycles)
}

// saturated is the share of time from which on a unit counts as the one that the launch waits for, as in the rules of NVIDIA's
// profiler for highly used pipes.
const saturated = 0.8

// freed returns how many samples go when a unit of the SMs has some cycles less to work. A unit that is busy nearly all the time
// makes everything wait, also what is blamed on others: barriers, and the end of the block. 0 where it is not.
func (in *Input) freed(used, excess float64) float64 {
	busy := in.busyCycles() * float64(min(in.Launch.Facts.SMs, volume(in.Launch.Grid)))
	if busy <= 0 || used < saturated*busy {
		return 0
	}
	return in.Total * min(1, excess/busy)
}

// awaitsOthers reports whether a use needs, besides what a load of a kind gives, what one from global memory before it in its block
// gives that is not of that kind.
func (in *Input) awaitsOthers(b *blamer.Blame, kind func(blamer.Node) bool) bool {
	block := in.Block(b.Use)
	if block == nil {
		return false
	}
	read := map[sass.Resource]bool{}
	for _, r := range in.Inst(b.Use).Uses(nil) {
		read[r] = r < sass.ResUReg
	}
	for i := b.Use.Inst - 1; i >= block.First; i-- {
		n := blamer.Node{Code: b.Use.Code, Inst: i}
		if !writesAny(in.Inst(n), read) {
			continue
		}
		if in.Inst(n).Op == sass.LDG && !kind(n) {
			return true
		}
		for _, r := range in.Inst(n).Defs(nil) {
			delete(read, r)
		}
	}
	return false
}

// queuedShare is the share of a wait for global memory that is longer than an access that is alone takes; 1 where the profile does
// not tell.
func (in *Input) queuedShare(b *blamer.Blame) float64 {
	waited := 0.0
	for _, other := range in.byUse[b.Use] {
		if other.Detail == blamer.GlobalMemory {
			waited += other.Count
		}
	}
	alone := in.samplesOf(in.counts(b.Use).executions, in.Model.Latencies.DRAM.Value)
	if waited <= 0 || alone <= 0 {
		return 1
	}
	return max(0, 1-alone/waited)
}

// accessShare is the share of some instructions in all that access global or local memory, by executions; 0 where the profile does
// not tell.
func (in *Input) accessShare(is func(sass.Op) bool) float64 {
	some, all := 0.0, 0.0
	for _, n := range in.executedNodes(func(op sass.Op) bool {
		return effectOf(&sass.Inst{Op: op})&(loadGlobal|writeGlobal|accessLocal) != 0
	}) {
		k := in.counts(n).executions
		all += k
		if is(in.Inst(n).Op) {
			some += k
		}
	}
	if all == 0 {
		return 0
	}
	return some / all
}

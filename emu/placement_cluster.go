package emu

import (
	"cmp"
	"slices"

	"gpa/emu/arch"
)

// gpcOf returns the GPC of an SM.
func gpcOf(gpu *arch.Model, sm int) int {
	const perTPC = 2
	if n := gpu.Clusters.GPCs.Int(); n > 0 {
		return sm / perTPC % n
	}
	return 0
}

// GPCs returns how many SMs each GPC has; a GPU without clusters counts as one.
func GPCs(gpu *arch.Model) []int {
	counts := make([]int, max(1, gpu.Clusters.GPCs.Int()))
	for sm := range gpu.SMs.Int() {
		counts[gpcOf(gpu, sm)]++
	}
	return counts
}

// largestGPC returns the SMs of the GPC that has the most.
func largestGPC(gpu *arch.Model) int { return slices.Max(GPCs(gpu)) }

// fillClusters gives the SMs their first blocks, a cluster at a time, each to the GPC with the most room.
func (r *timedRun) fillClusters() {
	room := make([]int, len(r.sms))
	for i := range room {
		room[i] = r.launch.facts.Occupancy.BlocksPerSM
	}
	for r.waiting() {
		places := r.roomiest(room)
		if places == nil {
			return
		}
		r.placeCluster(places, r.model.Launching.Fixed.Cycles())
	}
}

// roomiest takes the places of a cluster, one block on each SM of a GPC before two are on one, nil where no GPC has as many.
func (r *timedRun) roomiest(room []int) (places []*sm) {
	byGPC := make(map[int]int)
	for i, n := range room {
		byGPC[gpcOf(r.model, i)] += n
	}
	gpc := 0
	for g := range r.model.SMs.Int() {
		if byGPC[g] > byGPC[gpc] {
			gpc = g
		}
	}
	blocks := r.launch.launch.clusterBlocks()
	if byGPC[gpc] < blocks {
		return nil
	}
	for len(places) < blocks {
		best := -1
		for i, n := range room {
			if gpcOf(r.model, i) == gpc && (best < 0 || n > room[best]) {
				best = i
			}
		}
		room[best]--
		places = append(places, r.sms[best])
	}
	return places
}

// placeCluster gives SMs the blocks of the next cluster, in cycle t or when the blocks before have been given out.
func (r *timedRun) placeCluster(places []*sm, t int64) {
	blocks := make([]*block, len(places))
	for i, s := range places {
		var err error
		if blocks[i], err = r.launch.blockFor(r.next, s); err != nil {
			r.failed = err
			return
		}
		r.next++
	}
	r.launch.join(blocks)
	if p := r.launch.replay; p != nil {
		if err := p.joined(blocks); err != nil {
			r.failed = err
			return
		}
	}
	for i, s := range places {
		s.place(blocks[i], r.distribute(t))
	}
}

// clusterVacancy returns the numbers of the places that the next cluster gets and from when on they are free, none where no GPC has as many.
func (r *timedRun) clusterVacancy() (places []int, at int64) {
	byGPC := make(map[int][]int)
	for i := range r.vacant {
		g := gpcOf(r.model, r.vacant[i].sm.id)
		byGPC[g] = append(byGPC[g], i)
	}
	blocks := r.launch.launch.clusterBlocks()
	for g := range r.model.SMs.Int() {
		list := byGPC[g]
		if len(list) < blocks {
			continue
		}
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(r.vacant[a].at, r.vacant[b].at) })
		if last := r.vacant[list[blocks-1]].at; places == nil || last < at {
			places, at = list[:blocks], last
		}
	}
	return places, max(at, int64(r.dispatch), r.reached)
}

// assignClusters gives the clusters that wait the places that are free before a cycle.
func (r *timedRun) assignClusters(before int64) {
	for r.waiting() {
		places, at := r.clusterVacancy()
		if places == nil || at >= before {
			return
		}
		var sms []*sm
		for _, i := range places {
			sms = append(sms, r.vacant[i].sm)
		}
		slices.Sort(places)
		for _, i := range slices.Backward(places) {
			r.vacant = slices.Delete(r.vacant, i, i+1)
		}
		r.placeCluster(sms, at)
	}
}

// releasePeers lets the warps of the other blocks of a cluster go on that the functional model no longer holds at its barrier, as of
// cycle t. Their SMs may have come to the end of the quantum already, which is no longer than the way to them.
func (s *sm) releasePeers(b *residentBlock, t int64) {
	for _, other := range b.block.group() {
		rb := other.resident
		if rb == b || rb == nil {
			continue
		}
		for i := range rb.warps {
			v := &rb.warps[i]
			if !v.held || v.warp.status == warpBarrier {
				continue
			}
			at := max(t, s.run.reached)
			v.held, v.blocked = false, at
			rb.sm.prepare(v, v.warp.next(), at)
			v.core.expect(v)
		}
	}
}

// unblockClusters is called when nothing happens any more by itself. Warps of clusters whose lanes wait for each other at a BSYNC go on; it
// reports whether some do.
func (r *timedRun) unblockClusters() (moved bool, err error) {
	for _, s := range r.sms {
		for _, v := range s.slots {
			if v == nil || !v.held || v.block.block.cluster == nil {
				continue
			}
			if err := v.block.block.unblock(); err != nil {
				return false, err
			}
			if err := s.release(v.block, r.reached); err != nil {
				return false, err
			}
			moved = moved || !v.held
		}
	}
	return moved, nil
}

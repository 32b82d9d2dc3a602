package activity

import "math/bits"

// partings are what the lanes of a warp remember of the branches at which they parted.
type partings struct {
	exists uint32
	lanes  [32][]parting // the outermost first
	seen   []bool        // by branch: the warp has executed it

	// How the lanes of the present group are counted, until another group runs or lanes part again.
	known  bool
	active uint32
	lost   []loss
	absent int
}

// A parting is a branch at which lanes of a group went different ways.
type parting struct {
	group  uint32
	branch int32
}

// A loss is a number of lanes that are inactive because of a branch.
type loss struct {
	branch int32
	lanes  int32
}

// reset makes the state that of a new warp.
func (p *partings) reset(branches, threads int) {
	p.exists = ^uint32(0)
	if threads < 32 {
		p.exists = 1<<threads - 1
	}
	for l := range p.lanes {
		p.lanes[l] = p.lanes[l][:0]
	}
	if p.seen == nil {
		p.seen = make([]bool, branches)
	}
	clear(p.seen)
	p.known = false
}

// first reports whether the warp executes a branch for the first time.
func (p *partings) first(branch int32) bool {
	first := !p.seen[branch]
	p.seen[branch] = true
	return first
}

// look finds out why the lanes other than the active ones are inactive.
func (p *partings) look(active uint32) {
	if p.known && p.active == active {
		return
	}
	p.known, p.active, p.lost, p.absent = true, active, p.lost[:0], bits.OnesCount32(^p.exists)
	for m := p.exists &^ active; m != 0; m &= m - 1 {
		p.lose(p.reason(bits.TrailingZeros32(m), active))
	}
}

// reason returns the branch that parted a lane from the active ones, -1 for none.
func (p *partings) reason(lane int, active uint32) int32 {
	list := p.lanes[lane]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].group&active != 0 {
			return list[i].branch
		}
	}
	return -1
}

// lose counts an inactive lane.
func (p *partings) lose(branch int32) {
	if branch < 0 {
		p.absent++
		return
	}
	for i := range p.lost {
		if p.lost[i].branch == branch {
			p.lost[i].lanes++
			return
		}
	}
	p.lost = append(p.lost, loss{branch, 1})
}

// part makes the lanes of a group remember that they part. Where they do so at none of the branches that are told apart
// (-1), as when a function returns to several places, there is nothing to remember: what brought them there still counts.
func (p *partings) part(group uint32, branch int32) {
	p.known = false
	for m := group; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		kept := p.lanes[lane][:0]
		for _, x := range p.lanes[lane] {
			if x.group&group == group && x.group != group {
				kept = append(kept, x)
			}
		}
		if branch >= 0 {
			kept = append(kept, parting{group, branch})
		}
		p.lanes[lane] = kept
	}
}

package rewrite

import (
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A Placement is what [Reconverge] would make of a function.
type Placement struct {
	Joins []int // ids of the blocks before which lanes would wait, in the order of the new code
	// Extra is how many instructions more the way from one block to another would take; from a block to itself, how many more
	// the block would, less where barriers and branches go that it has now.
	Extra map[cfg.Edge]int
}

// Place returns where Reconverge would place the convergence barriers of a function of a section; nil for a function that it
// would leave as it is. The error says why it cannot change the function.
func Place(file *cubin.File, g *cfg.Graph, f *cfg.Func) (*Placement, error) {
	e := &editor{maker: maker{file.Arch}, file: file, graph: g}
	b, change := e.reconverge(f)
	switch {
	case change == nil:
		return nil, nil
	case change.Err != nil:
		return nil, change.Err
	}
	p := &Placement{Extra: make(map[cfg.Edge]int)}
	order := b.order()
	blocks := b.blocks(g)
	for at, id := range order {
		n := b.length(id, order[at+1:])
		if blocks[id] >= 0 {
			old := g.Blocks[blocks[id]]
			p.Extra[cfg.Edge{From: old.ID, To: old.ID}] += n - (old.Last - old.First + 1)
			continue
		}
		to := b.next(id, blocks)
		if b.pieces[id].waits() {
			p.Joins = append(p.Joins, to)
			p.Extra[cfg.Edge{From: to, To: to}] += n
			continue
		}
		for _, from := range order {
			if blocks[from] >= 0 && b.leads(from, id) {
				p.Extra[cfg.Edge{From: blocks[from], To: to}] += n
			}
		}
	}
	return p, nil
}

// blocks returns for each piece the block that it stands for, -1 for an added one.
func (b *body) blocks(g *cfg.Graph) []int {
	list := make([]int, len(b.pieces))
	for i := range b.pieces {
		p := &b.pieces[i]
		list[i] = -1
		items := p.items
		if p.branch != nil {
			items = append(items[:len(items):len(items)], *p.branch)
		}
		for _, it := range items {
			if it.old >= 0 {
				list[i] = g.Block(it.old).ID
				break
			}
		}
	}
	return list
}

// length returns the instructions of a piece in the new code, with the branch to what does not follow it.
func (b *body) length(id int, rest []int) int {
	p := &b.pieces[id]
	n := len(p.items)
	if p.branch != nil {
		n++
	}
	if p.fall >= 0 && (len(rest) == 0 || rest[0] != p.fall) {
		n++
	}
	return n
}

// next returns the block that an added piece leads to.
func (b *body) next(id int, blocks []int) int {
	for range b.pieces {
		if blocks[id] >= 0 || b.pieces[id].fall < 0 {
			break
		}
		id = b.pieces[id].fall
	}
	return blocks[id]
}

// leads reports whether control may come from a piece to an added one through added ones.
func (b *body) leads(from, to int) bool {
	for _, s := range b.pieces[from].succs() {
		if s == to {
			return true
		}
	}
	return false
}

// waits reports whether lanes wait for each other at a piece.
func (p *piece) waits() bool {
	for i := range p.items {
		if p.items[i].old < 0 && p.items[i].inst.Op == sass.BSYNC {
			return true
		}
	}
	return false
}

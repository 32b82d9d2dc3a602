package advisor

import (
	"slices"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// A factor is a value of a product: a register, which part of it is read, and the instruction that made it last.
type factor struct {
	def  int
	reg  uint8
	part uint8
}

// factors are the values from memory that multiply-adds of a loop multiply, each with its partners.
type factors struct {
	in       *Input
	code     int
	loop     *cfg.Loop
	order    []factor // as they come up
	partners map[factor][]factor
	adds     map[factor][]int // multiply-adds that the factor is in
	loads    map[factor][]int // that it comes from
}

// scan enters the multiply-adds of a block and returns how many there are.
func (f *factors) scan(b *cfg.Block, op sass.Op) int {
	last, all := map[sass.Resource]int{}, 0
	insts := f.in.Module.Codes[f.code].Insts
	for i := b.First; i <= b.Last; i++ {
		if insts[i].Op == op {
			all++
			f.multiply(b, i, last)
		}
		for _, r := range insts[i].Defs(nil) {
			last[r] = i
		}
	}
	return all
}

// multiply enters a multiply-add whose factors come from memory and whose sum a multiply-add began.
func (f *factors) multiply(b *cfg.Block, i int, last map[sass.Resource]int) {
	inst := f.in.Inst(blamer.Node{Code: f.code, Inst: i})
	var sources []*sass.Operand
	for k := range inst.Operands {
		if o := &inst.Operands[k]; o.Kind == sass.KindReg && o.Source && o.Reg != sass.RZ {
			sources = append(sources, o)
		}
	}
	if len(sources) != 3 {
		return
	}
	sum := f.defs(b, sass.Resource(sources[2].Reg), last)
	if len(sum) == 0 || !slices.ContainsFunc(sum, func(def int) bool { return f.op(def) == inst.Op }) {
		return
	}
	x, fromX := f.factor(b, sources[0], last)
	y, fromY := f.factor(b, sources[1], last)
	if len(fromX) == 0 || len(fromY) == 0 || x == y {
		return
	}
	f.join(x, y, i, fromX)
	f.join(y, x, i, fromY)
}

func (f *factors) op(i int) sass.Op { return f.in.Inst(blamer.Node{Code: f.code, Inst: i}).Op }

// join enters a partner of a factor.
func (f *factors) join(x, y factor, add int, loads []int) {
	if _, ok := f.partners[x]; !ok {
		f.order = append(f.order, x)
		f.loads[x] = loads
	}
	if !slices.Contains(f.partners[x], y) {
		f.partners[x] = append(f.partners[x], y)
	}
	f.adds[x] = append(f.adds[x], add)
}

// factor is what an operand reads, with the loads that it comes from: itself, or what moves or converts it. No loads where it is
// computed, or comes from outside of the loop.
func (f *factors) factor(b *cfg.Block, o *sass.Operand, last map[sass.Resource]int) (factor, []int) {
	defs := f.defs(b, sass.Resource(o.Reg), last)
	if len(defs) == 0 {
		return factor{}, nil
	}
	var loads []int
	for _, def := range defs {
		switch op := f.op(def); {
		case isFragmentLoad(op):
			loads = append(loads, def)
		case op == sass.PRMT, op == sass.MOV:
			loads = append(loads, f.loadsOf(def)...)
		case op == sass.HADD2: // of halves to single precision
			loads = append(loads, f.loadsOf(def)...)
		default:
			return factor{}, nil
		}
	}
	return factor{defs[0], o.Reg, o.Swz}, loads
}

// loadsOf lists the loads of what an instruction that moves or converts reads.
func (f *factors) loadsOf(i int) []int {
	var loads []int
	for _, r := range f.in.Inst(blamer.Node{Code: f.code, Inst: i}).Uses(nil) {
		if r < sass.ResUReg {
			for _, def := range f.in.defsWithin(f.loop, f.code, i, r) {
				if isFragmentLoad(f.op(def)) {
					loads = append(loads, def)
				}
			}
		}
	}
	return loads
}

func isFragmentLoad(op sass.Op) bool {
	p := op.Properties()
	return p.Loads(sass.SpaceShared|sass.SpaceGlobal|sass.SpaceGeneric) && !p.Crosses
}

// defs lists the instructions of the loop that an instruction of a block may have a register from.
func (f *factors) defs(b *cfg.Block, r sass.Resource, last map[sass.Resource]int) []int {
	if def, ok := last[r]; ok {
		return []int{def}
	}
	return f.in.defsWithin(f.loop, f.code, b.First, r)
}

// outer adds up the groups of factors in which each of one side meets each of the other.
func (f *factors) outer() *product {
	p, seen := &product{}, map[factor]bool{}
	for _, x := range f.order {
		if seen[x] {
			continue
		}
		group, left, ok := f.group(x, seen)
		right := len(group) - left
		if !ok || left < 2 || right < 2 {
			continue
		}
		edges := 0
		for _, y := range group {
			edges += len(f.partners[y])
		}
		if edges != 2*left*right {
			continue
		}
		for _, y := range group {
			p.adds = append(p.adds, f.adds[y]...)
			p.loads = append(p.loads, f.loads[y]...)
		}
		p.tile = max(p.tile, float64(left*right))
	}
	slices.Sort(p.adds)
	slices.Sort(p.loads)
	p.adds, p.loads = slices.Compact(p.adds), slices.Compact(p.loads)
	return p
}

// group lists the factors that are linked by products, with how many are on the side of the first. ok is false where a factor is on
// both sides.
func (f *factors) group(first factor, seen map[factor]bool) (group []factor, left int, ok bool) {
	side := map[factor]bool{first: true}
	group, ok = []factor{first}, true
	for i := 0; i < len(group); i++ {
		x := group[i]
		seen[x] = true
		if side[x] {
			left++
		}
		for _, y := range f.partners[x] {
			if at, met := side[y]; !met {
				side[y] = !side[x]
				group = append(group, y)
			} else if at == side[x] {
				ok = false
			}
		}
	}
	return group, left, ok
}

package advisor

import (
	"fmt"
	"maps"
	"slices"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// Divisions of 64-bit integers. NVIDIA's compiler looks whether the high halves of both operands are zero: it divides 32-bit integers then, and calls
// a function otherwise. The // and % of Numba's kernels are Python's: before, they look for a divisor of 0 and for a quotient that overflows
// (-2^63 // -1); after, they correct quotient and remainder where the signs of the remainder and of the divisor differ. All of that is as long as the division.

// A longDivision collects what the 64-bit divisions of a section take beside the division of 32-bit integers.
type longDivision struct {
	in    *Input
	code  int
	insts []sass.Inst
	graph *cfg.Graph
	users map[int][]int // of the integer arithmetic on lines of divisions
	found sequence
	// signed says whether some of them correct by signs, as only Python's do.
	signed bool
}

// farCorrection is how many blocks behind a division its correction begins at most: those that end where lanes meet.
const farCorrection = 3

// longDivisions finds the 64-bit divisions of each section.
func (in *Input) longDivisions() []*longDivision {
	list := make([]*longDivision, len(in.codes))
	for code := range list {
		list[code] = in.longDivisionsOf(code)
	}
	return list
}

// signedNodes lists what is marked where divisions correct by signs.
func signedNodes(divisions []*longDivision) (list []blamer.Node) {
	for _, d := range divisions {
		if d.signed {
			list = append(list, d.nodes()...)
		}
	}
	return list
}

// longDivisionsOf finds the 64-bit divisions of a section by the calls of the functions for them.
func (in *Input) longDivisionsOf(code int) *longDivision {
	d := &longDivision{in: in, code: code, insts: in.Module.Codes[code].Insts, found: sequence{}}
	if in.codes[code] == nil || in.codes[code].executions == nil {
		return d
	}
	d.graph = in.codes[code].graph
	var calls []blamer.Node
	lines := make(map[cubin.Frame]bool)
	for _, f := range d.graph.Funcs {
		for _, call := range f.Calls {
			n := blamer.Node{Code: code, Inst: call.Inst}
			divides := func(callee int) bool { return isIntegerDivision(d.graph.Funcs[callee].Function.Name) }
			if slices.ContainsFunc(call.Callees, divides) && !in.inInternal(n) {
				calls = append(calls, n)
				lines[in.frame(n)] = true
			}
		}
	}
	if len(calls) == 0 {
		return d
	}
	d.users = in.usersOf(code, func(i int) bool {
		op := d.insts[i].Op
		return lines[d.frame(i)] && (isInteger(op) || op.Properties().Class == sass.ClassPredicate)
	})
	for _, call := range calls {
		d.follow(call)
	}
	return d
}

// nodes lists what is marked.
func (d *longDivision) nodes() (list []blamer.Node) {
	for _, i := range slices.Sorted(maps.Keys(d.found)) {
		list = append(list, blamer.Node{Code: d.code, Inst: i})
	}
	return list
}

// signedDivision says what to do about divisions that correct by signs, of which it has the marked instructions.
func (in *Input) signedDivision(marked []blamer.Node) string {
	return fmt.Sprintf("// and %% of signed numbers are Python's at %s: in 64 bits, they look for a divisor of 0 and of -1 before, and for the signs after, which is as long as the division. Of two unsigned numbers they are not: numba.uint32(i) // numba.uint32(n), both.",
		in.places(in.bySamples(marked), 3))
}

func (d *longDivision) frame(i int) cubin.Frame {
	return d.in.frame(blamer.Node{Code: d.code, Inst: i})
}

// follow marks what a division takes beside the sequence for 32 bits that is the other way at the branch to a call.
func (d *longDivision) follow(call blamer.Node) {
	slow, line := d.in.Block(call), d.in.frame(call)
	if len(slow.Preds) != 1 {
		return
	}
	head := d.graph.Blocks[slow.Preds[0]]
	if !d.decides(head) || len(head.Succs) != 2 {
		return
	}
	fast := head.Succs[0]
	if fast == slow.ID {
		fast = head.Succs[1]
	}
	d.test(head, line)
	for b := head; len(b.Preds) == 1; {
		b = d.graph.Blocks[b.Preds[0]]
		if !d.decides(b) || d.frame(b.Last) != line || !d.equal(b.Last) || d.found[b.Last] > 0 { // code that nobody reaches may be a circle
			break
		}
		d.test(b, line)
	}
	for b, met := d.graph.Blocks[fast], 0; len(b.Succs) == 1 && met < farCorrection; met++ {
		if b = d.graph.Blocks[b.Succs[0]]; d.frame(b.First) != line {
			break
		}
		d.correction(b, line)
	}
}

// decides reports whether a block ends with a branch that some lanes may not take.
func (d *longDivision) decides(b *cfg.Block) bool {
	return d.insts[b.Last].Op == sass.BRA && !d.insts[b.Last].Guard.Always()
}

// equal reports whether what decides a branch asks for equality alone, as the tests before a division do.
func (d *longDivision) equal(branch int) bool {
	all, asked := true, false
	for _, i := range d.decision(branch) {
		if x := &d.insts[i]; x.Op.Properties().Compares != sass.ComparesNothing {
			c := x.Mod(sass.Compare)
			asked = true
			all = all && (c == sass.CompareNE || c == sass.CompareEQ)
		}
	}
	return all && asked
}

// decision lists the comparisons and combinations of their results that a branch depends on.
func (d *longDivision) decision(branch int) (list []int) {
	queue, seen := []int{branch}, make(map[int]bool)
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, r := range d.insts[i].Uses(nil) {
			if !isValue(r) {
				continue
			}
			for _, def := range d.in.defsWithin(nil, d.code, i, r) {
				if p := d.insts[def].Op.Properties(); !seen[def] && (p.Compares != sass.ComparesNothing || p.Class == sass.ClassPredicate || isBitwise(&d.insts[def], orTable)) {
					seen[def] = true
					list, queue = append(list, def), append(queue, def)
				}
			}
		}
	}
	return list
}

// test marks a branch before a division, what finds out whether it is taken and nothing else, and the barrier at which lanes meet again.
func (d *longDivision) test(b *cfg.Block, line cubin.Frame) {
	d.found[b.Last] = 1
	d.alone(b.Last)
	for i := b.First; i <= b.Last; i++ {
		if d.insts[i].Op != sass.BSSY || d.frame(i) != line {
			continue
		}
		d.found[i] = 1
		for j := i + 1; j < len(d.insts); j++ {
			if x := &d.insts[j]; x.Op == sass.BSYNC && x.ConvBar().Reg == d.insts[i].ConvBar().Reg {
				d.found[j] = 1
				break
			}
		}
	}
}

// alone marks the comparisons and combinations on which an instruction depends that nothing else reads.
func (d *longDivision) alone(i int) {
	for _, def := range d.decision(i) { // those nearest first
		users, ours := d.users[def], true
		for _, u := range users {
			ours = ours && d.found[u] > 0
		}
		if ours && len(users) > 0 {
			d.found[def] = 1
		}
	}
}

// correction marks what adds 0 or another number to a quotient or a remainder by the signs of the remainder and the divisor: everything that depends on
// these, up to the additions.
func (d *longDivision) correction(join *cfg.Block, line cubin.Frame) {
	for i := join.First; i <= join.Last; i++ {
		if _, is := d.users[i]; !is || d.frame(i) != line || !isBitwise(&d.insts[i], xorTable) {
			continue
		}
		marked := []int{i}
		ok := true
		for k := 0; k < len(marked) && ok; k++ {
			if k > 0 && addsOnly(&d.insts[marked[k]]) {
				continue
			}
			for _, u := range d.users[marked[k]] {
				ok = ok && d.frame(u) == line && isInteger(d.insts[u].Op)
				if !slices.Contains(marked, u) {
					marked = append(marked, u)
				}
			}
		}
		if !ok || len(marked) == 1 {
			continue
		}
		d.signed = true
		for _, k := range marked {
			d.found[k] = 1
		}
		for _, k := range marked {
			if d.insts[k].Op.Properties().Compares != sass.ComparesNothing {
				d.alone(k)
			}
		}
	}
}

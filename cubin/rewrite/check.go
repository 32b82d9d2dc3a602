// Package rewrite changes machine code: it restructures control flow, places convergence barriers and reorders
// instructions, and it checks that the control codes of the result are valid for hardware. Begin with [Check].
package rewrite

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// A Hazard is the way in which an instruction depends on an earlier one.
type Hazard uint8

// The hazards.
const (
	ReadAfterWrite Hazard = iota
	WriteAfterWrite
	WriteAfterRead
	CounterTooSoon // waits for a dependence counter before it has been taken
)

// String returns the common abbreviation.
func (h Hazard) String() string {
	return [...]string{"RAW", "WAW", "WAR", "wait"}[h]
}

// A Finding is a dependence that the control codes do not cover on some path.
type Finding struct {
	Code     *cubin.Code
	Producer uint64 // pc
	Consumer uint64 // pc
	Resource sass.Resource
	Hazard   Hazard
	// Distance is the least number of cycles between the two, Needed the number that it takes; both are 0 where a
	// dependence counter should cover the dependence.
	Distance, Needed int
}

// String says what is wrong in one line.
func (f Finding) String() string {
	why := "no dependence counter is waited for"
	if f.Needed > 0 {
		why = fmt.Sprintf("%d cycles, needs %d", f.Distance, f.Needed)
	}
	return fmt.Sprintf("%s: 0x%04x -> 0x%04x: %s %s: %s", f.Code.Name, f.Producer, f.Consumer, f.Hazard, resourceName(f.Resource), why)
}

// resourceName returns the name that machine code has for a resource.
func resourceName(r sass.Resource) string {
	files := []struct {
		first sass.Resource
		name  string
	}{{sass.ResConvBar, "B"}, {sass.ResSB, "SB"}, {sass.ResUPred, "UP"}, {sass.ResPred, "P"}, {sass.ResUReg, "UR"}, {sass.ResReg, "R"}}
	for _, f := range files {
		if r >= f.first {
			return fmt.Sprint(f.name, r-f.first)
		}
	}
	return ""
}

// Check looks on all paths through a file's code, calls and returns included, for dependences that the control codes do
// not cover: registers, predicates, uniform registers and convergence barriers that are read too early after they were
// written, written while an earlier write or read may be outstanding. Instructions of fixed latency are covered by stall
// counts, the others by a dependence counter that is taken and waited for. Hardware checks nothing of this itself; code
// with a finding computes garbage on it, though an emulator may run it.
//
// Paths end where code leaves the file. Findings come by address. The error says that the file has instructions that did
// not decode, or that the latencies of its architecture are not known.
func Check(file *cubin.File) ([]Finding, error) {
	p, err := newProgram(file)
	if err != nil {
		return nil, err
	}
	table, err := latencies(file.Arch)
	if err != nil {
		return nil, err
	}
	c := newChecker(p, table)
	for i := range p.insts {
		c.producer(i)
	}
	slices.SortFunc(c.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Code.Index, b.Code.Index), cmp.Compare(a.Consumer, b.Consumer),
			cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Hazard, b.Hazard))
	})
	return c.found, nil
}

// A checker follows the paths from one producer after the other.
type checker struct {
	*program
	table      *latencyTable
	uses, defs [][]sass.Resource // by node, dependence counters left out
	least      []int             // by node: cycles from the producer on the shortest path that was followed
	mark       []int             // by node: number of the walk that least is of
	walk       int
	found      []Finding
}

func newChecker(p *program, table *latencyTable) *checker {
	n := len(p.insts)
	c := &checker{program: p, table: table, least: make([]int, n), mark: make([]int, n), uses: make([][]sass.Resource, n), defs: make([][]sass.Resource, n)}
	for i, in := range p.insts {
		c.uses[i] = withoutCounters(in.Uses(nil))
		c.defs[i] = withoutCounters(in.Defs(nil))
	}
	return c
}

// withoutCounters drops dependence counters and repetitions.
func withoutCounters(list []sass.Resource) []sass.Resource {
	list = slices.DeleteFunc(list, func(r sass.Resource) bool { return r >= sass.ResSB && r < sass.ResConvBar })
	slices.Sort(list)
	return slices.Compact(list)
}

func (c *checker) producer(i int) {
	in := c.insts[i]
	if in.Guard.Never() {
		return
	}
	if in.Control.WriteBarrier >= 0 || in.Control.ReadBarrier >= 0 {
		c.checkCounter(i)
	}
	if in.Op.Properties().Async == sass.AsyncMatrix {
		c.checkGroup(i)
	} else if in.Variable() {
		c.checkVariable(i)
	} else if len(c.defs[i]) > 0 {
		c.checkFixed(i)
	}
}

// cycles is how long a warp waits after an instruction, at least.
func cycles(in *sass.Inst) int { return max(int(in.Control.Stall), 1) }

// follow walks the paths from node i on. visit is told the least number of cycles from i and says whether to go on.
func (c *checker) follow(i int, visit func(node, distance int) bool) {
	c.walk++
	var queue []int
	push := func(from, distance int) {
		for _, to := range c.succs[from] {
			if c.mark[to] != c.walk || distance < c.least[to] {
				c.mark[to], c.least[to] = c.walk, distance
				queue = append(queue, to)
			}
		}
	}
	push(i, cycles(c.insts[i]))
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		if distance := c.least[node]; visit(node, distance) {
			push(node, distance+cycles(c.insts[node]))
		}
	}
}

// checkFixed finds readers and writers that come too early after an instruction of fixed latency.
func (c *checker) checkFixed(i int) {
	p, most := c.insts[i], c.table.most()
	c.follow(i, func(node, distance int) bool {
		q := c.insts[node]
		for _, r := range c.defs[i] {
			if slices.Contains(c.uses[node], r) {
				c.need(i, node, r, ReadAfterWrite, distance, c.table.between(p, q, r))
			}
			if r < sass.ResUReg && !q.Variable() && slices.Contains(c.defs[node], r) {
				c.need(i, node, r, WriteAfterWrite, distance, c.table.overwrite(p, q, r))
			}
		}
		return distance+cycles(q) < most
	})
}

// checkCounter finds waits that come before the counter that an instruction takes has counted.
func (c *checker) checkCounter(i int) {
	w := counters(c.insts[i])
	c.follow(i, func(node, distance int) bool {
		if distance >= c.table.counter {
			return false
		}
		if both := w & waits(c.insts[node]); both != 0 {
			for n := sass.Resource(0); n < 6; n++ {
				if both>>n&1 != 0 {
					c.need(i, node, sass.ResSB+n, CounterTooSoon, distance, c.table.counter)
				}
			}
		}
		return true
	})
}

// counters returns the dependence counters that an instruction takes.
func counters(in *sass.Inst) uint8 {
	return mask(in.Control.WriteBarrier) | mask(in.Control.ReadBarrier)
}

// mask returns the wait mask of a dependence counter, 0 for none.
func mask(counter int8) uint8 {
	if counter < 0 {
		return 0
	}
	return 1 << counter
}

// waits returns the dependence counters that are zero when an instruction issues.
func waits(in *sass.Inst) uint8 { return in.Control.WaitMask }

// checkVariable finds instructions that touch the registers of one of variable latency before they are free.
func (c *checker) checkVariable(i int) {
	in := c.insts[i]
	if written := mask(in.Control.WriteBarrier); len(c.defs[i]) > 0 {
		never := func(*sass.Inst) bool { return false }
		c.followCounters(i, written, finishesAfter, never, func(node int) bool { return c.touchesResult(i, node) })
	}
	read := mask(in.Control.ReadBarrier) | mask(in.Control.WriteBarrier) // with the result, the operands have been read
	if operands := lateOperands(in, c.uses[i]); len(operands) > 0 {
		done := func(q *sass.Inst) bool { return drains(in, q) }
		c.followCounters(i, read, readsAfter, done, func(node int) bool { return c.touchesOperands(i, node, operands) })
	}
}

// mostGroups is how many groups of products of a warpgroup are told apart: the count of WARPGROUP.DEPBAR has three bits.
const mostGroups = 8

// checkGroup finds instructions that touch the registers of a product of a warpgroup before a WARPGROUP.DEPBAR has waited for its group
// (PTX ISA, wgmma.mma_async: reading or writing the accumulator, or writing A, before is undefined). Products follow each other in order.
func (c *checker) checkGroup(i int) {
	type state struct{ node, closed int }
	seen := make(map[state]bool)
	var work []state
	push := func(at state) {
		if in := c.insts[at.node]; in.ClosesGroup() {
			at.closed = min(at.closed+1, mostGroups)
		}
		for _, to := range c.succs[at.node] {
			if next := (state{to, at.closed}); !seen[next] {
				seen[next] = true
				work = append(work, next)
			}
		}
	}
	operands := lateOperands(c.insts[i], c.uses[i])
	push(state{i, 0})
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		q := c.insts[at.node]
		outstanding, waits := q.AwaitsGroups()
		if waits && at.closed > outstanding {
			continue
		}
		if q.Op.Properties().Async == sass.AsyncMatrix || !c.touchesResult(i, at.node) && !c.touchesOperands(i, at.node, operands) {
			push(at)
		}
	}
}

// lateOperands returns what an instruction of variable latency reads after it was issued: not its guard, which decides at
// issue, nor uniform registers, which the dispatcher reads.
func lateOperands(in *sass.Inst, uses []sass.Resource) (list []sass.Resource) {
	for _, r := range uses {
		if r < sass.ResUReg {
			list = append(list, r)
		}
	}
	return list
}

// tells is, by dependence counter, how many instructions there are on the path, on that counter, with whose end it is known that another has
// ended.
type tells [6]uint8

// count adds an instruction that takes the counters of a mask.
func (t *tells) count(mask uint8) {
	for n := range t {
		if mask>>n&1 != 0 && t[n] < math.MaxUint8 {
			t[n]++
		}
	}
}

// known reports whether an instruction that waits for counters has waited long enough: for all that a counter stands for, or, as DEPBAR.LE
// does, for all but the last few.
func (t *tells) known(q *sass.Inst) bool {
	counter, outstanding, others := q.AwaitsCounter()
	if counter >= 0 && int(t[counter]) > outstanding {
		return true
	}
	for n := range t {
		if t[n] > 0 && (waits(q)|others)>>n&1 != 0 {
			return true
		}
	}
	return false
}

// within reports whether t tells nothing that more does not tell.
func (t *tells) within(more *tells) bool {
	for n := range t {
		if t[n] > more[n] {
			return false
		}
	}
	return true
}

// followCounters walks the paths from node i on until one of the counters is waited for that tell that it has finished.
// These are the ones it takes itself, and those of later instructions that finish in order with it. through says what else
// tells so, visit whether to stop.
func (c *checker) followCounters(i int, own uint8, ordered func(p, q *sass.Inst) uint8, through func(q *sass.Inst) bool, visit func(node int) bool) {
	type state struct {
		node int
		tells
	}
	seen := make(map[int][]tells)
	var work []state
	push := func(from int, t tells) {
		for _, to := range c.succs[from] {
			if slices.ContainsFunc(seen[to], func(old tells) bool { return old.within(&t) }) {
				continue
			}
			seen[to] = append(seen[to], t)
			work = append(work, state{to, t})
		}
	}
	var start tells
	start.count(own)
	push(i, start)
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		q := c.insts[at.node]
		if !at.known(q) && !through(q) && !visit(at.node) {
			at.count(ordered(c.insts[i], q))
			push(at.node, at.tells)
		}
	}
}

// finishesAfter returns the counters of q that tell that p, issued before it, has written its results.
func finishesAfter(p, q *sass.Inst) uint8 {
	if !inOrder(p, q) {
		return 0
	}
	return mask(q.Control.WriteBarrier)
}

// inOrder reports whether q, of variable latency, writes its results after p, issued before it: those of one unit do.
func inOrder(p, q *sass.Inst) bool {
	return p.Form.Pipe == q.Form.Pipe && q.Variable() && (p.Form.Pipe != sass.PipeLSU || ordered(p) && ordered(q))
}

// ordered reports whether an instruction of the LSU has a result that comes in the order of issue: shared memory,
// shuffles, transpositions. Caches answer out of order.
func ordered(in *sass.Inst) bool {
	p := in.Op.Properties()
	return p.Class == sass.ClassShared && p.Reads != sass.NoSpace || p.Class == sass.ClassShuffle || in.Op == sass.MOVM
}

// drains reports whether q, a block barrier, lets the warp go on only when p has read its operands: an access to memory is done
// then, for other threads of the block to see, and shuffles go through the same queue.
func drains(p, q *sass.Inst) bool {
	return q.Op == sass.BAR && q.Guard.Always() && p.Form.Pipe == sass.PipeLSU
}

// readsAfter returns the counters of q that tell that p, issued before it, has read its operands: units do that in the
// order of issue.
func readsAfter(p, q *sass.Inst) uint8 {
	if p.Form.Pipe != q.Form.Pipe || !q.Variable() {
		return 0
	}
	return counters(q)
}

// touchesResult reports a node that reads or writes what instruction i has not written yet.
func (c *checker) touchesResult(i, node int) bool {
	p, q := c.insts[i], c.insts[node]
	if p.Form.Pipe == q.Form.Pipe && p.Form.Pipe == sass.PipeCBU || exclusive(p, q) {
		return false // in order
	}
	for _, r := range c.defs[i] {
		switch {
		case slices.Contains(c.uses[node], r):
			return c.report(i, node, r, ReadAfterWrite)
		case slices.Contains(c.defs[node], r) && !inOrder(p, q):
			return c.report(i, node, r, WriteAfterWrite)
		}
	}
	return false
}

// touchesOperands reports a node that overwrites what instruction i has not read yet. An instruction of the same unit
// reads its own operands later, and writes later still. One under the opposite guard writes them for other lanes.
func (c *checker) touchesOperands(i, node int, operands []sass.Resource) bool {
	p, q := c.insts[i], c.insts[node]
	if p.Form.Pipe == q.Form.Pipe && q.Variable() || exclusive(p, q) {
		return false
	}
	for _, r := range operands {
		if slices.Contains(c.defs[node], r) {
			return c.report(i, node, r, WriteAfterRead)
		}
	}
	return false
}

// exclusive reports whether two instructions have guards that are never true together while the predicate stays.
func exclusive(p, q *sass.Inst) bool {
	return p.Guard.Reg == q.Guard.Reg && p.Guard.Uniform == q.Guard.Uniform && p.Guard.Neg != q.Guard.Neg
}

// need reports a dependence with too few cycles.
func (c *checker) need(i, node int, r sass.Resource, hazard Hazard, distance, needed int) {
	if distance < needed {
		c.report(i, node, r, hazard)
		f := &c.found[len(c.found)-1]
		f.Distance, f.Needed = distance, needed
	}
}

// report keeps a finding and returns true.
func (c *checker) report(i, node int, r sass.Resource, hazard Hazard) bool {
	c.found = append(c.found, Finding{Code: c.file.Codes[c.code[i]], Producer: c.insts[i].PC, Consumer: c.insts[node].PC, Resource: r, Hazard: hazard})
	return true
}

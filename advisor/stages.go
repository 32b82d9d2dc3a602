package advisor

import (
	"fmt"
	"slices"
	"strings"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// The copy engine (TMA) fills stages of shared memory, each of which has a transaction barrier that tells when its data are there. How many copies are
// under way at a time is how many stages there are: one fewer than that is ahead of the work.

// isStageCopy reports whether an instruction has the copy engine load into shared memory.
func isStageCopy(op sass.Op) bool {
	p := op.Properties()
	return p.Async == sass.AsyncBulk && p.Reads&sass.SpaceGlobal != 0 && p.Writes&sass.SpaceShared != 0
}

// stageBytes is how many bytes a block copies in a round, by how often one line of the source, with the calls that lead to it, tells a barrier of bytes to
// come: compilers unroll the loop of it. It is 0 where that is not known.
func (in *Input) stageBytes() int {
	copied, told, rounds := 0.0, make(map[string]float64), 0.0
	for _, n := range in.executedNodes(func(op sass.Op) bool { return isStageCopy(op) || op.Properties().Sync == sass.SyncTransfer }) {
		switch inst, k := in.Inst(n), in.counts(n); {
		case isStageCopy(inst.Op):
			copied += k.sectors * in.Model.L1.Sector.Value
		case announces(inst):
			at := fmt.Sprint(in.Module.Codes[n.Code].Frames(inst.PC))
			told[at] += k.threads
			rounds = max(rounds, told[at])
		}
	}
	if rounds == 0 {
		return 0
	}
	return int(copied / rounds)
}

// announces reports whether an instruction tells a transaction barrier of bytes to come (mbarrier.arrive.expect_tx, mbarrier.expect_tx).
func announces(inst *sass.Inst) bool {
	kind := inst.Mod(sass.SyncsOp)
	return strings.HasPrefix(inst.Form.Suffix, ".ARRIVE") && (kind == sass.SyncsA1TR || kind == sass.SyncsA0TR)
}

// furtherStages matches waits for data from the copy engine: with further stages their copies begin rounds before.
func (in *Input) furtherStages() (matches []*Match) {
	bytes := in.stageBytes()
	if bytes == 0 {
		return nil
	}
	copies := in.executedNodes(isStageCopy)
	for _, further := range []int{1, 3} {
		shared := in.shared() + further*bytes
		if shared > in.Model.Limits.SharedBlock.Int() {
			break
		}
		c := newCollector(in)
		for i := range in.Blame.Blames {
			if b := &in.Blame.Blames[i]; b.Detail == blamer.GlobalMemory && slices.Contains(copies, b.Def) {
				c.add(in.kernelScope(), b)
			}
		}
		for _, m := range c.finish() {
			m.hide(min(m.Latency, float64(further)*(in.Total-m.Samples)))
			m.Change, m.Variant = &Change{Shared: shared}, fmt.Sprintf("%d more", further)
			for _, n := range copies {
				m.Change.Earlier = append(m.Change.Earlier, Earlier{n, further})
			}
			stages := "one more stage"
			if further > 1 {
				stages = fmt.Sprintf("%d more stages", further)
			}
			m.Suggestions = []string{
				fmt.Sprintf("What TMA copies at %s is waited for at %s. Have more copies under way: %s of %s in shared memory, each with barriers of its own (full, empty), so that the copy for a later round is issued while this one is worked on: by a producer warp, or before the wait for this round's data.",
					in.places(copies, 3), in.places(m.uses(), 2), stages, kibibytes(bytes)),
				"Not where the shared memory for it leaves room for fewer blocks. Smaller parts of the dimension that is summed over make smaller stages, and more of them.",
			}
			matches = append(matches, m)
		}
	}
	return matches
}

// kibibytes writes a size of shared memory.
func kibibytes(n int) string {
	if n%1024 != 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d KiB", n/1024)
}

// furtherProducts matches waits of loops for matrix products of the warpgroup that let none be outstanding: the tensor cores have nothing to do from the
// end of a round's products until those of the next one are issued.
func (in *Input) furtherProducts() (matches []*Match) {
	c := newCollector(in)
	waits := make(map[*cfg.Loop][]blamer.Node)
	for _, n := range in.executedNodes(func(op sass.Op) bool { return true }) {
		l := in.Loop(n)
		if outstanding, ok := in.Inst(n).AwaitsGroups(); !ok || outstanding > 0 || l == nil || !in.keepsProducts(n.Code, l) {
			continue
		}
		waits[l] = append(waits[l], n)
		for _, b := range in.byUse[n] {
			if in.Inst(b.Def).Op.Properties().Async == sass.AsyncMatrix {
				c.add(in.loopScope(n.Code, l), b)
			}
		}
	}
	found := c.finish()
	if len(found) == 0 {
		return nil
	}
	copies, bytes := in.executedNodes(isStageCopy), in.stageBytes()
	for _, m := range found {
		m.hide(min(m.Latency, in.samplesIn(m.Scope)-m.Samples))
		m.Variant, m.Change = "one more group of products", &Change{Outstanding: waits[m.Scope.Loop]}
		stage := ""
		if shared := in.shared() + bytes; shared <= in.Model.Limits.SharedBlock.Int() {
			m.Change.Shared = shared
			stage = fmt.Sprintf(", with one more stage of %s", kibibytes(bytes))
		} else { // a stage is free a round later
			for _, n := range copies {
				m.Change.Earlier = append(m.Change.Earlier, Earlier{n, -1})
			}
		}
		m.Suggestions = []string{
			fmt.Sprintf("At %s the warpgroup waits for all of its matrix products in each round, and the tensor cores for the next ones. Let the newest group be outstanding (wgmma.wait_group 1) and give back the stage of the round before, not of this one%s; wait for all behind the loop.",
				in.places(waits[m.Scope.Loop], 2), stage),
			"A stage is in use a round longer then: with as many stages as now one copy fewer is under way. Not where a round reads its products.",
		}
		matches = append(matches, m)
	}
	return matches
}

// keepsProducts reports whether nothing in a loop but matrix products reads or writes what they compute.
func (in *Input) keepsProducts(code int, l *cfg.Loop) bool {
	sums := make(map[sass.Resource]bool)
	in.eachInst(code, l, func(i int) {
		if inst := &in.Module.Codes[code].Insts[i]; inst.Op.Properties().Async == sass.AsyncMatrix {
			for _, r := range withoutCounters(inst.Defs(nil)) {
				sums[r] = true
			}
		}
	})
	keeps := len(sums) > 0
	in.eachInst(code, l, func(i int) {
		inst := &in.Module.Codes[code].Insts[i]
		if inst.Op.Properties().Async != sass.AsyncMatrix && keeps {
			keeps = !slices.ContainsFunc(inst.Uses(inst.Defs(nil)), func(r sass.Resource) bool { return sums[r] })
		}
	})
	return keeps
}

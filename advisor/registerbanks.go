package advisor

import (
	"fmt"
	"strings"

	"gpa/blamer"
	"gpa/emu/stall"
)

// registerBanks matches arithmetic whose operands lie in one bank of the register file: the bank gives them one after the other, and
// the instruction keeps its pipe, or the dispatcher, for longer.
type registerBanks struct{}

func (registerBanks) Name() string { return "register-bank-conflicts" }
func (registerBanks) Class() Class { return StallElimination }

func (registerBanks) Match(in *Input) []*Match {
	weights := in.issueWeights()
	if weights == 0 {
		return nil
	}
	c, lines, nodes := newCollector(in), lineHead{}, []blamer.Node(nil)
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for id := range s.graph.Blocks {
			nodes = append(nodes, in.addBankConflicts(c, lines, code, id, in.Active/weights)...)
		}
	}
	matches := c.finish()
	for _, m := range matches { // one at most, of the kernel
		m.Change = &Change{ConflictFree: nodes}
		m.Suggestions = in.bankSuggestions(m)
	}
	return matches
}

// issueWeights adds up how often instructions issue, by the source counters or else by the samples of issuing warps.
func (in *Input) issueWeights() float64 {
	sum := 0.0
	for _, c := range in.codes {
		if c == nil {
			continue
		}
		for i := range c.active {
			sum += c.issues(i)
		}
	}
	return sum
}

// issues is how often an instruction issues, in executions where these are known and in samples where not.
func (c *codeSamples) issues(i int) float64 {
	if c.executions != nil {
		return c.executions[i]
	}
	return c.issued[i]
}

// addBankConflicts enters the conflicts of a block by their lines and returns the instructions that have them. A scheduler issues in as many cycles as there are active samples, so that an issue is
// worth perIssue samples and a lost cycle as many. There are no more to gain than warps that were seen waiting for what is lost.
func (in *Input) addBankConflicts(c *collector, lines lineHead, code, id int, perIssue float64) (nodes []blamer.Node) {
	s := in.codes[code]
	b := s.graph.Blocks[id]
	held := in.heldCycles(code, b.First, b.Last, in.issueSpacing(code, b.First, b.Last))
	lost, waiting := 0.0, 0.0
	for i := b.First; i <= b.Last; i++ {
		lost += held[i-b.First] * s.issues(i) * perIssue
		waiting += in.samplesAt(blamer.Node{Code: code, Inst: i}, stall.MathPipeThrottle, stall.DispatchStall)
	}
	if lost == 0 {
		return nil
	}
	share := min(1, waiting/lost) * perIssue
	for i := b.First; i <= b.Last; i++ {
		if n := (blamer.Node{Code: code, Inst: i}); held[i-b.First] > 0 {
			count, head := held[i-b.First]*s.issues(i), lines.of(in, n)
			nodes = append(nodes, n)
			c.addShare(in.kernelScope(), &blamer.Blame{Def: head, Use: head, Detail: blamer.PipeBusy, Count: count, Latency: count}, share)
		}
	}
	return nodes
}

// issueSpacing is the number of cycles between two issues of a scheduler while its warps are in a row of instructions: there are as many
// samples as cycles, of which the active ones are those of an issue.
func (in *Input) issueSpacing(code, first, last int) float64 {
	active, total := 0.0, 0.0
	for i := first; i <= last; i++ {
		active += in.codes[code].active[i]
		total += in.codes[code].total[i]
	}
	return max(1, total/max(active, 1))
}

// bankSuggestions names the hottest conflict and what moves registers into other banks.
func (in *Input) bankSuggestions(m *Match) []string {
	inst := in.Inst(m.Hotspots[0].Def)
	var names []string
	for _, o := range portOperands(inst) {
		names = append(names, fmt.Sprintf("R%d", o.reg))
	}
	return []string{
		fmt.Sprintf("At %s instructions read more registers of one bank than it delivers at once, and keep their pipe a cycle longer: %s reads %s, and registers whose numbers differ by a multiple of %d share a bank.",
			in.places(m.defs(), 3), in.mnemonic(m.Hotspots[0].Def), strings.Join(names, ", "), in.Model.Issue.Banks.Int()),
		"The compiler cannot choose where vectors lie: the .x of each float4 is in the same bank. Load one of the vectors in parts, or hold its elements in another order; " +
			"without vectors, try another unroll factor. Only innermost loops are worth it, and the next compiler may do it by itself.",
	}
}

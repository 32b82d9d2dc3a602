package emu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// An issueOrder is an observer that notes which warp of scheduler 0 of SM 0 issues the instructions from first to before
// end, in runs: "W3 2" are two issues of the youngest but two of four warps in successive cycles, "- 4" are four cycles
// without an issue of one of them.
type issueOrder struct {
	trace
	first, end uint64
	warps      []string // of every cycle from the first issue to the last
}

func (o *issueOrder) Sample(v SMView, _ int64) {
	who := "-"
	for i := range v.Warps(0) {
		if w := v.Warp(0, i); w.Reason == stall.Selected && w.IssuedPC() >= o.first && w.IssuedPC() < o.end {
			who = fmt.Sprintf("W%d", i)
		}
	}
	if who != "-" || len(o.warps) > 0 {
		o.warps = append(o.warps, who)
	}
}

// runs returns the runs after the last gap of some cycles, which is the second time that the code runs.
func (o *issueOrder) runs(gap int) string {
	var runs []string
	for len(o.warps) > 0 {
		n := slices.IndexFunc(o.warps, func(w string) bool { return w != o.warps[0] })
		if n < 0 {
			n = len(o.warps)
		}
		switch {
		case o.warps[0] != "-":
			runs = append(runs, fmt.Sprintf("%s %d", o.warps[0], n))
		case n >= gap && n < len(o.warps):
			runs = nil
		case n < len(o.warps):
			runs = append(runs, fmt.Sprintf("- %d", n))
		}
		o.warps = o.warps[n:]
	}
	return strings.Join(runs, ", ")
}

// TestIssuePolicy holds which warp issues where four run the same 32 independent instructions on one scheduler: greedy,
// else the youngest (Huerta et al., figure 4, with the code in the instruction cache). A stall count of four leaves three
// cycles without an issue where there is no other warp, as in their Listing 2. The last of the instructions is a barrier;
// the youngest warp comes last to the one before, so that no other is preferred as the one that issued last.
func TestIssuePolicy(t *testing.T) {
	const (
		warps, count = 4, 32
		head         = `
			[B------:R-:W0:-:S02] S2R R6, SR_TID.X
			[B0-----:R-:W-:Y:S12] ISETP.GE.AND P0, PT, R6, 0x180, PT
			[B------:R-:W-:Y:S05] @!P0 BRA barrier
			[B------:R-:W-:Y:S11] NOP
			[B------:R-:W-:Y:S11] NOP
			[B------:R-:W-:Y:S11] NOP
			[B------:R-:W-:Y:S11] NOP
			[B------:R-:W-:Y:S11] NOP
			barrier:
			[B------:R-:W-:Y:S06] BAR.SYNC 0x0
`
		first = 1 + 9
	)
	for _, tt := range []struct {
		name, second string // control fields of the second instruction
		want         string
	}{
		{"a", "[B------:R-:W-:-:S01]", "W3 32, W2 32, W1 32, W0 32"},
		{"b", "[B------:R-:W-:-:S04]", "W3 2, W2 2, W1 2, W3 30, W2 30, W1 30, W0 2, - 3, W0 30"},
		{"c", "[B------:R-:W-:Y:S01]", "W3 2, W2 2, W3 30, W2 30, W1 2, W0 2, W1 30, W0 30"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := head
			for i := range count - 1 {
				control := "[B------:R-:W-:-:S01]"
				if i == 1 {
					control = tt.second
				}
				body += control + " FADD R8, R4, R5\n"
			}
			p := timedProgram{model: ga102(t), threads: warps * 4 * 32, text: twice(body + "[B------:R-:W-:Y:S06] BAR.SYNC 0x0")}
			o := &issueOrder{trace: *newTrace(), first: first * sass.InstSize, end: (first + count) * sass.InstSize}
			p.run(t, o)
			if got := o.runs(20); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

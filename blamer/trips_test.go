package blamer_test

import (
	"fmt"
	"testing"

	"gpa/blamer"
)

// pipelined is a loop that waits for what the round before has loaded, the first for what is loaded before the loop. In the last round,
// by the predicate of the loop's exit, it loads no more and waits elsewhere.
const pipelined = `
	before: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R2] ; // executed=10 threads=320
	loop: IADD3 R10, R10, R12, RZ ; // executed=%[1]d threads=%[1]d0
	ISETP.GE.AND P0, PT, R10, R11, PT ; // executed=%[1]d threads=%[1]d0
	%[3]s BRA ` + "`(last)" + ` ; // executed=%[1]d threads=%[1]d0
	[B0-----:R-:W-:-:S01] FADD R8, R0, R8 ; // executed=%[2]d threads=%[2]d0
	inside: [B------:R-:W0:-:S01] LDG.E.SYS R0, [R4] ; // executed=%[2]d threads=%[2]d0
	BRA ` + "`(end)" + ` ; // executed=%[2]d threads=%[2]d0
	last: [B0-----:R-:W-:-:S01] FADD R8, R0, R8 ; // long_scoreboard=10 executed=10 threads=320
	end: IADD3 R4, R4, R6, RZ ; // executed=%[1]d threads=%[1]d0
	@!P0 BRA ` + "`(loop)" + ` ; // executed=%[1]d threads=%[1]d0
	EXIT ; // executed=10 threads=320`

// TestRounds holds that a loop that goes round several times each time it is entered does so the first time too: the last round waits
// for what a round has loaded. One that goes round once waits for what was before it. Where the branch goes by another
// predicate than the loop's, each round may wait there, and the first is as likely as the last.
func TestRounds(t *testing.T) {
	for _, c := range []struct {
		name      string
		rounds    int
		predicate string
		want      []string
	}{
		{"two rounds", 2, "@P0", []string{"inside>last global_memory 10"}},
		{"three rounds", 3, "@P0", []string{"inside>last global_memory 10"}},
		{"another predicate", 2, "@P1", []string{"before>last global_memory 10"}},
		{"one round", 1, "@P0", []string{"before>last global_memory 10"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := fmt.Sprintf(pipelined, 10*c.rounds, 10*(c.rounds-1), c.predicate)
			check(t, source, blamer.Options{}, c.want...)
		})
	}
}

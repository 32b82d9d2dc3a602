package sasstest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Synthetic writes a kernel of n instructions, all of them sampled, for
// benchmarks. Every branchEvery instructions a branch
// leads a little forward or, with loops, back to the start of the enclosing loop.
func Synthetic(n, branchEvery, depth int) string {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	var b strings.Builder
	var heads []int
	for i := range n {
		fmt.Fprintf(&b, "L%d: ", i)
		reg := func() int { return 2 * r.IntN(40) }
		switch {
		case i%branchEvery != branchEvery-1:
			body := []string{
				fmt.Sprintf("[B------:R-:W%d:-:S01] LDG.E.SYS R%d, [R%d] ;", r.IntN(6), reg(), reg()),
				fmt.Sprintf("[B%d-----:R-:W-:-:S04] FADD R%d, R%d, R%d ;", 0, reg(), reg(), reg()),
				fmt.Sprintf("[B-1----:R-:W-:-:S04] @P%d IMAD R%d, R%d, R%d, R%d ;", r.IntN(4), reg(), reg(), reg(), reg()),
				fmt.Sprintf("[B------:R-:W-:-:S04] IADD3 R%d, R%d, R%d, RZ ;", reg(), reg(), reg()),
			}
			b.WriteString(body[r.IntN(len(body))])
		case r.IntN(2) == 0 && len(heads) < depth:
			heads = append(heads, i)
			fmt.Fprintf(&b, "[B------:R-:W-:-:S05] @P0 BRA `(L%d) ;", min(n-1, i+1+r.IntN(3*branchEvery)))
		case len(heads) > 0:
			fmt.Fprintf(&b, "[B------:R-:W-:-:S05] @P1 BRA `(L%d) ;", heads[len(heads)-1])
			heads = heads[:len(heads)-1]
		default:
			fmt.Fprintf(&b, "[B------:R-:W-:-:S05] @P0 BRA `(L%d) ;", min(n-1, i+1+r.IntN(3*branchEvery)))
		}
		fmt.Fprintf(&b, " // selected=%d long_scoreboard=%d/5 wait=%d short_scoreboard=2\n", 1+r.IntN(9), 5+r.IntN(9), r.IntN(9))
	}
	return b.String() + "EXIT ;\n"
}

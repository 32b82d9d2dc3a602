package sasstest

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"gpa/emu/stall"
)

// templates are instructions with a place for the guard and registers to be drawn.
var templates = []string{
	"[%s:R-:W%d:-:S01] %sLDG.E.SYS R%d, [R%d] ;",
	"[%s:R-:W%d:-:S02] %sLDS.U R%d, [R%d] ;",
	"[%s:R-:W%d:-:S01] %sMUFU.RCP R%d, R%d ;",
	"[%s:R%d:W-:-:S01] %sSTG.E.SYS [R%d], R%d ;",
	"[%[1]s:R-:W-:-:S04] %[3]sFADD R%[4]d, R%[5]d, R3 ;",
	"[%[1]s:R-:W-:-:S05] %[3]sIMAD R%[4]d, R%[5]d, R5, RZ ;",
}

// Draw writes a program with arbitrary branches, predicates, wait masks and samples, for property tests.
func Draw(t *rapid.T) string {
	n := rapid.IntRange(2, 60).Draw(t, "instructions")
	var b strings.Builder
	for i := range n {
		guard := rapid.SampledFrom([]string{"", "", "@P0 ", "@!P0 ", "@P1 "}).Draw(t, "guard")
		wait := rapid.SampledFrom([]string{"B------", "B------", "B0-----", "B01----"}).Draw(t, "wait")
		fmt.Fprintf(&b, "L%d: ", i)
		switch kind := rapid.IntRange(0, len(templates)+1).Draw(t, "kind"); kind {
		case len(templates):
			fmt.Fprintf(&b, "[%s:R-:W-:-:S05] %sBRA `(L%d) ;", wait, guard, rapid.IntRange(0, n-1).Draw(t, "target"))
		case len(templates) + 1:
			fmt.Fprintf(&b, "[%s:R-:W-:-:S02] ISETP.NE.AND P0, PT, R%d, RZ, PT ;", wait, rapid.IntRange(0, 7).Draw(t, "r"))
		default:
			fmt.Fprintf(&b, templates[kind], wait, rapid.IntRange(0, 1).Draw(t, "counter"), guard,
				rapid.IntRange(0, 3).Draw(t, "rd")*2, rapid.IntRange(0, 3).Draw(t, "ra")*2)
		}
		b.WriteString(" //" + drawSamples(t, n) + "\n")
	}
	return b.String() + "EXIT ;\n"
}

func drawSamples(t *rapid.T, n int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 3).Draw(t, "reasons") {
		reason := stall.Reason(rapid.IntRange(0, int(stall.NumReasons)-1).Draw(t, "reason"))
		count := rapid.IntRange(0, 50).Draw(t, "count")
		fmt.Fprintf(&b, " %v=%d/%d", reason, count, rapid.IntRange(0, count).Draw(t, "latency"))
		if rapid.Bool().Draw(t, "known") {
			fmt.Fprintf(&b, "@L%d", rapid.IntRange(0, n-1).Draw(t, "producer"))
		}
	}
	if rapid.Bool().Draw(t, "counted") {
		fmt.Fprintf(&b, " executed=%d", rapid.IntRange(0, 9).Draw(t, "executed"))
	}
	return b.String()
}

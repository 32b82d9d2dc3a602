package reports

import (
	"fmt"
	"path"
	"strings"

	"gpa/advisor"
	"gpa/cubin"
	"gpa/profiler"
)

// headline says in one sentence what keeps a launch and what to change first: how many SMs its grid leaves without work, where warps
// spend most of their time and why, and the first piece of advice. It is empty without samples.
func headline(module *cubin.File, l *profiler.Launch, found *LaunchResult, totals *profiler.Totals) string {
	lines := hotLines(module, l, found.Blame)
	if len(lines) == 0 || totals.Samples == 0 {
		return ""
	}
	var text strings.Builder
	if blocks := l.Grid[0] * l.Grid[1] * l.Grid[2]; l.Facts.SMs > 0 && blocks < l.Facts.SMs {
		fmt.Fprintf(&text, "%s on %d SMs; ", count(int64(blocks), "block"), l.Facts.SMs)
	}
	hot := &lines[0]
	fmt.Fprintf(&text, "%s of the samples are at %s", percent(float64(hot.totals.Samples)/float64(totals.Samples)), path.Base(hot.at.place()))
	if r, ok := topStall(&hot.totals); ok {
		fmt.Fprintf(&text, ", mostly %s (%s)", r, meanings[r])
	}
	if found == nil || len(found.Advice) == 0 {
		return text.String() + "."
	}
	first := &found.Advice[0]
	fmt.Fprintf(&text, ": %s first, %s.", first.Optimizer, promise(first))
	return text.String()
}

// promise is the speedup that a piece of advice should bring, and how that is known.
func promise(a *advisor.Advice) string {
	if a.Tried > 0 {
		return fmt.Sprintf("%.2fx when tried", a.Tried)
	}
	return fmt.Sprintf("%.2fx by estimate", a.Speedup)
}

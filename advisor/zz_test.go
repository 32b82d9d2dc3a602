package advisor

import (
	"fmt"
	"os"
	"testing"

	"gpa/blamer"
	"gpa/profiler"
)

func TestZZ(t *testing.T) {
	name := os.Getenv("ZZ")
	f, err := os.Open(name)
	if err != nil {
		t.Skip(err)
	}
	st, _ := f.Stat()
	p, err := profiler.Load(name, f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	l := p.Launches[0]
	r, err := blamer.Analyze(l, p.Modules[l.Module], blamer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	in := NewInput(r)
	fmt.Println("T", in.Total, "held", in.held(), "period", l.Period)
	code := 0
	for i, c := range in.codes {
		if c != nil {
			code = i
		}
	}
	for i := range in.Module.Codes[code].Insts {
		n := blamer.Node{Code: code, Inst: i}
		if in.codes[code].total[i] == 0 {
			continue
		}
		fmt.Printf("%04x %-60s tot %5.0f iss %4.0f ex %6.0f |", i*16, in.Inst(n).Text(), in.codes[code].total[i], in.codes[code].issued[i], in.counts(n).executions)
		for _, b := range in.byUse[n] {
			fmt.Printf(" %v<-%04x:%.0f/%.0f", b.Detail, b.Def.Inst*16, b.Count, b.Latency)
		}
		fmt.Println()
	}
	for _, f := range in.codes[code].graph.Funcs {
		s := Scope{Kind: FunctionScope, Code: code, Func: f}
		for _, tr := range in.traces(s) {
			fmt.Println("trace", len(tr.steps), "unit", tr.unit, "hidden", tr.hidden(freedom{}), "noalias", tr.hidden(freedom{noAlias: true}))
		}
	}
	for _, l := range in.codes[code].graph.Loops {
		for _, tr := range in.traces(in.loopScope(code, l)) {
			fmt.Println("loop trace", len(tr.steps), "unit", tr.unit, "hidden", tr.hidden(freedom{}), "x4", tr.hidden(freedom{rounds: 4}))
		}
	}
}

package blamer

import (
	"slices"
	"testing"

	"gpa/blamer/sasstest"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// TestSliceAcrossCalls holds where slices go at calls and returns, in one section and where each function has its own. The paper's
// rules stay in the function.
func TestSliceAcrossCalls(t *testing.T) {
	const load = "[B------:R-:W2:-:S02] LDG.E.SYS R4, [R2] ;\n"
	const ret = "RET.REL.NODEC R20 `(f) ;\n"
	for _, c := range []struct {
		name, source string
		want         []string
	}{
		{"from the caller into the callee", "def:" + load + "CALL.REL.NOINC `(f) ;\nuse: [B--2---:R-:W-:-:S01] FADD R6, R4, R5 ;\nEXIT ;\n.function f device\nf: FADD R9, R8, R8 ;\n" + ret, []string{"def"}},
		{"from the callee into the caller", "CALL.REL.NOINC `(f) ;\nuse: [B--2---:R-:W-:-:S01] FADD R6, R4, R5 ;\nEXIT ;\n.function f device\nf: FADD R9, R8, R8 ;\ndef: " + load + ret, []string{"def"}},
		{"into the callee", "def: " + load + "CALL.REL.NOINC `(f) ;\nEXIT ;\n.function f device\nf: FADD R9, R8, R8 ;\nuse: [B--2---:R-:W-:-:S01] FADD R6, R4, R5 ;\n" + ret, []string{"def"}},
		{"what the callee overwrites", load + "CALL.REL.NOINC `(f) ;\nuse: FADD R6, R4, R5 ;\nEXIT ;\n.function f device\nf: FADD R9, R8, R8 ;\ndef: FADD R4, R8, R9 ;\n" + ret, []string{"def"}},
		{"one way through the callee", "def: " + load + "CALL.REL.NOINC `(f) ;\nuse: FADD R6, R4, R5 ;\nEXIT ;\n.function f device\nf: @P0 BRA `(end) ;\nother: FADD R4, R8, R9 ;\nend: " + ret, []string{"def", "other"}},
		{"out by the call that it came in by", `
			CALL.REL.NOINC ` + "`(f)" + ` ;
			FADD R4, R8, R9 ;
			CALL.REL.NOINC ` + "`(f)" + ` ;
			def: FADD R4, R8, R9 ;
			CALL.REL.NOINC ` + "`(f)" + ` ;
			use: FADD R6, R4, R5 ;
			EXIT ;
			.function f device
			f: FADD R9, R8, R8 ;
			` + ret, []string{"def"}},
		{"up to all callers", `
			a: FADD R4, R8, R9 ;
			CALL.REL.NOINC ` + "`(f)" + ` ;
			b: FADD R4, R8, R9 ;
			CALL.REL.NOINC ` + "`(f)" + ` ;
			EXIT ;
			.function f device
			f: FADD R9, R8, R8 ;
			use: FADD R6, R4, R5 ;
			` + ret, []string{"a", "b"}},
		{"a callee's callee", `
			CALL.REL.NOINC ` + "`(f)" + ` ;
			use: FADD R6, R4, R5 ;
			EXIT ;
			.function f device
			f: FADD R9, R8, R8 ;
			CALL.REL.NOINC ` + "`(g)" + ` ;
			` + ret + `
			.function g device
			g: FADD R9, R8, R8 ;
			def: FADD R4, R8, R9 ;
			` + ret, []string{"def"}},
		{"recursion", `
			first: FADD R4, R8, R9 ;
			CALL.REL.NOINC ` + "`(f)" + ` ;
			EXIT ;
			.function f device
			f: FADD R9, R8, R8 ;
			use: FADD R6, R4, R5 ;
			@P0 BRA ` + "`(end)" + ` ;
			again: FADD R4, R4, R9 ;
			CALL.REL.NOINC ` + "`(f)" + ` ;
			end: ` + ret, []string{"again", "first"}},
		{"a guarded call", "def: " + load + "@P0 CALL.REL.NOINC `(f) ;\nuse: FADD R6, R4, R5 ;\nEXIT ;\n.function f device\nf: FADD R9, R8, R8 ;\nother: FADD R4, R8, R9 ;\n" + ret, []string{"def", "other"}},
		{"past a callee that never returns", "def: " + load + "@P0 CALL.REL.NOINC `(f) ;\nuse: FADD R6, R4, R5 ;\nEXIT ;\n.function f device\nf: FADD R4, R8, R8 ;\nEXIT ;\n", []string{"def"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, c.source)
			checkSlice(t, p, c.want)
			p.Split()
			checkSlice(t, p, c.want)
		})
	}
}

// checkSlice slices from the instruction labelled use for R4.
func checkSlice(t *testing.T, p *sasstest.Program, labels []string) {
	t.Helper()
	a := newTestAnalysis(t, p, false)
	var want []int
	for _, label := range labels {
		want = append(want, p.Labels[label])
	}
	slices.Sort(want)
	use := p.Labels["use"]
	if got := a.reaching(use, sass.ResReg+4); !slices.Equal(got, want) {
		t.Errorf("%d sections: defs %v, want %v", len(p.Module.Codes), got, want)
	}
	a.slicer.plain = true
	for _, d := range a.slicer.slice(use, sass.ResReg+4, nil) {
		if a.graph.Func(d.def) != a.graph.Func(use) {
			t.Errorf("%d sections: by the paper's rules, a def at %d", len(p.Module.Codes), d.def)
		}
	}
}

// TestBlameAcrossSections holds that stalls are blamed on instructions of other sections, of a caller and of a callee, and that the
// agreement with their producers is seen.
func TestBlameAcrossSections(t *testing.T) {
	p := sasstest.New(t, `
		address: [B------:R-:W0:-:S01] LDG.E.SYS R8, [R2] ; // executed=10
		CALL.REL.NOINC `+"`(f)"+` ; // executed=10
		use: [B-1----:R-:W-:-:S01] FADD R6, R4, R5 ; // long_scoreboard=40/30@load executed=10
		EXIT ; // executed=10
		.function f device
		f: FADD R9, R10, R10 ; // executed=10
		load: [B0-----:R-:W1:-:S01] LDG.E.SYS R4, [R8] ; // long_scoreboard=20/10@address executed=10
		RET.REL.NODEC R20 `+"`(f)"+` ; // executed=10
	`)
	for range 2 {
		r, err := Analyze(p.Launch, p.Module, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Blames) != 2 || r.Agreement != 1 {
			t.Fatalf("%d sections: agreement %g, blames %+v", len(p.Module.Codes), r.Agreement, r.Blames)
		}
		for _, b := range r.Blames {
			def, use := Node{0, p.Labels["address"]}, nodeOf(p, "load")
			if b.Count == 40 {
				def, use = use, Node{0, p.Labels["use"]}
			}
			if b.Def != def || b.Use != use || b.Detail != GlobalMemory {
				t.Errorf("%d sections: %+v, want %v on %v", len(p.Module.Codes), b, def, use)
			}
		}
		if len(p.Module.Codes) == 1 {
			p.Split()
		}
	}
}

// nodeOf is the place of a label.
func nodeOf(p *sasstest.Program, label string) Node {
	n := Node{0, p.Labels[label]}
	for n.Inst >= len(p.Module.Codes[n.Code].Insts) {
		n.Inst -= len(p.Module.Codes[n.Code].Insts)
		n.Code++
	}
	return n
}

// TestLinkedSections follows what a kernel reads into the functions that it calls, which have sections of their own: by name and through
// a table in linked device code, and in such as is yet to be linked.
func TestLinkedSections(t *testing.T) {
	for _, c := range []struct {
		file, kernel string
		callees      []string
	}{
		{"linked.cubin", "calls", []string{"square", "twice", "ackermann"}},
		{"relocatable/rel.sm_80.cubin", "apply", []string{"square"}},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			functions := calleesRead(t, "../cubin/testdata/"+c.file, c.kernel)
			for _, name := range c.callees {
				if !functions[name] {
					t.Errorf("nothing that the kernel reads comes from %s: %v", name, functions)
				}
			}
		})
	}
}

// calleesRead returns the functions whose instructions those of a kernel depend on.
func calleesRead(t *testing.T, file, kernel string) map[string]bool {
	t.Helper()
	module, err := cubin.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	code := slices.IndexFunc(module.Codes, func(c *cubin.Code) bool { return c.Functions[0].Demangled == kernel })
	if code < 0 {
		t.Fatalf("no kernel %s", kernel)
	}
	units, err := linkUnits(module, make([]*cfg.Graph, len(module.Codes)), []int{code})
	if err != nil {
		t.Fatal(err)
	}
	u := units[0]
	s := newSlicer(newSection(u.graph.Code, u.graph))
	functions := map[string]bool{}
	for i := range u.graph.Code.Insts {
		if u.node(i).Code == code {
			for _, d := range s.dependencies(i, nil) {
				functions[u.graph.Func(d.def).Function.Demangled] = true
			}
		}
	}
	return functions
}

// TestSliceIndirectCalls follows the result of a call through a table of functions, and of a recursive one, in compiled code.
func TestSliceIndirectCalls(t *testing.T) {
	module, err := cubin.Open("../kernels/control/device_calls/device_calls.sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	graph, err := cfg.Build(module, module.Codes[0])
	if err != nil {
		t.Fatal(err)
	}
	s := newSlicer(newSection(module.Codes[0], graph))
	indirect, found := map[string]bool{}, 0
	for i := range module.Codes[0].Insts {
		in := &module.Codes[0].Insts[i]
		if in.Op != sass.STG || graph.Func(i).Function.Name != "device_calls" {
			continue
		}
		found++
		for _, d := range s.slice(i, sass.ResReg+4, nil) {
			indirect[graph.Func(d.def).Function.Demangled] = true
		}
	}
	for _, name := range []string{"add", "subtract", "larger", "horner", "lattice_paths"} {
		if !indirect[name] {
			t.Errorf("no value stored comes from %s: %v, %d stores", name, indirect, found)
		}
	}
}

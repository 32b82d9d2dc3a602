package blamer

import (
	"slices"
	"testing"

	"gpa/blamer/sasstest"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
)

// TestSliceAcrossCalls holds where slices go at calls and returns. The paper's rules stay in the function.
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
			a := newTestAnalysis(t, p, false)
			want := make([]int, len(c.want))
			for i, label := range c.want {
				want[i] = p.Labels[label]
			}
			got := a.reaching(p.Labels["use"], sass.ResReg+4)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("defs %v, want %v", got, want)
			}
			f := a.graph.Func(p.Labels["use"])
			a.slicer.plain = true
			for _, d := range a.slicer.slice(p.Labels["use"], sass.ResReg+4, nil) {
				if a.graph.Func(d.def) != f {
					t.Errorf("by the paper's rules, a def at %d", d.def)
				}
			}
		})
	}
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

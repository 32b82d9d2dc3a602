package cfg

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/asm"
)

// TestCallees names what calls of each kind go to.
func TestCallees(t *testing.T) {
	for _, test := range []struct {
		file, function string
		want           string
	}{
		{"module.cubin", "calls", "twice|square ackermann"},
		{"module.cubin", "ackermann", "ackermann ackermann ackermann ackermann ackermann"},
		{"module.cubin", "slow", "__cuda_sm20_sqrt_rn_f32_slowpath __cuda_sm3x_div_rn_noftz_f32_slowpath twice"},
		{"module.cubin", "ns::talk", "__assertfail malloc vprintf free"},
		{"linked.cubin", "calls", "square|twice ackermann"},
		{"linked.cubin", "ackermann", "ackermann ackermann ackermann ackermann ackermann"},
		{"linked.cubin", "ns::talk", "__assertfail malloc vprintf free"},
		{"linked.cubin", "slow", "__cuda_sm20_sqrt_rn_f32_slowpath __cuda_sm3x_div_rn_noftz_f32_slowpath twice"},
		{"linked.cubin", "twice", ""},
		{"../../kernels/control/device_calls/device_calls.sm_70.cubin", "device_calls", "lattice_paths add|subtract|larger|horner"},
	} {
		t.Run(test.file+" "+test.function, func(t *testing.T) {
			file, err := cubin.Open(filepath.Join("../testdata", test.file)) // or a kernel of the repository
			if err != nil {
				t.Fatal(err)
			}
			if got := callees(t, file, test.function); got != test.want {
				t.Errorf("callees %q, want %q", got, test.want)
			}
		})
	}
}

// callees lists the calls of a function, with | between the candidates of one.
func callees(t *testing.T, file *cubin.File, function string) string {
	t.Helper()
	for _, code := range file.Codes {
		g, err := Build(file, code)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range g.Funcs {
			if f.Function.Demangled == function {
				return strings.Join(callList(g, f), " ")
			}
		}
	}
	t.Fatalf("no function %s", function)
	return ""
}

func callList(g *Graph, f *Func) []string {
	var calls []string
	for _, c := range f.Calls {
		var names []string
		for _, callee := range c.Callees {
			names = append(names, g.Funcs[callee].Function.Demangled)
		}
		for _, callee := range c.Remote {
			names = append(names, callee.Demangled)
		}
		if c.Extern != "" {
			names = append(names, c.Extern)
		}
		calls = append(calls, strings.Join(names, "|"))
	}
	return calls
}

// TestJumpTableWithoutAttribute finds the targets of indirect branches in constant bank 2 where the file does not list
// them.
func TestJumpTableWithoutAttribute(t *testing.T) {
	file, err := cubin.Open("../testdata/flow.cubin")
	if err != nil {
		t.Fatal(err)
	}
	k, err := file.Kernel("machine")
	if err != nil {
		t.Fatal(err)
	}
	listed := k.Code.IndirectTargets
	if len(listed) == 0 {
		t.Fatal("the kernel has no indirect branch")
	}
	k.Code.IndirectTargets = nil
	g, err := Build(file, k.Code)
	if err != nil {
		t.Fatal(err)
	}
	for pc, targets := range listed {
		branch, _ := k.Code.InstIndex(pc)
		for _, target := range targets {
			i, _ := k.Code.InstIndex(target)
			if !slices.Contains(g.Block(branch).Succs, g.Block(i).ID) {
				t.Errorf("branch at %#x does not go to %#x", pc, target)
			}
		}
	}
}

// TestCallInsideFunction: a CALL of a label of its own function is a branch, as compilers for sm_80 end loops.
func TestCallInsideFunction(t *testing.T) {
	data, err := asm.Assemble("loop.sass", []byte(`.arch sm_80
.kernel loop
    MOV R0, RZ
again:
    IADD3 R0, R0, 0x1, RZ
    ISETP.GE.AND P0, PT, R0, 0x5, PT
@P0 CALL.REL.NOINC done
    BRA again
done:
    EXIT
`))
	if err != nil {
		t.Fatal(err)
	}
	file, err := cubin.NewFile("loop", data)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Build(file, file.Codes[0])
	if err != nil {
		t.Fatal(err)
	}
	f := g.Funcs[0]
	var edges [][]int
	for _, id := range f.Blocks {
		edges = append(edges, g.Blocks[id].Succs)
	}
	if want := [][]int{{1}, {2, 3}, {1}, nil}; !slices.EqualFunc(edges, want, slices.Equal) || len(f.Calls) != 0 {
		t.Errorf("edges %v, want %v; calls %v", edges, want, f.Calls)
	}
	if len(g.Loops) != 1 {
		t.Errorf("%d loops", len(g.Loops))
	}
}

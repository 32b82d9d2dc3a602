package profiler

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// TestSettle holds to which instruction a sample belongs that hardware shows behind another one. On a V100 a warp waits three cycles
// behind a branch until its target is looked up.
func TestSettle(t *testing.T) {
	const loop = `
		[B------:R-:W-:-:S04] IADD3 R0, R0, -0x1, RZ
		[B------:R-:W-:-:S05] %s
		[B------:R-:W-:-:S04] MOV R1, R0
		[B------:R-:W-:-:S05] NOP`
	type at struct {
		inst   int
		reason stall.Reason
		count  int64
	}
	for _, tt := range []struct {
		name, second string
		runs         [4]int64
		shown, want  []at
	}{
		{"an issue", "NOP", [4]int64{9, 9, 9, 9}, []at{{1, stall.Selected, 9}, {1, stall.Wait, 27}}, []at{{0, stall.Selected, 9}, {1, stall.Wait, 27}}},
		{"a loop's branch", "@P0 BRA 0x0", [4]int64{9, 9, 1, 1}, []at{{2, stall.Selected, 9}, {2, stall.Wait, 8*3 + 4}},
			[]at{{0, stall.Wait, 8 * 3}, {1, stall.Selected, 9}, {2, stall.Wait, 4}}},
		{"a branch with a condition", "BRA P0, 0x0", [4]int64{9, 9, 1, 1}, []at{{2, stall.Wait, 8*3 + 4}}, []at{{0, stall.Wait, 8 * 3}, {2, stall.Wait, 4}}},
		{"a branch that all take", "BRA 0x0", [4]int64{9, 9, 0, 0}, []at{{2, stall.Wait, 9 * 3}}, []at{{0, stall.Wait, 9 * 3}}},
		{"a branch that none takes", "@P0 BRA 0x0", [4]int64{9, 9, 9, 9}, []at{{2, stall.Wait, 9 * 4}}, []at{{2, stall.Wait, 9 * 4}}},
		{"a return", "RET.ABS.NODEC R20 0x0", [4]int64{9, 9, 0, 0}, []at{{2, stall.BranchResolving, 9 * 29}, {2, stall.Wait, 9 * 3}},
			[]at{{1, stall.Wait, 9 * 3}, {1, stall.BranchResolving, 9 * 29}}},
		{"the end", "EXIT", [4]int64{9, 9, 0, 0}, []at{{2, stall.Wait, 27}, {2, stall.BranchResolving, 81}, {2, stall.Drain, 18}, {2, stall.NoInstructions, 1}},
			[]at{{1, stall.Wait, 27}, {1, stall.BranchResolving, 81}, {1, stall.Drain, 18}, {2, stall.NoInstructions, 1}}},
		{"the first instruction", "NOP", [4]int64{9, 9, 9, 9}, []at{{0, stall.Selected, 1}, {0, stall.Wait, 1}}, []at{{0, stall.Selected, 1}, {0, stall.Wait, 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			module := codeOf(t, loop, tt.second)
			l := &Launch{}
			for i, n := range tt.runs {
				l.PCs = append(l.PCs, Counter{PC: uint64(i * sass.InstSize), Executions: n})
			}
			samples := func(list []at) (samples []Sample) {
				for _, s := range list {
					samples = append(samples, Sample{PC: uint64(s.inst * sass.InstSize), Reason: s.reason, Count: s.count})
				}
				return Collect(samples)
			}
			l.Samples = samples(tt.shown)
			m, err := arch.ByName("v100")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(samples(tt.want), Settle(l, module, &m.Issue).Samples); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(samples(tt.shown), l.Samples); diff != "" {
				t.Errorf("the launch itself has changed: %s", diff)
			}
		})
	}
}

// codeOf assembles a module of one section.
func codeOf(t *testing.T, format, second string) *cubin.File {
	t.Helper()
	code := &cubin.Code{Name: "program"}
	for line := range strings.Lines(strings.TrimSpace(fmt.Sprintf(format, second))) {
		control, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		c, err := sass.ParseControl(control)
		if err != nil {
			t.Fatal(err)
		}
		in, err := sass.Parse(sass.SM70, uint64(len(code.Insts)*sass.InstSize), text, c)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		code.Insts = append(code.Insts, in)
	}
	return &cubin.File{Arch: sass.SM70, Codes: []*cubin.Code{code}}
}

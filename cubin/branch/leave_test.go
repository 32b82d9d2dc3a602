package branch

import (
	"fmt"
	"testing"

	"gpa/cubin"
	"gpa/cubin/asm"
	"gpa/cubin/cfg"
)

// TestRounds: how often a thread goes round a loop is a value of its own, though the count itself is the same for all in
// each round. The branch behind the loop depends on what ended it; one in the loop does not.
func TestRounds(t *testing.T) {
	for _, test := range []struct {
		name, bound string
		behind      Type
		origins     Origins
		varies      bool
	}{
		{"thread number", "S2R R0, SR_TID.X", Extrinsic, Thread | Loop, true},
		{"data of a thread", "S2R R4, SR_TID.X\n LDG.E.SYS R0, [R4]", Intrinsic, Data | Loop, true},
		{"data of all threads", "MOV R4, 0x100\n LDG.E.SYS R0, [R4]", Intrinsic, Data | Loop, false},
		{"parameter", "MOV R0, c[0x0][0x160]", Intrinsic, Param | Loop, false},
		{"block number", "S2R R0, SR_CTAID.X", Extrinsic, CTA | Loop, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			data, err := asm.Assemble("rounds.sass", fmt.Appendf(nil, `.arch sm_70
.kernel rounds
    %s
    MOV R2, 0x0
    MOV R6, 0x0
round:
    ISETP.GT.AND P1, PT, R2, 0x2, PT
@P1 BRA past
    IADD3 R6, R6, 0x1, RZ
past:
    IADD3 R2, R2, 0x1, RZ
    ISETP.GE.AND P0, PT, R2, R0, PT
@!P0 BRA round
    ISETP.GT.AND P2, PT, R6, 0x4, PT
@P2 BRA end
    STG.E.SYS [R8], R6
end:
    EXIT
`, test.bound))
			if err != nil {
				t.Fatal(err)
			}
			module, err := cubin.NewFile("rounds", data)
			if err != nil {
				t.Fatal(err)
			}
			g, err := cfg.Build(module, module.Codes[0])
			if err != nil {
				t.Fatal(err)
			}
			list, err := Find(module, []*cfg.Graph{g}, module.Kernels[0])
			if err != nil || len(list) != 3 {
				t.Fatalf("%d branches, %v", len(list), err)
			}
			if in := list[0]; in.Type != Intrinsic || in.Origins != Loop {
				t.Errorf("in the loop: %s: %s", in.Type, in.Origins)
			}
			if b := list[2]; b.Type != test.behind || b.Origins != test.origins {
				t.Errorf("behind the loop: %s: %s, want %s: %s", b.Type, b.Origins, test.behind, test.origins)
			}
			s, err := analyze([]*cfg.Graph{g}, module.Kernels[0])
			if err != nil {
				t.Fatal(err)
			}
			if got := s.varies(s.super.NodeAt(0, list[2].Inst), s.varying()); got != test.varies {
				t.Errorf("threads of a block part: %v, want %v", got, test.varies)
			}
		})
	}
}

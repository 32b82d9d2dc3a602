package launch

import (
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
)

// TestGroupsGone holds that what-if runs end of which the instructions are gone that take up copies to shared memory, while copies are under way.
func TestGroupsGone(t *testing.T) {
	model, err := arch.ByName("a100")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../kernels/linear/mma_async/launch.yaml", "../../kernels/tuning/tiles_async/launch.yaml"} {
		s := openOn(t, file, model, emu.Options{Timing: emu.TimingFull})
		before, err := s.Vary(t.Context(), 0, Variation{})
		if err != nil {
			t.Fatal(err)
		}
		gone := make(map[emu.InstAt]emu.Supposition)
		for _, c := range s.Machine.Module().Codes {
			for i := range c.Insts {
				if c.Insts[i].Op == sass.LDGDEPBAR {
					gone[emu.InstAt{Code: c.Index, PC: c.Insts[i].PC}] = emu.Gone
				}
			}
		}
		r, err := openOn(t, file, model, emu.Options{Timing: emu.TimingFull}).Vary(t.Context(), 0, Variation{WhatIf: &emu.WhatIf{Suppositions: gone}})
		if err != nil {
			t.Fatal(err)
		}
		if len(gone) == 0 || r.Cycles <= 0 || r.WarpInstructions > before.WarpInstructions {
			t.Errorf("%s: %d instructions gone, %d cycles of %d", file, len(gone), r.Cycles, before.Cycles)
		}
	}
}

package emu

import (
	"context"
	"testing"

	"gpa/emu/arch"
)

// BenchmarkLaunch measures what a launch costs that does nothing: one block of an empty kernel, with full timing.
func BenchmarkLaunch(b *testing.B) {
	for _, name := range []string{"v100", "a100", "h100pcie"} {
		b.Run(name, func(b *testing.B) {
			model, err := arch.ByName(name)
			if err != nil {
				b.Fatal(err)
			}
			p := timedProgram{model: model, text: "[B------:R-:W-:Y:S05] EXIT"}
			m, l, _ := p.start(b, model, Options{Timing: TimingFull, Workers: 1, HostMemory: FreeMemory})
			for b.Loop() {
				if _, err := m.Launch(context.Background(), l); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

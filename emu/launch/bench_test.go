package launch

import (
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
)

// BenchmarkCorpus runs all kernels of the project on one core and reports warp instructions per second; loading the
// modules and filling the buffers do not count.
func BenchmarkCorpus(b *testing.B) {
	for _, level := range []emu.TimingLevel{emu.TimingNone, emu.TimingFast, emu.TimingFull} {
		b.Run(level.String(), func(b *testing.B) {
			var instructions int64
			for range b.N {
				for _, name := range corpus(b) {
					b.StopTimer()
					s := open(b, name, sass.SM70, emu.Options{Timing: level})
					b.StartTimer()
					instructions += runAll(b, s)
				}
			}
			b.ReportMetric(float64(instructions)/b.Elapsed().Seconds(), "winst/s")
		})
	}
}

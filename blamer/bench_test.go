package blamer_test

import (
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

// BenchmarkAnalyze shows how the cost grows with instructions, branches and loop depth; every instruction is sampled
// with three dependency reasons.
func BenchmarkAnalyze(b *testing.B) {
	for _, c := range []struct {
		name                  string
		n, branchEvery, depth int
	}{
		{"1000 instructions", 1000, 12, 4},
		{"3000 instructions", 3000, 12, 4},
		{"12000 instructions", 12000, 12, 4},
		{"12000 without branches", 12000, 1 << 30, 0},
		{"12000 without loops", 12000, 12, 0},
		{"12000 in loops 16 deep", 12000, 12, 16},
		{"12000 with a branch every 5", 12000, 5, 4},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := sasstest.New(b, sasstest.Synthetic(c.n, c.branchEvery, c.depth))
			for b.Loop() {
				if _, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(c.n)*1000, "µs/1000inst")
		})
	}
}

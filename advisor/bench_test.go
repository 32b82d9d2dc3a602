package advisor

import (
	"fmt"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
)

// BenchmarkAdvise shows the cost of all optimizers on kernels whose every instruction is stalled.
func BenchmarkAdvise(b *testing.B) {
	for _, n := range []int{1000, 12000} {
		b.Run(fmt.Sprint(n, " instructions"), func(b *testing.B) {
			p := sasstest.New(b, sasstest.Synthetic(n, 12, 4))
			r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := Advise(r, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n)*1000, "µs/1000inst")
		})
	}
}

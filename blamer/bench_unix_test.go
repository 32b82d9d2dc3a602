//go:build unix

package blamer_test

import (
	"syscall"
	"testing"
	"time"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/profiler"
)

// BenchmarkAnalyze shows how the cost grows with instructions, branches, loop depth and samples. Every instruction is sampled with three
// dependency reasons where nothing else is said. It reports processor time, that of a core, in milliseconds.
func BenchmarkAnalyze(b *testing.B) {
	for _, c := range []struct {
		name                  string
		n, branchEvery, depth int
		samples               func([]profiler.Sample) []profiler.Sample
	}{
		{"1500 instructions", 1500, 12, 4, nil},
		{"3000 instructions", 3000, 12, 4, nil},
		{"6000 instructions", 6000, 12, 4, nil},
		{"12000 instructions", 12000, 12, 4, nil},
		{"24000 instructions", 24000, 12, 4, nil},
		{"12000, no branches", 12000, 1 << 30, 0, nil},
		{"12000, a branch every 5", 12000, 5, 4, nil},
		{"12000, no loops", 12000, 12, 0, nil},
		{"12000, loops 8 deep", 12000, 12, 8, nil},
		{"12000, loops 16 deep", 12000, 12, 16, nil},
		{"12000, a tenth sampled", 12000, 12, 4, tenth},
		{"12000, ten times the samples", 12000, 12, 4, tenfold},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := sasstest.New(b, sasstest.Synthetic(c.n, c.branchEvery, c.depth))
			if c.samples != nil {
				p.Launch.Samples = c.samples(p.Launch.Samples)
			}
			before := processorTime(b)
			for b.Loop() {
				if _, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			spent := processorTime(b) - before
			b.ReportMetric(float64(spent.Milliseconds())/float64(b.N), "cpu-ms/op")
			b.ReportMetric(float64(len(p.Launch.Samples)), "samples")
		})
	}
}

// tenth keeps the samples of every tenth instruction.
func tenth(samples []profiler.Sample) []profiler.Sample {
	var list []profiler.Sample
	for _, s := range samples {
		if s.PC/16%10 == 0 {
			list = append(list, s)
		}
	}
	return list
}

// tenfold has each sample ten times, with different producers.
func tenfold(samples []profiler.Sample) []profiler.Sample {
	var list []profiler.Sample
	for _, s := range samples {
		for i := range 10 {
			s.Producer = profiler.Producer{Known: true, PC: samples[i].PC}
			list = append(list, s)
		}
	}
	return list
}

// processorTime is what the process has used of the machine's cores so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

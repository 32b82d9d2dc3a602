//go:build unix

package sass_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"gpa/cubin/sass"
)

// BenchmarkSpeed measures decoding, decoding with text, and nvdisasm where it is installed, on the same words of the
// project's kernels for sm_80, in instructions a second of processor time, which other work on the machine does not
// change:
//
//	NVDISASM=… go test ./cubin/sass -run '^$' -bench Speed -cpu 1
func BenchmarkSpeed(b *testing.B) {
	words := corpusWords(b, "../../kernels/*/*/*sm_80*.cubin.gz")
	for len(words) < 1<<17 { // beside which the start of nvdisasm counts little
		words = append(words, words...)
	}
	insts := make([]sass.Inst, len(words))
	var buf []byte
	ours := func(text bool) error {
		for k, w := range words {
			var err error
			if insts[k], err = sass.Decode(sass.SM80, uint64(k)*sass.InstSize, w); err != nil {
				return err
			}
			if text {
				buf = insts[k].AppendText(buf[:0], nil)
			}
		}
		return nil
	}
	for _, c := range []struct {
		name string
		all  func() error
	}{
		{"decode", func() error { return ours(false) }},
		{"text", func() error { return ours(true) }},
		{"nvdisasm", func() error { nvdisasm(b, sass.SM80, words); return nil }},
	} {
		b.Run(c.name, func(b *testing.B) {
			if c.name == "nvdisasm" && os.Getenv("NVDISASM") == "" {
				b.Skip("NVDISASM is not set")
			}
			before := processorTime(b)
			for b.Loop() {
				if err := c.all(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(words))*float64(b.N)/(processorTime(b)-before).Seconds(), "inst/s")
		})
	}
}

// processorTime returns what this process and those that it started have taken of the processors.
func processorTime(b *testing.B) (total time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return total
}

package cubin

import (
	"testing"

	"gpa/cubin/sass"
)

func BenchmarkNewFile(b *testing.B) {
	for _, name := range []string{"inline.cubin", "module.cubin"} {
		b.Run(name, func(b *testing.B) {
			data := read(b, name)
			insts := 0
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				f, err := NewFile(name, data)
				if err != nil {
					b.Fatal(err)
				}
				for _, code := range f.Codes {
					insts += len(code.Insts)
				}
			}
			b.ReportMetric(float64(insts)/b.Elapsed().Seconds(), "inst/s")
		})
	}
}

func BenchmarkFrames(b *testing.B) {
	code := open(b, "inline.cubin").Codes[0]
	for b.Loop() {
		for pc := uint64(0); pc < code.Size(); pc += sass.InstSize {
			code.Frames(pc)
		}
	}
	b.ReportMetric(float64(b.N)*float64(len(code.Insts))/b.Elapsed().Seconds(), "lookups/s")
}

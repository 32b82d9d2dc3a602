package emu

import (
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// BenchmarkMemory measures accesses of a warp to global memory: lanes next to each other, a row of 4 KiB or 1 MiB a lane, and three
// buffers in turns, as matrix products read and write them.
func BenchmarkMemory(b *testing.B) {
	const rows = 32 << 20
	for _, bench := range []struct {
		name, text string
		stride     uint64
		buffers    int
	}{
		{"load", "LDG.E.SYS R8, [R2]", 4, 1},
		{"load128", "LDG.E.128.SYS R8, [R2]", 16, 1},
		{"store", "STG.E.SYS [R2], R8", 4, 1},
		{"loadRows4K", "LDG.E.SYS R8, [R2]", 4 << 10, 1},
		{"storeRows4K", "STG.E.SYS [R2], R8", 4 << 10, 1},
		{"loadRows1M", "LDG.E.SYS R8, [R2]", 1 << 20, 1},
		{"storeRows1M", "STG.E.SYS [R2], R8", 1 << 20, 1},
		{"atomic", "RED.E.ADD.STRONG.GPU [R2], R8", 4, 1},
		{"buffers", "LDG.E.SYS R8, [R2] ; LDG.E.SYS R9, [R4] ; STG.E.SYS [R6], R9", 4, 3},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w := newTestWarp(b, sass.SM70, bench.text)
			m, err := New(testModel(b), &cubin.File{Arch: sass.SM70}, Options{})
			if err != nil {
				b.Fatal(err)
			}
			w.block.run.machine = m
			w.mask = allLanes
			for i := range bench.buffers {
				addr, err := m.Alloc("buffer", rows)
				if err != nil {
					b.Fatal(err)
				}
				for lane := range 32 {
					at := addr + uint64(lane)*bench.stride
					w.regs[2+2*i][lane], w.regs[3+2*i][lane] = uint32(at), uint32(at>>32)
				}
			}
			ops := w.block.run.program.ops[:bench.buffers]
			for b.Loop() {
				for i := range ops {
					if err := ops[i].run(w, &ops[i]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

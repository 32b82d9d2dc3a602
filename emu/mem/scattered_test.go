package mem

import (
	"testing"

	"gpa/emu/arch"
)

// BenchmarkScattered measures accesses of which each touches 32 lines, as those of a thread for each row do, on all SMs of a GPU, an
// instruction of each every few cycles: loads of the next word of lines that L1 holds mostly, loads of other lines, and stores of a word of each line.
func BenchmarkScattered(b *testing.B) {
	for _, tt := range []struct {
		name string
		kind Kind
		step uint64 // bytes from one access of a lane to its next
	}{{"rows", Read, 4}, {"lines", Read, 128}, {"stores", Write, 4}} {
		b.Run(tt.name, func(b *testing.B) {
			m, err := arch.ByName("a100")
			if err != nil {
				b.Fatal(err)
			}
			cfg := NewConfig(m, 0, false)
			d, sms := NewDevice(cfg), make([]*SM, cfg.SMs)
			for i := range sms {
				sms[i] = NewSM(cfg, i)
			}
			const quantum, each, pitch = 32, 2, 3072 // accesses of an SM in a quantum, bytes of a row
			var addr [32]uint64
			var c Coalescer
			accesses, begin := 0, int64(0)
			for b.Loop() {
				for k, s := range sms {
					for i := range each {
						warp := uint64((accesses/len(sms)/each*each+i)%8*len(sms) + k) // eight warps of an SM in turn
						round := uint64(accesses / len(sms) / 8)
						for lane := range addr {
							addr[lane] = 1<<40 + (warp*32+uint64(lane))*pitch + round*tt.step%pitch
						}
						c.Add(&addr, 1<<32-1, 4)
						s.Global(i, begin+int64(i*quantum/each), c.Lines(), Global{Kind: tt.kind, Words: 1, Passes: 1})
					}
				}
				d.Serve(sms, begin, begin+quantum)
				for _, s := range sms {
					s.Absorb(begin + quantum)
					s.Answers()
				}
				begin += quantum
				accesses += len(sms) * each
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(accesses), "ns/access")
		})
	}
}

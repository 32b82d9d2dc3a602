package mem

import (
	"reflect"
	"testing"

	"gpa/emu/arch"
)

// v100 returns a V100 whose SMs have translated every page already.
func v100(t testing.TB) *arch.Model {
	t.Helper()
	m, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	m.TLB.FirstMiss.Value = 0
	return m
}

// TestIssueCadence holds the queue model against the cycles in which independent loads issue on GA102, for 1 to 4
// sub-cores (Huerta et al., table 1).
func TestIssueCadence(t *testing.T) {
	want := [][][]int64{
		{{2}, {3}, {4}, {5}, {6}, {13}, {17}, {21}, {25}},
		{{2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {13, 15}, {17, 19}, {21, 23}},
		{{2, 2, 2}, {3, 3, 3}, {4, 4, 4}, {5, 5, 5}, {6, 6, 6}, {13, 15, 17}, {19, 21, 23}, {25, 27, 29}},
		{{2, 2, 2, 2}, {3, 3, 3, 3}, {4, 4, 4, 4}, {5, 5, 5, 5}, {6, 6, 6, 6}, {13, 15, 17, 19}, {21, 23, 25, 27}, {29, 31, 33, 35}},
	}
	cfg := NewConfig(v100(t), 0, false)
	cfg.entry, cfg.address, cfg.lsu = 11, 4, 2
	cfg.queueLG = 5
	lines := []Line{{Number: 1, Sectors: 1}}
	for i, columns := range want {
		s := NewSM(cfg, 0)
		now := make([]int64, i+1)
		for k := range now {
			now[k] = 1
		}
		for n, cycles := range columns {
			for sub, cycle := range cycles {
				now[sub] = max(now[sub]+1, s.LGReady(sub))
				s.Global(sub, now[sub], lines, Global{Words: 1})
				if now[sub] != cycle {
					t.Errorf("%d sub-cores: load %d of sub-core %d issues at %d, want %d", i+1, n+1, sub, now[sub], cycle)
				}
			}
		}
	}
}

// serve advances the device until the answer to the access is there.
func serve(t testing.TB, d *Device, s *SM, begin int64) int64 {
	t.Helper()
	q := d.cfg.Quantum()
	for n := 0; n < 100; n++ {
		d.Serve([]*SM{s}, begin, begin+q)
		s.Absorb(begin + q)
		if a := s.Answers(); len(a) > 0 {
			if a[0].Done < begin+q {
				t.Errorf("answer for cycle %d, within the quantum that ends in %d", a[0].Done, begin+q)
			}
			return a[0].Done
		}
		begin += q
	}
	t.Fatal("no answer")
	return 0
}

func TestLatencies(t *testing.T) {
	m := v100(t)
	tests := []struct {
		name string
		kind Kind
		warm bool // the line is in L2
		want arch.Figure
	}{
		{"DRAM", Read, false, m.Latencies.DRAM},
		{"L2", Read, true, m.Latencies.L2},
		{"atomic in L2", Atomic, true, m.Latencies.Global},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := NewConfig(m, 0, false)
			cfg.spread = 0
			d, s, other := NewDevice(cfg), NewSM(cfg, 0), NewSM(cfg, 1)
			lines := []Line{{Number: 77, Sectors: 2}}
			var at int64
			if tt.warm {
				other.Global(0, 0, lines, Global{Words: 1})
				at = serve(t, d, other, 0)
			}
			if _, done := s.Global(0, at, lines, Global{Kind: tt.kind, Words: 1}); done != Never {
				t.Fatalf("done in %d before the device answered", done)
			}
			if got := serve(t, d, s, at) - at; got != tt.want.Cycles() {
				t.Errorf("got %d cycles, want %g", got, tt.want.Value)
			}
		})
	}
}

func TestL1(t *testing.T) {
	m := v100(t)
	cfg := NewConfig(m, 0, false)
	cfg.spread = 0
	d, s := NewDevice(cfg), NewSM(cfg, 0)
	lines := []Line{{Number: 77, Sectors: 2}}
	s.Global(0, 0, lines, Global{Words: 1, User: 1})
	if _, done := s.Global(1, 3, lines, Global{Words: 1, User: 2}); done != Never {
		t.Errorf("the second access to a missing sector is done in %d", done)
	}
	d.Serve([]*SM{s}, 0, 128)
	s.Absorb(128)
	want := []Answer{{1, m.Latencies.DRAM.Cycles()}, {2, m.Latencies.DRAM.Cycles()}}
	if got := s.Answers(); !reflect.DeepEqual(got, want) {
		t.Errorf("answers %v, want %v: one request serves both", got, want)
	}
	if _, done := s.Global(0, 1000, lines, Global{Words: 1}); done != 1000+m.Latencies.L1.Cycles() {
		t.Errorf("L1 hit done in %d", done-1000)
	}
	if _, done := s.Global(0, 2000, lines, Global{Words: 4}); done != 2000+m.Latencies.L1.Cycles()+3*m.Latencies.Wider.Cycles() {
		t.Errorf("L1 hit of 128 bits done in %d", done-2000)
	}
	if _, done := s.Global(0, 3000, []Line{{Number: 77, Sectors: 4}}, Global{Words: 1}); done != Never {
		t.Error("another sector of the line hits")
	}
	if _, done := s.Global(0, 4000, lines, Global{Words: 1, Bypass: true}); done != Never {
		t.Error("an access that must bypass L1 hits")
	}
	s.Invalidate()
	if _, done := s.Global(0, 5000, lines, Global{Words: 1}); done != Never {
		t.Error("an invalidated line hits")
	}
}

func TestStoreKeepsL1(t *testing.T) {
	cfg := NewConfig(v100(t), 0, false)
	s := NewSM(cfg, 0)
	var c Coalescer
	c.Add(addresses(func(l int) uint64 { return 0x1000 + uint64(l)*4 }), fullWarp, 4)
	s.Global(0, 0, c.Lines(), Global{Kind: Write})
	if _, done := s.Global(0, 100, c.Lines(), Global{Words: 1}); done == Never {
		t.Error("sectors written as a whole are not in L1")
	}
	partial := []Line{{Number: 99, Sectors: 1, Bytes: [4]uint32{0xff}}}
	s.Global(0, 200, partial, Global{Kind: Write})
	if _, done := s.Global(0, 300, partial, Global{Words: 1}); done != Never {
		t.Error("a sector written in part hits L1")
	}
}

// TestL1Capacity reads contiguous data twice: what fits hits the second time, twice as much never does.
func TestL1Capacity(t *testing.T) {
	m := v100(t)
	for _, carveout := range []int{0, 64 << 10, 96 << 10} {
		cfg := NewConfig(m, carveout, false)
		lines := cfg.l1Sets * cfg.l1Ways
		if bytes := m.L1.Unified.Int() - max(carveout, m.L1.Reserved.Int()); lines > bytes/128 || lines < bytes/128*95/100 {
			t.Errorf("carve-out %d: %d lines in %d bytes", carveout, lines, bytes)
		}
		for _, tt := range []struct {
			lines int
			hits  bool
		}{{lines, true}, {lines * 2, false}} {
			d, s := NewDevice(cfg), NewSM(cfg, 0)
			at := int64(0)
			for pass := range 2 {
				for n := range tt.lines {
					_, done := s.Global(0, at, []Line{{Number: uint64(n), Sectors: 15}}, Global{Words: 1})
					if pass == 1 && (done != Never) != tt.hits {
						t.Fatalf("carve-out %d: line %d of %d: hit %v", carveout, n, tt.lines, !tt.hits)
					}
					if done == Never {
						done = serve(t, d, s, at)
					}
					at = done
				}
			}
		}
	}
}

func TestShared(t *testing.T) {
	cfg := NewConfig(v100(t), 0, false)
	for _, tt := range []struct {
		name       string
		access     Shared
		read, done int64
	}{
		{"without conflict", Shared{Passes: 1, Ideal: 1, Words: 1}, 9, 19},
		{"32 ways", Shared{Passes: 32, Ideal: 1, Words: 1}, 9, 19 + 31*2},
		{"64 bits", Shared{Passes: 2, Ideal: 2, Words: 2}, 9, 19},
		{"128 bits", Shared{Passes: 4, Ideal: 4, Words: 4}, 9, 21},
		{"store", Shared{Passes: 1, Ideal: 1, Words: 1, Store: true}, 12, 19},
		{"store of 128 bits", Shared{Passes: 4, Ideal: 4, Words: 4, Store: true}, 18, 21},
	} {
		s := NewSM(cfg, 0)
		if read, done := s.Shared(0, 50, tt.access); read-50 != tt.read || done-50 != tt.done {
			t.Errorf("%s: operands read after %d, done after %d cycles, want %d and %d", tt.name, read-50, done-50, tt.read, tt.done)
		}
	}
}

// TestBandwidth streams through the device from all SMs. No roofline may be exceeded, and little of it be lost.
func TestBandwidth(t *testing.T) {
	m := v100(t)
	peakDRAM := m.DRAM.Peak.Value / m.Clock.Value
	peakL2 := m.L2.SliceWidth.Value * m.L2.Slices.Value
	tests := []struct {
		name     string
		kind     Kind
		fast     bool
		lines    int // distinct ones, of all SMs
		repeat   int
		roof     float64
		achieved float64
	}{
		{"DRAM reads", Read, false, 160000, 1, peakDRAM, m.DRAM.Achieved.Value / m.Clock.Value},
		{"DRAM writes", Write, false, 400000, 1, peakDRAM, m.DRAM.Achieved.Value / m.Clock.Value},
		{"L2 reads", Read, false, 16000, 8, peakL2, 1366},
		{"L2, fast", Read, true, 160000, 1, peakL2, 1366},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := NewConfig(m, 0, tt.fast)
			d := NewDevice(cfg)
			sms := make([]*SM, cfg.SMs)
			for i := range sms {
				sms[i] = NewSM(cfg, i)
			}
			var n int
			warm := 0
			if tt.repeat > 1 {
				warm = tt.lines
			}
			var begin, start, last int64
			total := tt.lines*tt.repeat + warm
			for q := cfg.Quantum(); n < total || last > begin; begin += q {
				for _, s := range sms {
					for k := 0; n < total && s.full < begin+q && k < 1000; k++ {
						if n == warm {
							start = begin
						}
						s.Global(k%4, begin, []Line{{Number: uint64(n % tt.lines), Sectors: 15, Bytes: [4]uint32{fullWarp, fullWarp, fullWarp, fullWarp}}},
							Global{Kind: tt.kind, Words: 1, Bypass: true})
						n++
					}
				}
				d.Serve(sms, begin, begin+q)
				for _, s := range sms {
					s.Absorb(begin + q)
				}
				for _, s := range sms {
					for _, a := range s.Answers() {
						last = max(last, a.Done)
					}
				}
			}
			bytes := float64(tt.lines * tt.repeat * 128)
			if tt.kind == Write { // what stays in L2 has not been written
				bytes -= m.L2.Size.Value
			}
			got := bytes / float64(last-start)
			if got > tt.roof || got < 0.85*tt.achieved {
				t.Errorf("%.0f bytes a cycle; the roof is %.0f, measured %.0f", got, tt.roof, tt.achieved)
			}
			t.Logf("%.0f bytes a cycle", got)
		})
	}
}

// TestLeft holds that stores leave an SM as wide as its port is: with 32 bytes a cycle a line takes four cycles, and the lines of all
// sub-cores follow each other.
func TestLeft(t *testing.T) {
	cfg := NewConfig(v100(t), 0, false)
	for _, bytes := range []int64{32, 64, 128} {
		cfg.portPerSector = sectorBytes * tick / bytes
		s := NewSM(cfg, 0)
		var first int64
		for i := range 16 {
			line := []Line{{Number: uint64(i), Sectors: allSectors}}
			granted, _ := s.Global(i%cfg.Schedulers, 0, line, Global{Kind: Write, Words: 1})
			if i == 0 {
				first = granted - cfg.storeData
			}
		}
		if got, want := s.Left(), first+16*sectorsPerLine*sectorBytes/bytes; bytes < 128 && got != want {
			t.Errorf("16 lines through %d bytes a cycle leave by cycle %d, want %d", bytes, got, want)
		} else if got < want {
			t.Errorf("16 lines through %d bytes a cycle leave by cycle %d, before %d", bytes, got, want)
		}
	}
}

// TestWaitAtPort has one SM ask for so many lines at once that the last waits for its port longer than a quantum. Another SM's
// request to the same slice, which is there long before, is answered as if it were alone.
func TestWaitAtPort(t *testing.T) {
	const lines = 40
	const own = lines - 1
	cfg := NewConfig(v100(t), 0, false)
	for _, tt := range []struct {
		name  string
		lines uint64
	}{{"alone", 0}, {"beside another SM", lines}} {
		t.Run(tt.name, func(t *testing.T) {
			d := NewDevice(cfg)
			sms := []*SM{NewSM(cfg, 0), NewSM(cfg, 1)}
			for line := range tt.lines {
				sms[0].Fetch(0, line, line)
			}
			sms[1].Fetch(1, own, own)
			q := cfg.Quantum()
			var last, other int64
			for begin := int64(0); begin < 8*q; begin += q {
				d.Serve(sms, begin, begin+q)
				for i, at := range []*int64{&last, &other} {
					sms[i].Absorb(begin + q)
					for _, a := range sms[i].Answers() {
						*at = max(*at, a.Done)
					}
				}
			}
			if want := 1 + cfg.l2Hit + sectorsPerLine - 1; other != want {
				t.Errorf("answered in cycle %d, want %d", other, want)
			}
			if way := cfg.l2Hit + q; tt.lines > 0 && last < way {
				t.Errorf("the last request of the other SM is answered in cycle %d: it did not wait for a quantum", last)
			}
		})
	}
}

// TestReadsBeforeWrites asks a slice that many writes wait for: what somebody waits for is served first, a write behind all.
func TestReadsBeforeWrites(t *testing.T) {
	const writes = 200
	cfg := NewConfig(v100(t), 0, false)
	var s slice
	cost := sectorsPerLine * cfg.slicePerSector
	for range writes {
		s.take(Write, 0, cost)
	}
	for _, tt := range []struct {
		name string
		kind Kind
		want int64
	}{
		{"a read", Read, 10},
		{"code behind it", Loaded, 10 + cost/tick},
		{"an atomic", Atomic, 10 + 2*cost/tick},
		{"a write", Write, (writes + 3) * cost / tick},
	} {
		if at := s.take(tt.kind, 10, cost); at != tt.want {
			t.Errorf("%s begins in cycle %d, want %d", tt.name, at, tt.want)
		}
	}
}

func BenchmarkDevice(b *testing.B) {
	cfg := NewConfig(v100(b), 0, false)
	d := NewDevice(cfg)
	sms := make([]*SM, cfg.SMs)
	for i := range sms {
		sms[i] = NewSM(cfg, i)
	}
	var n uint64
	var begin int64
	q := cfg.Quantum()
	for b.Loop() {
		for _, s := range sms {
			for range 4 {
				s.Global(int(n%4), begin, []Line{{Number: n * 7, Sectors: 15}}, Global{Words: 1})
				n++
			}
		}
		d.Serve(sms, begin, begin+q)
		for _, s := range sms {
			s.Absorb(begin + q)
		}
		for _, s := range sms {
			s.Answers()
		}
		begin += q
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mrequests/s")
}

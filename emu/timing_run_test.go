package emu

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// wordStream is a program in which each of the launch's threads, 4 bytes apart, loads a word of the first buffer, adds a
// product of it and stores the result in the second.
const wordStream = `
	[B------:R-:W0:-:S02] S2R R0, SR_CTAID.X
	[B------:R-:W1:-:S02] S2R R1, SR_TID.X
	[B01----:R-:W-:-:S04] IMAD R0, R0, c[0x0][0x0], R1
	[B------:R-:W-:-:S04] MOV R2, c[0x0][0x160]
	[B------:R-:W-:-:S04] MOV R3, c[0x0][0x164]
	[B------:R-:W-:-:S08] IMAD.WIDE R2, R0, 0x4, R2
	[B------:R-:W0:-:S02] LDG.E.SYS R4, [R2]
	[B------:R-:W-:-:S04] MOV R6, c[0x0][0x168]
	[B------:R-:W-:-:S04] MOV R7, c[0x0][0x16c]
	[B------:R-:W-:-:S08] IMAD.WIDE R6, R0, 0x4, R6
	[B0-----:R-:W-:-:S08] IMAD R4, R4, R4, 0x7
	[B------:R-:W-:-:S02] STG.E.SYS [R6], R4
	[B------:R-:W-:Y:S05] EXIT`

func words(n int) []uint32 {
	w := make([]uint32, n)
	for i := range w {
		w[i] = uint32(i)
	}
	return w
}

func streaming(blocks int) timedProgram {
	n := blocks * 256
	return timedProgram{text: wordStream, blocks: blocks, threads: 256, buffers: [][]uint32{words(n), make([]uint32, n)}}
}

// TestRoofline holds that reading a stream from DRAM does not exceed the bandwidth, and comes near it.
func TestRoofline(t *testing.T) {
	p := streaming(8000)
	p.text = strings.Replace(p.text, "STG.E.SYS [R6], R4", "NOP", 1)
	r, _, _ := p.run(t, nil)
	m := testModel(t)
	rate := float64(len(p.buffers[0])*4) / (float64(r.Cycles) - m.Launching.Fixed.Value)
	if peak := m.DRAM.Peak.Value / m.Clock.Value; rate > peak || rate < 0.8*peak {
		t.Errorf("%.0f bytes a cycle, DRAM has %.0f", rate, peak)
	}
}

// throughputs are results that an SM gives in a cycle by compute capability, after the CUDA C++ Programming Guide, section on
// arithmetic instructions, "Throughput of Native Arithmetic Instructions". FP16 is in instructions, of two results each.
var throughputs = []struct {
	class, op string
	results   map[string]float64 // by GPU
}{
	{"FP32 add", "FADD R%d, R4, R5", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 128, "rtx4090": 128, "h100": 128}},
	{"FP32 multiply-add", "FFMA R%d, R4, R5, RZ", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 128, "rtx4090": 128, "h100": 128}},
	{"FP32 compare, minimum", "FMNMX R%d, R4, R5, !PT", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 64, "rtx4090": 64, "h100": 64}},
	{"FP64", "DFMA R%d, R4, R6, RZ", map[string]float64{"v100": 32, "t4": 2, "a100": 32, "rtx3090": 2, "rtx4090": 2, "h100": 64}},
	{"FP16", "HFMA2 R%d, R4, R5, RZ", map[string]float64{"v100": 64, "t4": 64, "a100": 128, "rtx3090": 64, "rtx4090": 64, "h100": 128}},
	{"integer add", "IADD3 R%d, R4, R5, RZ", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 64, "rtx4090": 64, "h100": 64}},
	{"integer multiply-add", "IMAD R%d, R4, R5, RZ", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 64, "rtx4090": 64, "h100": 64}},
	{"logic", "LOP3.LUT R%d, R4, R5, RZ, 0xc0, !PT", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 64, "rtx4090": 64, "h100": 64}},
	{"shift", "SHF.L.U32 R%d, R4, R5, RZ", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 64, "rtx4090": 64, "h100": 64}},
	{"transcendental", "MUFU.RCP R%d, R4", map[string]float64{"v100": 16, "t4": 16, "a100": 16, "rtx3090": 16, "rtx4090": 16, "h100": 16}},
	{"population count", "POPC R%d, R4", map[string]float64{"v100": 16, "t4": 16, "a100": 16, "rtx3090": 16, "rtx4090": 16, "h100": 16}},
	{"bit reverse", "BREV R%d, R4", map[string]float64{"v100": 16, "t4": 16, "a100": 16, "rtx3090": 16, "rtx4090": 16, "h100": 16}},
	{"leading bit", "FLO.U32 R%d, R4", map[string]float64{"v100": 16, "t4": 16, "a100": 16, "rtx3090": 16, "rtx4090": 16, "h100": 16}},
	{"conversion to integer", "F2I.TRUNC.NTZ R%d, R4", map[string]float64{"v100": 16, "t4": 16, "a100": 16, "rtx3090": 16, "rtx4090": 16, "h100": 16}},
	{"conversion to FP64", "F2F.F64.F32 R%d, R4", map[string]float64{"v100": 16, "t4": 2, "a100": 16, "rtx3090": 2, "rtx4090": 2, "h100": 16}},
	{"conversion of FP64", "F2I.F64.TRUNC R%d, R4", map[string]float64{"v100": 16, "t4": 2, "a100": 16, "rtx3090": 2, "rtx4090": 2, "h100": 16}},
	{"conversion of an integer to FP64", "I2F.F64 R%d, R4", map[string]float64{"v100": 16, "t4": 2, "a100": 16, "rtx3090": 2, "rtx4090": 2, "h100": 16}},
	{"shuffle", "SHFL.IDX PT, R%d, R4, R5, 0x1f", map[string]float64{"v100": 32, "t4": 32, "a100": 32, "rtx3090": 32, "rtx4090": 32, "h100": 32}},
	{"vote", "VOTE.ANY R%d, PT, PT", map[string]float64{"v100": 64, "t4": 64, "a100": 64, "rtx3090": 64, "rtx4090": 64, "h100": 64}},
}

// TestThroughputs holds that instructions of every class reach the published throughput on every architecture, and no more. The
// operands lie in two banks of registers, so that their reading holds nothing up.
func TestThroughputs(t *testing.T) {
	const threads, few, many = 1024, 2, 5
	for _, tt := range throughputs {
		for _, gpu := range slices.Sorted(maps.Keys(tt.results)) {
			want := tt.results[gpu]
			count := 128 // enough that the loop around them does not matter
			if want <= 32 {
				count = 32
			}
			var body strings.Builder
			for i := range count {
				fmt.Fprintf(&body, "[B------:R-:W-:-:S01] "+tt.op+"\n", 8+2*(i%8))
			}
			cycles := func(rounds int) int64 {
				model, err := arch.ByName(gpu)
				if err != nil {
					t.Fatal(err)
				}
				model.Arch = int(sass.SM70) // the encoding
				p := timedProgram{model: model, threads: threads, text: repeated(body.String(), rounds)}
				r, _, _ := p.run(t, nil)
				return r.Cycles
			}
			results := float64((many-few)*count*threads) / float64(cycles(many)-cycles(few))
			if results > want*1.001 || results < want*.95 {
				t.Errorf("%s on %s: %.1f results a cycle, want %g", tt.class, gpu, results, want)
			}
		}
	}
}

// TestTimingKeepsResults compares what a program leaves in memory at all timing levels.
func TestTimingKeepsResults(t *testing.T) {
	p := streaming(20)
	var want []byte
	for _, level := range []TimingLevel{TimingFull, TimingFast} {
		p.level = level
		_, m, addrs := p.run(t, nil)
		got := make([]byte, 4*len(p.buffers[1]))
		if err := m.Read(addrs[1], got); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: other results", level)
		}
	}
	for i := range p.buffers[1] {
		if v := uint32(i*i + 7); load(want[4*i:4*i+4]) != v {
			t.Fatalf("word %d is %d, want %d", i, load(want[4*i:4*i+4]), v)
		}
	}
}

// TestDeterminism holds that the same launch has the same result, counters and samples.
func TestDeterminism(t *testing.T) {
	p := streaming(700)
	var traces [2]*trace
	var results [2]*Result
	for i := range traces {
		traces[i], results[i] = p.traced(t)
		results[i].Facts = LaunchFacts{}
	}
	if !reflect.DeepEqual(traces[0], traces[1]) {
		t.Error("other samples in the second run")
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Errorf("the second run gave %+v after %+v", results[1], results[0])
	}
}

// TestObserverChangesNothing holds that a launch takes the same time whether or not it is observed.
func TestObserverChangesNothing(t *testing.T) {
	p := streaming(300)
	_, observed := p.traced(t)
	alone, _, _ := p.run(t, nil)
	if observed.Cycles != alone.Cycles || observed.SMActiveCycles != alone.SMActiveCycles {
		t.Errorf("%d cycles observed, %d not", observed.Cycles, alone.Cycles)
	}
}

// TestFast holds that the fast level leaves out the front end and the register-file ports, and keeps near the full one.
func TestFast(t *testing.T) {
	p := streaming(1000)
	full, _, _ := p.run(t, nil)
	p.level = TimingFast
	tr, fast := p.traced(t)
	for pc, reasons := range tr.reasons {
		if n := reasons[stall.NoInstructions]; n > 0 && pc > 0 { // the first one is not there before the warp
			t.Errorf("pc %#x: %d samples without instructions", pc, n)
		}
	}
	if fast.Cycles > full.Cycles || fast.Cycles < full.Cycles/3 {
		t.Errorf("fast %d cycles, full %d", fast.Cycles, full.Cycles)
	}
}

// TestPrefetch runs straight code: the stream buffer hides most of the way to the next lines.
func TestPrefetch(t *testing.T) {
	p := timedProgram{text: strings.Repeat("[B------:R-:W-:-:S02] FADD R4, R5, R6\n", 2000) + "[B------:R-:W-:Y:S05] EXIT"}
	_, with := p.traced(t)
	p.model = testModel(t)
	p.model.Fetch.Prefetch.Value = 0
	_, without := p.traced(t)
	if 2*with.SMActiveCycles > without.SMActiveCycles {
		t.Errorf("%d cycles with, %d without", with.SMActiveCycles, without.SMActiveCycles)
	}
}

// TestCounters holds the memory counters of a coalesced access and of a strided one.
func TestCounters(t *testing.T) {
	p := streaming(4)
	r, _, _ := p.run(t, nil)
	for _, c := range r.Counters {
		want := int64(0)
		if c.PC == 0x60 || c.PC == 0xb0 {
			want = 4 * 8 * 4 // blocks, warps, sectors
		}
		if c.GlobalSectors != want || c.GlobalSectorsIdeal != want {
			t.Errorf("pc %#x: %d sectors, %d ideal, want %d", c.PC, c.GlobalSectors, c.GlobalSectorsIdeal, want)
		}
	}
}

// TestWarmCaches runs a launch again with what it left in L2.
func TestWarmCaches(t *testing.T) {
	p := streaming(200)
	cold, m, _ := p.run(t, nil)
	f := m.Module()
	params := p.params
	for _, warm := range []bool{false, true} {
		l := p.launch(f, params)
		l.WarmCaches = warm
		r, err := m.Launch(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		if warm && r.Cycles >= cold.Cycles || !warm && r.Cycles != cold.Cycles {
			t.Errorf("warm %v: %d cycles after %d cold ones", warm, r.Cycles, cold.Cycles)
		}
	}
}

// BenchmarkTimed reports warp instructions a second with timing, with and without samples.
func BenchmarkTimed(b *testing.B) {
	compute := timedProgram{blocks: 320, threads: 256, text: `
		[B------:R-:W-:-:S04] MOV R31, 0x40
		loop:
		[B------:R-:W-:-:S04] FFMA R4, R5, R6, R4
		[B------:R-:W-:-:S02] FFMA R8, R5, R6, R8
		[B------:R-:W-:-:S02] IADD3 R9, R9, R10, RZ
		[B------:R-:W-:-:S04] IADD3 R31, R31, -0x1, RZ
		[B------:R-:W-:Y:S12] ISETP.NE.AND P6, PT, R31, RZ, PT
		[B------:R-:W-:Y:S05] @P6 BRA loop
		[B------:R-:W-:Y:S05] EXIT`}
	for _, bb := range []struct {
		name    string
		p       timedProgram
		sampled bool
	}{{"compute", compute, false}, {"compute, sampled", compute, true}, {"stream", streaming(4000), false}, {"stream, sampled", streaming(4000), true}} {
		b.Run(bb.name, func(b *testing.B) {
			var n int64
			for b.Loop() {
				var o Observer
				if bb.sampled {
					o = &every{period: 512}
				}
				r, _, _ := bb.p.run(b, o)
				n += r.WarpInstructions
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Mwinst/s")
		})
	}
}

// every looks at each warp of each SM once a period.
type every struct{ period, seen int64 }

func (e *every) Begin(*LaunchFacts) {}
func (e *every) NextSample(_ int, cycle int64) int64 {
	return (cycle + e.period - 1) / e.period * e.period
}

func (e *every) Sample(v SMView, _ int64) {
	for s := range v.Schedulers() {
		for i := range v.Warps(s) {
			e.seen += int64(v.Warp(s, i).Reason)
		}
	}
}

package blamer_test

import (
	"fmt"
	"math"
	"testing"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/emu/stall"
	"gpa/profiler"
)

// TestIrreducible blames a loop with two entries, which has no header: both ways in, and the way round, lead to the use.
func TestIrreducible(t *testing.T) {
	both(t, `
		@P0 BRA `+"`(b)"+` ;
		a: [B------:R-:W0:-:S02] LDG.E.SYS R0, [R2] ; // executed=10 threads=320
		b: [B0-----:R-:W-:-:S04] FADD R8, R0, R1 ; // long_scoreboard=10 executed=20 threads=640
		@P1 BRA `+"`(a)"+` ;
		EXIT ;`, "a>b global_memory 10")
}

// TestPadding blames samples that lie behind the code, as samples of a warp that is fetching ahead can: on themselves.
func TestPadding(t *testing.T) {
	p := sasstest.New(t, `
		load: [B------:R-:W0:-:S02] LDG.E.SYS R0, [R2] ;
		use: [B0-----:R-:W-:-:S04] FADD R8, R0, R1 ; // long_scoreboard=10
		EXIT ;
		loop: BRA `+"`(loop)"+` ;
		NOP ;
		pad: NOP ;`)
	for _, reason := range []stall.Reason{stall.LongScoreboard, stall.ShortScoreboard, stall.Wait, stall.Barrier, stall.NoInstructions} {
		l := *p.Launch
		l.Samples = append([]profiler.Sample(nil), p.Launch.Samples...)
		l.Samples = append(l.Samples, profiler.Sample{PC: uint64(p.Labels["pad"]) * 16, Reason: reason, Count: 7, Latency: 5})
		for _, opt := range []blamer.Options{{}, {Plain: true}, {Exact: true}} {
			r, err := blamer.Analyze(&l, p.Module, opt)
			if err != nil {
				t.Fatalf("%v: %v", reason, err)
			}
			sum := 0.0
			for _, b := range r.Blames {
				if b.Use.Inst == p.Labels["pad"] {
					sum += b.Count
				}
			}
			if math.Abs(sum-7) > 1e-9 {
				t.Errorf("%v %+v: %g of 7 samples blamed", reason, opt, sum)
			}
		}
	}
}

// TestFunctionWithoutSamples blames in a kernel whose callee has no samples, in its section or in one of its own, and in a callee whose
// kernel has none.
func TestFunctionWithoutSamples(t *testing.T) {
	for _, c := range []struct{ name, use, load, want string }{
		{"the callee has none", "// long_scoreboard=10", "", "0:0>0:2 global_memory 10"},
		{"the caller has none", "", "// long_scoreboard=10", "0:0>1:0 global_memory 10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, `
				[B------:R-:W0:-:S01] LDG.E.SYS R8, [R2] ; // executed=10
				CALL.REL.NOINC `+"`(f)"+` ; // executed=10
				[B0-----:R-:W-:-:S01] FADD R6, R8, R5 ; `+c.use+`
				EXIT ;
				.function f device
				f: [B0-----:R-:W-:-:S01] @P0 FADD R4, R8, R9 ; `+c.load+`
				RET.REL.NODEC R20 `+"`(f)"+` ;`)
			if c.use != "" { // the wait in the callee comes first
				p.Module.Codes[0].Insts[4].Control.WaitMask = 0
			}
			p.Split()
			r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, b := range r.Blames {
				got = append(got, fmt.Sprintf("%d:%d>%d:%d %v %g", b.Def.Code, b.Def.Inst, b.Use.Code, b.Use.Inst, b.Detail, b.Count))
			}
			if len(got) != 1 || got[0] != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestHostileCounters blames with source counters that no execution gives: of pcs outside of the code, negative, and with more
// threads than lanes.
func TestHostileCounters(t *testing.T) {
	p := sasstest.New(t, `
		a: [B------:R-:W0:-:S04] LDG.E.SYS R0, [R2] ; // executed=10
		b: [B------:R-:W0:-:S04] LDG.E.SYS R1, [R10] ; // executed=10
		use: [B0-----:R-:W-:-:S01] FADD R8, R0, R1 ; // long_scoreboard=10 executed=10
		@P0 BRA `+"`(a)"+` ;
		EXIT ;`)
	for _, c := range []profiler.Counter{
		{PC: 1 << 40, Executions: 5},
		{Code: 7, PC: 0, Executions: 5},
		{PC: 0, Executions: math.MaxInt64, ThreadExecutions: math.MaxInt64, GlobalSectors: math.MaxInt64},
		{PC: 16, Executions: -3, ThreadExecutions: -90, GlobalSectors: -8, GlobalSectorsIdeal: -9},
		{PC: 32, Executions: 0, ThreadExecutions: 32},
	} {
		l := *p.Launch
		l.PCs = append(append([]profiler.Counter(nil), p.Launch.PCs...), c)
		l.Grid, l.Block = [3]int{}, [3]int{-1, 0, 1 << 40}
		r, err := blamer.Analyze(&l, p.Module, blamer.Options{})
		if err != nil {
			t.Fatalf("%+v: %v", c, err)
		}
		sum := 0.0
		for _, b := range r.Blames {
			sum += b.Count
		}
		if math.Abs(sum-10) > 1e-6 {
			t.Errorf("%+v: %g of 10 samples blamed", c, sum)
		}
	}
}

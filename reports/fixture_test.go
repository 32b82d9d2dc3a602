package reports

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares got with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// relaxModule opens testdata/relax.sm_70.cubin: kernels relax and fill, see relax.cu. NVRTC 12.9 compiled it with
// -lineinfo.
func relaxModule(t testing.TB) *cubin.File {
	t.Helper()
	raw, err := os.ReadFile("testdata/relax.sm_70.cubin")
	if err != nil {
		t.Fatal(err)
	}
	module, err := cubin.NewFile("relax.sm_70.cubin", raw)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// section returns the index of a kernel's code.
func section(t testing.TB, module *cubin.File, kernel string) int {
	t.Helper()
	for i, c := range module.Codes {
		if c.Name == kernel {
			return i
		}
	}
	t.Fatalf("no section %s", kernel)
	return 0
}

// Places in the code of relax.
const (
	pcLoad     = 0x410 // LDG.E.SYS R20, [R2]                        relax.cu:23
	pcWiden    = 0x680 // F2F.F64.F32 R14, R20, waits for the load   relax.cu:6, inlined at 23
	pcDouble   = 0x690 // DADD R14, R14, R14, waits for the F2F      relax.cu:6
	pcNarrow   = 0x6b0 // F2F.F32.F64 R19, R18                       relax.cu:6
	pcSum      = 0x6d0 // FADD R25, R19, R12, waits for the F2F      relax.cu:23
	pcBranch   = 0x810 // BRA of the loop                            relax.cu:22
	pcCall     = 0xad0 // CALL of damp                               relax.cu:24
	pcDamp     = 0xca0 // FFMA R12, R12, 0.5, R3, in damp            relax.cu:12
	pcFillLast = 0xa0  // STG.E.SYS [R2], R5, in fill                relax.cu:31
)

// relaxLaunch is a made-up profile of one launch of relax.
func relaxLaunch(code int) *profiler.Launch {
	known := func(pc uint64) profiler.Producer { return profiler.Producer{Known: true, Code: code, PC: pc} }
	return &profiler.Launch{
		Kernel: "relax", GPU: "v100", Grid: [3]int{640, 1, 1}, Block: [3]int{256, 1, 1}, Period: 64,
		Facts: profiler.Facts{
			Registers: 28, Cycles: 5175, SMActiveCycles: 52160, ClockHz: 1380e6,
			WarpInstructions: 30720, ThreadInstructions: 983040,
			SMs: 80, SchedulersPerSM: 4, MaxWarpsPerScheduler: 16, WarpsPerScheduler: 16, BlocksPerSM: 8,
			OccupancyLimit: "threads", TimingLevel: "full",
		},
		Samples: profiler.Collect([]profiler.Sample{
			{Code: code, PC: pcLoad, Reason: stall.LgThrottle, Count: 40, Latency: 25},
			{Code: code, PC: pcLoad, Reason: stall.Selected, Count: 12},
			{Code: code, PC: pcWiden, Reason: stall.LongScoreboard, Count: 300, Latency: 240, Producer: known(pcLoad)},
			{Code: code, PC: pcWiden, Reason: stall.NotSelected, Count: 9},
			{Code: code, PC: pcDouble, Reason: stall.ShortScoreboard, Count: 90, Latency: 60, Producer: known(pcWiden)},
			{Code: code, PC: pcSum, Reason: stall.ShortScoreboard, Count: 160, Latency: 120, Producer: known(pcNarrow)},
			{Code: code, PC: pcSum, Reason: stall.Wait, Count: 21, Latency: 4},
			{Code: code, PC: pcBranch, Reason: stall.Selected, Count: 70},
			{Code: code, PC: pcBranch, Reason: stall.BranchResolving, Count: 25, Latency: 15},
			{Code: code, PC: pcDamp, Reason: stall.ShortScoreboard, Count: 88, Latency: 41},
		}),
		PCs: []profiler.Counter{
			{Code: code, PC: pcLoad, Executions: 10240, ThreadExecutions: 327680},
			{Code: code, PC: pcSum, Executions: 20480, ThreadExecutions: 655360},
		},
	}
}

// fillLaunch is a made-up profile of one launch of fill, sampled at another period.
func fillLaunch(code int) *profiler.Launch {
	return &profiler.Launch{
		Kernel: "fill", GPU: "v100", Grid: [3]int{40, 1, 1}, Block: [3]int{128, 1, 1}, Period: 32,
		Facts: profiler.Facts{Registers: 8, Cycles: 900, ClockHz: 1380e6, TimingLevel: "full"},
		Samples: []profiler.Sample{
			{Code: code, PC: pcFillLast, Reason: stall.Selected, Count: 5},
			{Code: code, PC: pcFillLast, Reason: stall.Wait, Count: 15, Latency: 15},
		},
	}
}

// node names the instruction at a pc.
func node(code int, pc uint64) blamer.Node {
	return blamer.Node{Code: code, Inst: int(pc / sass.InstSize)}
}

// relaxResult is a made-up result: both kernels, blame and advice for relax.
func relaxResult(t testing.TB) *Result {
	t.Helper()
	module := relaxModule(t)
	code := section(t, module, "relax")
	p := &profiler.Profile{
		Modules:  []*cubin.File{module},
		Launches: []*profiler.Launch{relaxLaunch(code), fillLaunch(section(t, module, "fill"))},
	}
	if err := profiler.Check(p); err != nil {
		t.Fatal(err)
	}
	return &Result{
		Profile: p,
		Launches: []LaunchResult{
			{Blame: relaxBlame(code, module, p.Launches[0]), Advice: relaxAdvice(code), Seconds: 0.25},
			{Seconds: 0.125},
		},
		Checks: []Check{{Buffer: "out", OK: true}},
	}
}

func relaxBlame(code int, module *cubin.File, l *profiler.Launch) *blamer.Result {
	return &blamer.Result{
		Launch: l, Module: module,
		Blames: []blamer.Blame{
			{
				Def: node(code, pcLoad), Use: node(code, pcWiden), Class: stall.MemoryDependency,
				Detail: blamer.GlobalMemory, Count: 300, Latency: 240, Distance: 39,
			},
			{
				Def: node(code, pcNarrow), Use: node(code, pcSum), Class: stall.ExecutionDependency,
				Detail: blamer.Arithmetic, Count: 160.5, Latency: 120, Distance: 2,
			},
			{
				Def: node(code, pcWiden), Use: node(code, pcDouble), Class: stall.ExecutionDependency,
				Detail: blamer.Arithmetic, Count: 89.75, Latency: 60, Distance: 1,
			},
		},
		SingleDependencyBefore: 0.6, SingleDependencyAfter: 0.9,
		Agreement: 0.97, AgreementPlain: 1.0 / 3, HasAgreement: true,
	}
}

func relaxAdvice(code int) []advisor.Advice {
	loop := advisor.Scope{
		Kind: advisor.LoopScope, Code: code, Frame: cubin.Frame{Function: "relax", File: "relax.cu", Line: 22},
	}
	return []advisor.Advice{
		{
			Optimizer: "strength-reduction", Class: advisor.StallElimination, Speedup: 1.4430894308943,
			Match: &advisor.Match{
				Scope: advisor.Scope{Kind: advisor.FunctionScope, Code: code, Frame: loop.Frame}, Samples: 250.25, Latency: 180,
				Suggestions: []string{
					"relax.cu:6: conversion between float and double. A constant such as 2.0 is double and makes the whole " +
						"expression double: write 2.0f.",
				},
				Hotspots: []advisor.Hotspot{
					{Def: node(code, pcNarrow), Use: node(code, pcSum), Distance: 2, Samples: 160.5, Share: 160.5 / 815},
					{Def: node(code, pcWiden), Use: node(code, pcDouble), Distance: 1, Samples: 89.75, Share: 89.75 / 815},
				},
			},
		},
		{
			Optimizer: "code-reordering", Class: advisor.LatencyHiding, Speedup: 1.21, Overlaps: []string{"loop-unrolling"},
			Match: &advisor.Match{
				Scope: loop, Samples: 300, Latency: 240,
				Suggestions: []string{"Load in[] for the next round before this round's value is used.", "Prefetch.", "Never shown."},
				Hotspots:    []advisor.Hotspot{{Def: node(code, pcLoad), Use: node(code, pcWiden), Distance: 39, Samples: 300, Share: 300.0 / 815}},
			},
		},
		{
			Optimizer: "loop-unrolling", Class: advisor.LatencyHiding, Speedup: 1.21,
			Match: &advisor.Match{
				Scope: loop, Samples: 300, Latency: 240, Suggestions: []string{"Unroll the loop: #pragma unroll 8."},
				Hotspots: []advisor.Hotspot{{Def: node(code, pcLoad), Use: node(code, pcLoad), Samples: 40, Share: 40.0 / 815}},
			},
		},
		{
			Optimizer: "block-increase", Class: advisor.Parallel, Speedup: 1.05,
			Match: &advisor.Match{Scope: advisor.Scope{Kind: advisor.KernelScope, Code: code}},
		},
	}
}

// relaxSource gives the text of relax.cu.
func relaxSource(file string) []byte {
	if file != "relax.cu" {
		return nil
	}
	text, err := os.ReadFile("testdata/relax.cu")
	if err != nil {
		return nil
	}
	return bytes.TrimSpace(text)
}

package sampler

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/mem"
	"gpa/emu/stall"
	"gpa/profiler"
)

func TestLaunch(t *testing.T) {
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	facts := &emu.LaunchFacts{
		Kernel: &cubin.Kernel{Name: "_Z4axpyv", Registers: 24, SharedStatic: 128},
		Model:  model, Grid: [3]int{640, 1, 1}, Block: [3]int{256, 1, 1},
		Occupancy: arch.Occupancy{BlocksPerSM: 8, WarpsPerScheduler: 16, Limit: arch.LimitThreads},
	}
	run := &Run{
		Facts: facts, Module: 1, SharedDynamic: 64, LocalBytes: 16, Cycles: 96, SMActiveCycles: 96, WarpInstructions: 5,
		Traffic:            mem.Traffic{L2: 9, DRAMRead: 5, DRAMWritten: 2},
		ThreadInstructions: 160, TimingLevel: "full", Extrapolated: true, ErrorBound: 0.05,
		PCs: []profiler.Counter{{PC: 16, Executions: 5, ThreadExecutions: 160}}, Fault: &profiler.Fault{Kind: "misaligned"},
	}
	want := &profiler.Launch{
		Kernel: "_Z4axpyv", Module: 1, GPU: "v100", Grid: [3]int{640, 1, 1}, Block: [3]int{256, 1, 1}, Period: 32,
		PCs: run.PCs, Fault: run.Fault, Samples: []profiler.Sample{{Reason: stall.Wait, Count: 3, Latency: 3}},
		Facts: profiler.Facts{
			Registers: 24, SharedStatic: 128, SharedDynamic: 64, LocalBytes: 16, Cycles: 96, SMActiveCycles: 96,
			L2Bytes: 288, DRAMReadBytes: 160, DRAMWrittenBytes: 64, DRAMPeak: facts.Model.DRAM.Peak.Value, ClockHz: 1380e6, WarpInstructions: 5, ThreadInstructions: 160, SMs: 80, SchedulersPerSM: 4,
			MaxWarpsPerScheduler: 16, WarpsPerScheduler: 16, OccupancyLimit: "threads", BlocksPerSM: 8,
			TimingLevel: "full", Extrapolated: true, ErrorBound: 0.05,
		},
	}
	s := newSampler(t, Options{Period: 32})
	s.Begin(facts)
	for cycle := int64(32); cycle <= 96; cycle += 32 {
		s.Sample(waiting(1, 1, 1, 1), cycle)
	}
	if diff := cmp.Diff(want, s.Launch(run)); diff != "" {
		t.Errorf("launch (-want +got):\n%s", diff)
	}
	want.Samples, want.Period = nil, 0
	if diff := cmp.Diff(want, Unsampled(run)); diff != "" {
		t.Errorf("launch without timing (-want +got):\n%s", diff)
	}
}

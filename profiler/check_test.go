package profiler

import (
	"math"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// module returns a file with one kernel k of four instructions.
func module() *cubin.File {
	code := &cubin.Code{Name: "k", Insts: make([]sass.Inst, 4)}
	for i := range code.Insts {
		code.Insts[i].PC = uint64(i) * sass.InstSize
	}
	return &cubin.File{Name: "k.cubin", Codes: []*cubin.Code{code}, Kernels: []*cubin.Kernel{{Name: "k", Code: code}}}
}

// sound returns a profile without fault.
func sound() *Profile {
	return &Profile{
		Modules: []*cubin.File{module()},
		Launches: []*Launch{{
			Kernel: "k", GPU: "v100", Grid: [3]int{2, 1, 1}, Block: [3]int{64, 1, 1}, Period: 32,
			Facts: Facts{Cycles: 80, SMActiveCycles: 160, SMs: 2, WarpInstructions: 12, ThreadInstructions: 300},
			Samples: []Sample{
				{PC: 16, Reason: stall.Selected, Count: 2},
				{PC: 32, Reason: stall.Wait, Count: 3, Latency: 1, Producer: Producer{Known: true, PC: 16}},
			},
			PCs: []Counter{
				{PC: 16, Executions: 8, ThreadExecutions: 200}, {PC: 32, Executions: 4, ThreadExecutions: 100},
			},
		}},
	}
}

func TestCheck(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(*Profile, *Launch)
		want  string // in the error; empty for none
	}{
		{"sound", func(*Profile, *Launch) {}, ""},
		{"no such module", func(_ *Profile, l *Launch) { l.Module = 1 }, "no module 1"},
		{"negative module", func(_ *Profile, l *Launch) { l.Module = -1 }, "no module -1"},
		{"no such kernel", func(_ *Profile, l *Launch) { l.Kernel = "j" }, `no kernel "j"`},
		{"grid of 0", func(_ *Profile, l *Launch) { l.Grid[1] = 0 }, "must be positive"},
		{"negative cycles", func(_ *Profile, l *Launch) { l.Facts.Cycles = -1 }, "cycles: -1 is negative"},
		{"clock not a number", func(_ *Profile, l *Launch) { l.Facts.ClockHz = math.NaN() }, "must be finite"},
		{"no such reason", func(_ *Profile, l *Launch) { l.Samples[0].Reason = 200 }, "unknown stall reason 200"},
		{"no count", func(_ *Profile, l *Launch) { l.Samples[0].Count = 0 }, "count 0 is not positive"},
		{"more latency samples than samples", func(_ *Profile, l *Launch) { l.Samples[1].Latency = 4 }, "4 of 3"},
		{"issued in a latency sample", func(_ *Profile, l *Launch) { l.Samples[0].Latency = 1 }, "cannot issue"},
		{"between instructions", func(_ *Profile, l *Launch) { l.Samples[0].PC = 8 }, "no instruction at 0x8"},
		{"past the end", func(_ *Profile, l *Launch) { l.Samples[1].PC = 64 }, "no instruction at 0x40"},
		{"no such section", func(_ *Profile, l *Launch) { l.Samples[1].Code = 1 }, "no code section 1"},
		{"producer past the end", func(_ *Profile, l *Launch) { l.Samples[1].Producer.PC = 64 }, "producer"},
		{"out of order", func(_ *Profile, l *Launch) { l.Samples[1].PC = 0 }, "out of order"},
		{"twice", func(_ *Profile, l *Launch) { l.Samples[1] = l.Samples[0] }, "out of order or there twice"},
		{"negative counter", func(_ *Profile, l *Launch) { l.PCs[0].BranchTaken = -1 }, "-1 is negative"},
		{"too many threads", func(_ *Profile, l *Launch) { l.PCs[0].ThreadExecutions = 257 }, "too many for 8"},
		{"counters out of order", func(_ *Profile, l *Launch) { l.PCs[1].PC = 0 }, "counter 1: out of order"},
		{"fault outside of the code", func(_ *Profile, l *Launch) { l.Fault = &Fault{PC: 1 << 40} }, ""},
		{"fault in no section", func(_ *Profile, l *Launch) { l.Fault = &Fault{Code: 2} }, "no code section 2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := sound()
			c.spoil(p, p.Launches[0])
			err := Check(p)
			if c.want == "" {
				if err != nil {
					t.Errorf("unexpected error: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestCheckSampling(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(*Launch)
		want  string
	}{
		{"obeyed", func(*Launch) {}, ""},
		{"within a sample an SM", func(l *Launch) { l.Facts.SMActiveCycles = 7 * 32 }, ""},
		{"too few samples", func(l *Launch) { l.Facts.SMActiveCycles = 100 * 32 }, "5 samples where 3200 active cycles"},
		{"lost executions", func(l *Launch) { l.Facts.WarpInstructions = 13 }, "12 times together"},
		{"lost threads", func(l *Launch) { l.Facts.ThreadInstructions = 301 }, "300 instructions together"},
		{"no counters", func(l *Launch) { l.PCs, l.Facts.WarpInstructions = nil, 99 }, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := sound().Launches[0]
			c.spoil(l)
			err := l.CheckSampling(0)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

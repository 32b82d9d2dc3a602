package launch

import (
	"context"
	"path/filepath"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
)

// rooflines holds that a launch does nothing faster than the hardware can: what it did of something is at most what fits into its
// cycles, or into those in which SMs were active.
func (l *launchLaws) rooflines() {
	r := l.result
	if r.TimedBlocks > 0 {
		return // what is counted there is of all blocks, the cycles of the others are extrapolated
	}
	m := r.Facts.Model
	cycles, active := float64(r.Cycles), float64(r.SMActiveCycles)
	const sector = 32
	for _, roof := range []struct {
		name       string
		done, most float64
	}{
		{"instructions issued", float64(r.WarpInstructions), active * m.Limits.Schedulers.Value},
		{"active cycles", active, cycles * m.SMs.Value},
		{"bytes of DRAM", float64(r.Traffic.DRAMRead+r.Traffic.DRAMWritten) * sector, cycles * m.DRAM.Peak.Value / m.Clock.Value},
		{"bytes of L2", float64(r.Traffic.L2) * sector, cycles * m.L2.Slices.Value * m.L2.SliceWidth.Value},
		{"bytes from L2 to the SMs", float64(r.Traffic.L2) * sector, active * max(m.L2.PortWidth.Value, m.L2.ReplyWidth.Value)},
		{"passes through the LSU", l.passes(), active / m.Queues.LSU.Value},
	} {
		if roof.done > roof.most {
			l.Errorf("%s: %.0f, of which %.0f fit into %d cycles", roof.name, roof.done, roof.most, r.Cycles)
		}
	}
	l.pipes(active)
}

// passes returns the passes through the LSU that the accesses take at least: those of shared memory, and of L1 one for 128 bytes.
func (l *launchLaws) passes() (passes float64) {
	const sectors = 4
	for i := range l.result.Counters {
		c := &l.result.Counters[i]
		passes += float64(c.SharedWavefronts) + float64(c.GlobalSectorsIdeal)/sectors
	}
	return passes
}

// modelPipes holds the pipes of the instruction table that a GPU model has a figure for.
var modelPipes = map[sass.Pipe]arch.PipeName{
	sass.PipeALU: arch.ALU, sass.PipeFMA: arch.FMA, sass.PipeFP16: arch.FP16, sass.PipeFP64: arch.FP64, sass.PipeXU: arch.XU,
}

// pipes holds that no pipe took more instructions than its interval allows.
func (l *launchLaws) pipes(active float64) {
	m := l.result.Facts.Model
	var busy [arch.NumPipes]float64
	for i := range l.result.Counters {
		c := &l.result.Counters[i]
		in := &l.module.Codes[c.Code].Insts[c.PC/sass.InstSize]
		if in.Form == nil {
			continue
		}
		if name, ok := modelPipes[in.Form.Pipe]; ok {
			busy[name] += float64(c.Executions) * m.Pipes[name].Interval.Value
		}
	}
	for name, cycles := range busy {
		if most := active * m.Limits.Schedulers.Value; cycles > most {
			l.Errorf("pipe %v: busy for %.0f cycles, sub-cores were active for %.0f", arch.PipeName(name), cycles, most)
		}
	}
}

// TestWorseHardwareIsNotFaster makes one figure of the GPU model worse at a time: a kernel then takes at least as long, but for what
// another order of its warps may gain, 2 %.
func TestWorseHardwareIsNotFaster(t *testing.T) {
	worse := map[string]func(*arch.Model){
		"latency of L1":           func(m *arch.Model) { m.Latencies.L1.Value += 20 },
		"latency of L2":           func(m *arch.Model) { m.Latencies.L2.Value += 100; m.Latencies.DRAM.Value += 100 },
		"latency of DRAM":         func(m *arch.Model) { m.Latencies.DRAM.Value += 300 },
		"bandwidth of DRAM":       func(m *arch.Model) { m.DRAM.Achieved.Value /= 4 },
		"bandwidth of L2":         func(m *arch.Model) { m.L2.SliceWidth.Value /= 4; m.L2.ReplyWidth.Value /= 4 },
		"latency of shared":       func(m *arch.Model) { m.Latencies.Shared.Value += 20 },
		"interval of FMA and ALU": func(m *arch.Model) { m.Pipes[arch.FMA].Interval.Value *= 4; m.Pipes[arch.ALU].Interval.Value *= 4 },
		"interval of the LSU":     func(m *arch.Model) { m.Queues.LSU.Value *= 4 },
		"fetching":                func(m *arch.Model) { m.Fetch.Miss.Value += 100 },
	}
	for _, name := range []string{"basic/reduce_shared", "basic/transpose_naive", "linear/sgemm_tiled", "linear/spmv", "stencil/hotspot", "basic/scan", "applied/softmax"} {
		file := filepath.Join("../../kernels", name, "launch.yaml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			base := cyclesOn(t, file, func(*arch.Model) {})
			for what, change := range worse {
				if c := cyclesOn(t, file, change); float64(c) < .98*float64(base) {
					t.Errorf("worse %s: %d cycles instead of %d", what, c, base)
				}
			}
		})
	}
}

// cyclesOn returns the cycles of all launches of a file on a changed V100.
func cyclesOn(t *testing.T, file string, change func(*arch.Model)) (cycles int64) {
	t.Helper()
	f := parse(t, file)
	module, err := f.LoadModule(sass.SM70)
	if err != nil {
		t.Fatal(err)
	}
	named, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	model := *named
	change(&model)
	machine, err := emu.New(&model, module, emu.Options{Timing: emu.TimingFull, Heap: f.Heap})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(f, machine)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.File.Launches {
		r, err := s.Run(context.Background(), i, nil)
		if err != nil {
			t.Fatal(err)
		}
		cycles += r.Cycles
	}
	return cycles
}

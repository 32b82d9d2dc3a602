package launch

import (
	"cmp"
	"context"
	"flag"
	"path/filepath"
	"slices"
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

// wholeCorpus makes the tests that run kernels many times take all of them.
var wholeCorpus = flag.Bool("whole-corpus", false, "hold every kernel to what takes many runs of each, not some")

// worse are changes of a figure for the worse.
var worse = map[string]func(*arch.Model){
	"latency of L1":           func(m *arch.Model) { m.Latencies.L1.Value += 20 },
	"latency of L2":           func(m *arch.Model) { m.Latencies.L2.Value += 100; m.Latencies.DRAM.Value += 100 },
	"latency of DRAM":         func(m *arch.Model) { m.Latencies.DRAM.Value += 300 },
	"bandwidth of DRAM":       func(m *arch.Model) { m.DRAM.Achieved.Value /= 4 },
	"bandwidth of L2":         func(m *arch.Model) { m.L2.SliceWidth.Value /= 4; m.L2.ReplyWidth.Value /= 4 },
	"latency of shared":       func(m *arch.Model) { m.Latencies.Shared.Value += 20 },
	"interval of FMA and ALU": func(m *arch.Model) { m.Pipes[arch.FMA].Interval.Value *= 4; m.Pipes[arch.ALU].Interval.Value *= 4 },
	"interval of the LSU":     func(m *arch.Model) { m.Queues.LSU.Value *= 2 },
	"latency of S2R":          func(m *arch.Model) { m.Latencies.Special.Value += 50 },
	"misses of constants":     func(m *arch.Model) { m.Constant.Miss.Value += 100 },
	"pace of new blocks":      func(m *arch.Model) { m.Launching.Block.Value += 10 },
	"fetching":                func(m *arch.Model) { m.Fetch.Miss.Value += 100 },
}

// TestWorseHardwareIsNotFaster makes one figure of the GPU model worse at a time: a single warp then takes at least as long, and so
// does a kernel that streams through memory, but for half a percent by the order of its blocks; others do but for what another
// order of their warps may gain, 2 %. Of one kernel it gains more. A launch that executes other instructions is not compared: how
// often a loop around compare-and-swap goes round depends on time.
func TestWorseHardwareIsNotFaster(t *testing.T) {
	const every = 12 // kernels
	streams := []string{"vecadd", "saxpy", "transpose_naive"}
	ordered := map[string]float64{
		// The LSU bounds it. In some orders its warps end together, in others one is left whose loads are waited for while the LSU
		// has nothing to do: its SMs are active for 2.7 % less then although its warps are on them for 0.8 % more.
		"norms_threads": .95,
	}
	for i, file := range corpus(t) {
		kernel := filepath.Base(filepath.Dir(file))
		stream := slices.Contains(streams, kernel)
		if !builtFor(parse(t, file), sass.SM70) || !*wholeCorpus && !stream && i%every != 0 {
			continue
		}
		least := cmp.Or(ordered[kernel], .98)
		if stream {
			least = .995
		}
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			notFaster(t, file, false, least)
		})
		t.Run(kernel+"/one warp", func(t *testing.T) {
			t.Parallel()
			notFaster(t, file, true, 1)
		})
	}
}

// notFaster runs a kernel on worse and worse hardware; lone leaves its launches one warp.
func notFaster(t *testing.T, file string, lone bool, least float64) {
	t.Helper()
	base, instructions := cyclesOn(t, file, lone, func(*arch.Model) {})
	if base == 0 {
		t.Skip("faults with one warp")
	}
	const phase = 1 // of a loop of the memory path, whose turn a later access may meet
	for what, change := range worse {
		c, n := cyclesOn(t, file, lone, change)
		if n == instructions && float64(c+phase) < least*float64(base) {
			t.Errorf("worse %s: %d cycles instead of %d, %.4f of them", what, c, base, float64(c)/float64(base))
		}
	}
}

// cyclesOn returns the cycles of all launches of a file on a changed V100 and the instructions of their warps, 0 where one faults.
func cyclesOn(t *testing.T, file string, lone bool, change func(*arch.Model)) (cycles, instructions int64) {
	t.Helper()
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	change(model)
	s := openOn(t, file, model, emu.Options{Timing: emu.TimingFull})
	for i := range s.File.Launches {
		if l := &s.File.Launches[i]; lone {
			l.Grid, l.Block = [3]int{1, 1, 1}, [3]int{32, 1, 1}
		}
		r, err := s.Run(context.Background(), i, nil)
		if err != nil {
			return 0, 0
		}
		cycles, instructions = cycles+r.Cycles, instructions+r.WarpInstructions
	}
	return cycles, instructions
}

package launch

import (
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
		if !in.Known() {
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

// worse are changes of a figure for the worse, by some parts of a usual amount.
var worse = map[string]func(m *arch.Model, parts float64){
	"latency of L1": func(m *arch.Model, parts float64) { m.Latencies.L1.Value += 20 * parts },
	"latency of L2": func(m *arch.Model, parts float64) {
		m.Latencies.L2.Value += 100 * parts
		m.Latencies.DRAM.Value += 100 * parts
	},
	"latency of DRAM":   func(m *arch.Model, parts float64) { m.Latencies.DRAM.Value += 300 * parts },
	"bandwidth of DRAM": func(m *arch.Model, parts float64) { m.DRAM.Achieved.Value /= 1 + 3*parts },
	"bandwidth of L2": func(m *arch.Model, parts float64) {
		m.L2.SliceWidth.Value /= 1 + 3*parts
		m.L2.ReplyWidth.Value /= 1 + 3*parts
	},
	"latency of shared": func(m *arch.Model, parts float64) { m.Latencies.Shared.Value += 20 * parts },
	"interval of FMA and ALU": func(m *arch.Model, parts float64) {
		m.Pipes[arch.FMA].Interval.Value *= 1 + 3*parts
		m.Pipes[arch.ALU].Interval.Value *= 1 + 3*parts
	},
	"interval of the LSU": func(m *arch.Model, parts float64) { m.Queues.LSU.Value *= 1 + parts },
	"latency of S2R":      func(m *arch.Model, parts float64) { m.Latencies.Special.Value += 50 * parts },
	"misses of constants": func(m *arch.Model, parts float64) { m.Constant.Miss.Value += 100 * parts },
	"pace of new blocks":  func(m *arch.Model, parts float64) { m.Launching.Block.Value += 10 * parts },
	"fetching":            func(m *arch.Model, parts float64) { m.Fetch.Miss.Value += 100 * parts },
}

// amounts are by how much a figure is made worse around the usual amount.
var amounts = []float64{.5, .75, 1.25, 1.5}

// tolerance is the part of its cycles that a launch may gain by another order of its warps or blocks.
const tolerance = .02

// TestWorseHardwareIsNotFaster makes one figure of the GPU model worse at a time: a single warp then takes at least as long, and so
// does a kernel that streams through memory, but for half a percent by the order of its blocks; others do but for what another
// order of their warps may gain, 2 %.
//
// The order in which a list of work is taken can be a lucky one with one figure and an unlucky one with the next (Graham, Bounds on
// Multiprocessing Timing Anomalies, 1969): of norms_threads, which the LSU bounds, a warp is left over at the end with most
// latencies of L1, with those of 44 to 50 cycles all end together. Where a launch gains more than 2 %, its figure is made worse by
// less and by more, too, and the mean of these runs counts. A launch that executes other instructions is not compared: how often a
// loop around compare-and-swap goes round depends on time.
func TestWorseHardwareIsNotFaster(t *testing.T) {
	const every = 24 // kernels
	streams := []string{"vecadd", "saxpy", "transpose_naive"}
	always := []string{"norms_threads"}
	for i, file := range corpus(t) {
		kernel := filepath.Base(filepath.Dir(file))
		stream := slices.Contains(streams, kernel)
		if !builtFor(parse(t, file), sass.SM70) || !*wholeCorpus && !stream && i%every != 0 && !slices.Contains(always, kernel) {
			continue
		}
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			h := hardware{file: file, least: 1 - tolerance, mean: true}
			if stream {
				h.least, h.mean = .995, false
			}
			h.notFaster(t)
		})
		t.Run(kernel+"/one warp", func(t *testing.T) {
			t.Parallel()
			(&hardware{file: file, lone: true, least: 1}).notFaster(t)
		})
	}
}

// TestBetterHardwareIsFound is the control of [TestWorseHardwareIsNotFaster]: were a latency that is made worse in truth made better, it
// would be found.
func TestBetterHardwareIsFound(t *testing.T) {
	h := hardware{file: "../../kernels/applied/embedding_bag/launch.yaml", least: 1 - tolerance, mean: true}
	h.cycles, h.instructions = h.run(t, func(*arch.Model) {})
	sooner := func(m *arch.Model, parts float64) { worse["latency of DRAM"](m, -parts/4) }
	if ratio := h.ratio(t, sooner); ratio >= h.least {
		t.Errorf("with a DRAM 75 cycles sooner it takes %.4f of its cycles, which is not found", ratio)
	}
}

// A hardware test holds the launches of a file on a GPU of the figures of the V100 to those on a worse one.
type hardware struct {
	file  string
	lone  bool    // the launches have one warp
	least float64 // part of its cycles that it takes on worse hardware
	mean  bool    // of several amounts, where it takes less with one

	cycles, instructions int64 // on the V100
}

// notFaster runs the launches on worse and worse hardware.
func (h *hardware) notFaster(t *testing.T) {
	if h.cycles, h.instructions = h.run(t, func(*arch.Model) {}); h.cycles == 0 {
		t.Skip("faults with one warp")
	}
	for what, change := range worse {
		if ratio := h.ratio(t, change); ratio < h.least {
			t.Errorf("worse %s: %.4f of %d cycles", what, ratio, h.cycles)
		}
	}
}

// ratio returns the cycles on worse hardware over those on the V100, 1 at least where other instructions are executed.
func (h *hardware) ratio(t *testing.T, change func(*arch.Model, float64)) float64 {
	t.Helper()
	usual := h.ratioBy(t, change, 1)
	if usual >= h.least || !h.mean {
		return usual
	}
	sum := usual
	for _, parts := range amounts {
		sum += h.ratioBy(t, change, parts)
	}
	return sum / float64(1+len(amounts))
}

// ratioBy returns the same for one amount.
func (h *hardware) ratioBy(t *testing.T, change func(*arch.Model, float64), parts float64) float64 {
	t.Helper()
	const phase = 4 // cycles in which an address unit takes its next access, whose turn a later one may meet
	c, n := h.run(t, func(m *arch.Model) { change(m, parts) })
	if n != h.instructions {
		return 1
	}
	return float64(c+phase) / float64(h.cycles)
}

// run returns the cycles of all launches on a changed V100 and the instructions of their warps, 0 where one faults.
func (h *hardware) run(t *testing.T, change func(*arch.Model)) (cycles, instructions int64) {
	t.Helper()
	model, err := arch.ByName("v100")
	if err != nil {
		t.Fatal(err)
	}
	change(model)
	s := openOn(t, h.file, model, emu.Options{Timing: emu.TimingFull})
	for i := range s.File.Launches {
		if l := &s.File.Launches[i]; h.lone {
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

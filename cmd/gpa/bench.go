package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/record"
	"gpa/kernels"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// benchFlags are the flags of gpa bench.
type benchFlags struct {
	repeat  int
	workers int
	json    bool
}

// A benchResult is what gpa bench --json prints.
type benchResult struct {
	Machine benchMachine  `json:"machine"`
	Kernels []benchKernel `json:"kernels"`
	Median  benchSpeed    `json:"median"`
	// Workers is the number of processors that Speedup is with, 0 where that was not asked for.
	Workers int     `json:"workers,omitempty"`
	Speedup float64 `json:"speedup,omitempty"` // the median over the kernels
	Memory  uint64  `json:"memory_bytes"`      // that the process has taken from the system by the end
}

// A benchMachine is what the speeds were measured on.
type benchMachine struct {
	CPU  string `json:"cpu,omitempty"` // where the system tells
	OS   string `json:"os"`
	Arch string `json:"arch"`
	Go   string `json:"go"`
}

// A benchKernel holds the speeds of all launches of one kernel.
type benchKernel struct {
	Name             string     `json:"name"`
	WarpInstructions int64      `json:"warp_instructions"`
	Speed            benchSpeed `json:"speed"`
	Seconds          float64    `json:"seconds"` // of processor time of all launches with full timing, in the fastest run
	// Speedup is the time by the clock of the fastest run on one processor to that on Workers, with full timing and samples.
	Speedup float64 `json:"speedup,omitempty"`
}

// A benchSpeed holds warp instructions per second of processor time at each level of timing, with samples taken where there
// is timing.
type benchSpeed struct {
	Full float64 `json:"full"`
	Fast float64 `json:"fast"`
	None float64 `json:"none"`
}

func benchCommand() command {
	return command{
		name: "bench", args: "[KERNEL ...]", short: "measure how fast the emulated GPU runs on this machine",
		long: `Every KERNEL, by default ` + fmt.Sprint(len(kernels.Benchmarks())) + ` of gpa's own (each the one of its suite that executes the most warp instructions, and naive ones whose accesses touch many lines), runs at
every level of timing on one core of this machine: full and fast with samples taken, none without. What is printed is warp instructions per second of processor time in the launches, the set-up of
each launch included, of the fastest of --repeat runs. The last line is the median over the kernels, and below the table
is the kernel that takes longest with full timing. With --workers N a column tells how many times as fast by the clock full timing
is with N workers as with one; runs with one and with N take turns.`,
		setup: func(flags *pflag.FlagSet) action {
			var f benchFlags
			flags.IntVar(&f.repeat, "repeat", 3, "run everything `N` times and take the fastest")
			flags.IntVar(&f.workers, "workers", 0, "also run with `N` workers, and tell the speedup")
			flags.BoolVar(&f.json, "json", false, "print JSON")
			return f.run
		},
	}
}

func (f *benchFlags) run(ctx context.Context, e *env, args []string) error {
	if f.repeat < 1 {
		return usagef("--repeat: %d is less than 1", f.repeat)
	}
	if f.workers < 0 || f.workers == 1 {
		return usagef("--workers: %d workers are not to be compared with one", f.workers)
	}
	if len(args) == 0 {
		args = kernels.Benchmarks()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	out := benchResult{Workers: f.workers, Machine: benchMachine{CPU: cpuName(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}}
	for _, name := range args {
		end := e.progress.stage("%s", name)
		k, err := f.kernel(ctx, name)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out.Kernels = append(out.Kernels, k)
	}
	out.Median = medianSpeed(out.Kernels)
	if f.workers > 0 {
		out.Speedup = median(out.Kernels, func(k *benchKernel) float64 { return k.Speedup })
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	out.Memory = memory.Sys
	if f.json {
		return reports.WriteJSON(e.stdout, out)
	}
	return out.print(e)
}

// kernel measures one kernel at every level.
func (f *benchFlags) kernel(ctx context.Context, name string) (benchKernel, error) {
	k := benchKernel{Name: name}
	for _, level := range []struct {
		timing emu.TimingLevel
		speed  *float64
	}{{emu.TimingFull, &k.Speed.Full}, {emu.TimingFast, &k.Speed.Fast}, {emu.TimingNone, &k.Speed.None}} {
		for range f.repeat {
			instructions, took, err := benchOnce(ctx, name, level.timing, cpuTime, 0)
			if err != nil {
				return k, err
			}
			k.WarpInstructions = instructions
			*level.speed = max(*level.speed, float64(instructions)/took.Seconds())
			if level.timing == emu.TimingFull && (k.Seconds == 0 || took.Seconds() < k.Seconds) {
				k.Seconds = took.Seconds()
			}
		}
	}
	if f.workers > 0 {
		return k, f.speedup(ctx, &k)
	}
	return k, nil
}

// speedup runs the kernel with one worker and with several in turns.
func (f *benchFlags) speedup(ctx context.Context, k *benchKernel) error {
	var fastest [2]time.Duration
	for range f.repeat {
		for i, workers := range [...]int{1, f.workers} {
			before := runtime.GOMAXPROCS(workers)
			_, took, err := benchOnce(ctx, k.Name, emu.TimingFull, wallTime, workers)
			runtime.GOMAXPROCS(before)
			if err != nil {
				return err
			}
			if fastest[i] == 0 || took < fastest[i] {
				fastest[i] = took
			}
		}
	}
	k.Speedup = fastest[0].Seconds() / fastest[1].Seconds()
	return nil
}

// benchOnce runs all launches of a kernel and returns their warp instructions and their time by a clock. 0 workers are as many as
// there are processors.
func benchOnce(ctx context.Context, name string, level emu.TimingLevel, clock func() time.Duration, workers int) (instructions int64, took time.Duration, err error) {
	t, err := gpa.Load(name, gpa.LoadOptions{})
	if err != nil {
		return 0, 0, err
	}
	s, err := t.Session(level, gpa.Options{Workers: workers})
	if err != nil {
		return 0, 0, err
	}
	var o emu.Observer
	if level != emu.TimingNone {
		if o, err = sampler.New(sampler.Options{}); err != nil {
			return 0, 0, err
		}
	}
	runtime.GC() // what was set up before is not to be paid for during the launches
	for i := range t.File.Launches {
		for range t.File.Launches[i].Repeat {
			s.Recorder = new(record.Recorder)
			start := clock()
			result, err := s.Run(ctx, i, o)
			took += clock() - start
			var fault *emu.Fault
			if errors.As(err, &fault) {
				err = failure{fmt.Errorf("kernel %s: %s", result.Facts.Kernel.Name, fault.Kind)}
			}
			if err != nil {
				return 0, 0, err
			}
			instructions += result.WarpInstructions
		}
	}
	return instructions, max(took, 1), expected(s)
}

// expected is the error of a session whose outputs are not as the launch file expects.
func expected(s *launch.Session) error {
	checks, err := s.Check()
	if err != nil {
		return err
	}
	wrong := 0
	for i := range checks {
		if !checks[i].OK() {
			wrong++
		}
	}
	if wrong > 0 {
		return failure{fmt.Errorf("%d of %d outputs are not as expected", wrong, len(checks))}
	}
	return nil
}

// wallTime is the time by the clock since some moment.
func wallTime() time.Duration { return time.Since(processStart) }

var processStart = time.Now()

// medianSpeed returns the median of each level by itself.
func medianSpeed(list []benchKernel) benchSpeed {
	return benchSpeed{
		Full: median(list, func(k *benchKernel) float64 { return k.Speed.Full }),
		Fast: median(list, func(k *benchKernel) float64 { return k.Speed.Fast }),
		None: median(list, func(k *benchKernel) float64 { return k.Speed.None }),
	}
}

// median returns the median of a figure of the kernels.
func median(list []benchKernel, of func(*benchKernel) float64) float64 {
	figures := make([]float64, len(list))
	for i := range list {
		figures[i] = of(&list[i])
	}
	slices.Sort(figures)
	n := len(figures)
	return (figures[(n-1)/2] + figures[n/2]) / 2
}

func (r *benchResult) print(e *env) error {
	cpu := r.Machine.CPU
	if cpu == "" {
		cpu = "one core"
	}
	if _, err := fmt.Fprintf(e.stdout, "%s, %s/%s, %s; million warp instructions per second on one core\n\n",
		cpu, r.Machine.OS, r.Machine.Arch, r.Machine.Go); err != nil {
		return err
	}
	t := reports.Table{Columns: []reports.Column{
		{Title: "kernel"}, {Title: "warp instructions", Right: true}, {Title: "full", Right: true}, {Title: "fast", Right: true}, {Title: "none", Right: true},
	}}
	if r.Workers > 0 {
		t.Columns = append(t.Columns, reports.Column{Title: fmt.Sprintf("%d workers", r.Workers), Right: true})
	}
	add := func(name, instructions string, s *benchSpeed, speedup float64) {
		cells := []string{name, instructions, millions(s.Full), millions(s.Fast), millions(s.None)}
		if r.Workers > 0 {
			cells = append(cells, strconv.FormatFloat(speedup, 'f', 2, 64)+"x")
		}
		t.Add(cells...)
	}
	for i := range r.Kernels {
		k := &r.Kernels[i]
		add(k.Name, strconv.FormatInt(k.WarpInstructions, 10), &k.Speed, k.Speedup)
	}
	add("median", "", &r.Median, r.Speedup)
	if err := e.table(e.stdout, &t); err != nil {
		return err
	}
	slowest := slices.MaxFunc(r.Kernels, func(a, b benchKernel) int { return cmp.Compare(a.Seconds, b.Seconds) })
	const mebibyte = 1 << 20
	_, err := fmt.Fprintf(e.stdout, "\nslowest with full timing: %s, %.2f s\nmemory: %d MiB\n", slowest.Name, slowest.Seconds, r.Memory/mebibyte)
	return err
}

func millions(perSecond float64) string { return strconv.FormatFloat(perSecond/1e6, 'f', 2, 64) }

// cpuName returns what Linux calls the processor, empty elsewhere.
func cpuName() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range bytes.Lines(info) {
		if key, value, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(key)) == "model name" {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// Package speed measures how fast the emulator runs on this machine: warp instructions per second of processor time, at every level of timing.
package speed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"gpa"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/emu/record"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// Options say what is measured.
type Options struct {
	Repeat  int                              // every kernel runs so many times at every level, and the fastest run counts; at least 1
	Workers int                              // how much faster kernels are with so many workers is measured too; 0 for not
	Stage   func(kernel string) (end func()) // is called before a kernel is measured, nil for nobody
}

// A Report holds the speeds of kernels; it is what gpa bench --json prints.
type Report struct {
	Machine Machine  `json:"machine"`
	Kernels []Kernel `json:"kernels"`
	Median  Speed    `json:"median"`
	// Workers is the number of processors that Speedup is with, 0 where that was not asked for.
	Workers int     `json:"workers,omitempty"`
	Speedup float64 `json:"speedup,omitempty"` // the median over the kernels
	Memory  uint64  `json:"memory_bytes"`      // that the process has taken from the system by the end
}

// A Machine is what the speeds were measured on.
type Machine struct {
	CPU  string `json:"cpu,omitempty"` // where the system tells
	OS   string `json:"os"`
	Arch string `json:"arch"`
	Go   string `json:"go"`
}

// A Kernel holds the speeds of all launches of one kernel.
type Kernel struct {
	Name             string  `json:"name"`
	WarpInstructions int64   `json:"warp_instructions"`
	Speed            Speed   `json:"speed"`
	Seconds          float64 `json:"seconds"` // of processor time of all launches with full timing, in the fastest run
	// Speedup is the time by the clock of the fastest run on one processor to that on Workers, with full timing and samples.
	Speedup float64 `json:"speedup,omitempty"`
}

// A Speed holds warp instructions per second of processor time at each level of timing, with samples taken where there
// is timing.
type Speed struct {
	Full float64 `json:"full"`
	Fast float64 `json:"fast"`
	None float64 `json:"none"`
}

// Measure runs kernels, as [gpa.Load] finds them, on one processor. A kernel that faults, or whose outputs are not as expected, is a [*Failure].
func Measure(ctx context.Context, names []string, o Options) (*Report, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	out := &Report{Workers: o.Workers, Machine: Machine{CPU: cpuName(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}}
	for _, name := range names {
		end := func() {}
		if o.Stage != nil {
			end = o.Stage(name)
		}
		k, err := o.kernel(ctx, name)
		end()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out.Kernels = append(out.Kernels, k)
	}
	out.Median = medianSpeed(out.Kernels)
	if o.Workers > 0 {
		out.Speedup = median(out.Kernels, func(k *Kernel) float64 { return k.Speedup })
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	out.Memory = memory.Sys
	return out, nil
}

// A Failure is of a kernel that did not do what it should.
type Failure struct{ text string }

// Error is one line.
func (f *Failure) Error() string { return f.text }

// kernel measures one kernel at every level.
func (o *Options) kernel(ctx context.Context, name string) (Kernel, error) {
	k := Kernel{Name: name}
	for _, level := range []struct {
		timing emu.TimingLevel
		speed  *float64
	}{{emu.TimingFull, &k.Speed.Full}, {emu.TimingFast, &k.Speed.Fast}, {emu.TimingNone, &k.Speed.None}} {
		for range o.Repeat {
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
	if o.Workers > 0 {
		return k, o.speedup(ctx, &k)
	}
	return k, nil
}

// speedup runs the kernel with one worker and with several in turns.
func (o *Options) speedup(ctx context.Context, k *Kernel) error {
	var fastest [2]time.Duration
	for range o.Repeat {
		for i, workers := range [...]int{1, o.Workers} {
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
	s, err := t.Session(ctx, level, gpa.Options{Workers: workers})
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
				err = &Failure{fmt.Sprintf("kernel %s: %s", result.Facts.Kernel.Name, fault.Kind)}
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
		return &Failure{fmt.Sprintf("%d of %d outputs are not as expected", wrong, len(checks))}
	}
	return nil
}

// wallTime is the time by the clock since some moment.
func wallTime() time.Duration { return time.Since(processStart) }

var processStart = time.Now()

// medianSpeed returns the median of each level by itself.
func medianSpeed(list []Kernel) Speed {
	return Speed{
		Full: median(list, func(k *Kernel) float64 { return k.Speed.Full }),
		Fast: median(list, func(k *Kernel) float64 { return k.Speed.Fast }),
		None: median(list, func(k *Kernel) float64 { return k.Speed.None }),
	}
}

// median returns the median of a figure of the kernels.
func median(list []Kernel, of func(*Kernel) float64) float64 {
	figures := make([]float64, len(list))
	for i := range list {
		figures[i] = of(&list[i])
	}
	slices.Sort(figures)
	n := len(figures)
	return (figures[(n-1)/2] + figures[n/2]) / 2
}

// Text prints the speeds.
func (r *Report) Text(w io.Writer, style reports.Style) error {
	cpu := r.Machine.CPU
	if cpu == "" {
		cpu = "one core"
	}
	if _, err := fmt.Fprintf(w, "%s, %s/%s, %s; million warp instructions per second on one core\n\n",
		cpu, r.Machine.OS, r.Machine.Arch, r.Machine.Go); err != nil {
		return err
	}
	t := reports.Table{Columns: []reports.Column{
		{Title: "kernel"}, {Title: "warp instructions", Right: true}, {Title: "full", Right: true}, {Title: "fast", Right: true}, {Title: "none", Right: true},
	}}
	if r.Workers > 0 {
		t.Columns = append(t.Columns, reports.Column{Title: fmt.Sprintf("%d workers", r.Workers), Right: true})
	}
	add := func(name, instructions string, s *Speed, speedup float64) {
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
	t.Style = style
	if err := t.Render(w); err != nil {
		return err
	}
	slowest := slices.MaxFunc(r.Kernels, func(a, b Kernel) int { return cmp.Compare(a.Seconds, b.Seconds) })
	const mebibyte = 1 << 20
	_, err := fmt.Fprintf(w, "\nslowest with full timing: %s, %.2f s\nmemory: %d MiB\n", slowest.Name, slowest.Seconds, r.Memory/mebibyte)
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

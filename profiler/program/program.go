// Package program runs whole programs on the emulated GPU, unmodified, through the CUDA driver library of package emu/cuda, and profiles, checks or captures
// their launches.
//
//	p, err := program.New(program.Options{GPU: model, Timed: true})
//	status, err := p.Run(ctx, os.Stdout, "python3", "program.py")
//	result, err := p.Analyze(ctx, 3, gpa.Analysis{})
package program

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gpa"
	"gpa/cubin/compile"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/capture"
	"gpa/emu/cuda"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// Options say what is done with the launches of a program. Without Timed, Check and Capture they run for their effect.
type Options struct {
	GPU   *arch.Model
	Run   gpa.Options // of all launches
	Timed bool        // launches are profiled
	Each  bool        // each is timed, also where it does what an earlier one did
	Keep  bool        // the costliest launch of each kernel is kept, so that its advice can be tried
	Check bool        // launches are checked as [gpa.Target.Check] does
	// Capture is given a capture of each launch that can be captured, with the launch's number, counted from 1, and the kernel's name; nil for
	// none.
	Capture func(number int, kernel string, c *capture.Capture)

	// The launches that are profiled or captured; the others run for their effect.
	Only *regexp.Regexp // kernels, by their names or symbols; nil for all
	Skip int            // the first ones of them
	Most int            // at most so many; 0 for all
	Kill bool           // the program is ended after Most of them
	// Ranges are NVTX ranges, NAME or DOMAIN@NAME: of them the launches while one is open; nil for all.
	Ranges []string
	// AfterStart leaves out what the program launches before it calls cuProfilerStart. What comes after cuProfilerStop is left out in any case.
	AfterStart bool

	Sources string // folder of the program's sources, "" for that of the command where it is given by its path
	Folder  string // of the driver library and its socket, as [cuda.Options] has it
}

// A Program is a program that runs on the emulated GPU, as one or several processes.
type Program struct {
	options Options
	machine emu.Options
	sampler *sampler.Sampler
	journal *journal
	server  *cuda.Server
	modules []checkedModule
	folder  string        // of its sources besides the working directory
	notes   []string      // about captures
	enough  chan struct{} // closed when the program is to be ended
	killed  bool
	triton  *compile.TritonHook // what Triton's processes leave behind until advice has been tried, nil for nothing
}

// New makes a program ready to start.
func New(o Options) (*Program, error) {
	p := &Program{options: o, journal: newJournal(), enough: make(chan struct{})}
	level := emu.TimingNone
	if o.Timed {
		level = o.Run.Level()
	}
	var err error
	if p.machine, err = o.Run.Emulator(level, 0); err != nil {
		return nil, err
	}
	p.sampler, err = sampler.New(sampler.Options{Period: o.Run.Period, Seed: o.Run.Seed})
	return p, err
}

// Start begins to answer the calls of processes that have the environment of [Program.Environment]. Where ctx ends, launches do.
func (p *Program) Start(ctx context.Context) (err error) {
	o := cuda.Options{GPU: p.options.GPU, Machine: p.machine, Launch: p.launch, Exact: p.options.Check,
		Ranges: len(p.options.Ranges) > 0, ProfilerOff: p.options.AfterStart, Folder: p.options.Folder}
	p.server, err = cuda.Start(ctx, o)
	return err
}

// Environment is an environment with what makes a process find the CUDA driver library.
func (p *Program) Environment(env []string) []string { return p.server.Environment(env) }

// Close ends the answers.
func (p *Program) Close() error { return p.server.Close() }

// WriteNotes writes the [Program.Notes], each a message.
func (p *Program) WriteNotes(w io.Writer) {
	for _, note := range p.Notes() {
		fmt.Fprintln(w, reports.WrapMessage("gpa: "+note))
	}
}

// Notes is what who runs the program should know besides its results.
func (p *Program) Notes() (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	for _, problem := range p.server.Problems() {
		say("%s", problem)
	}
	for _, note := range p.notes {
		say("%s", note)
	}
	if (p.options.Timed || p.options.Capture != nil) && p.journal.launches > 0 && p.journal.taken == 0 {
		say("none of the program's %d launches was selected: --kernel, --nvtx, --launch-skip, --profile-from-start and cuProfilerStop decide", p.journal.launches)
	}
	if names := p.server.Unsupported(); len(names) > 0 {
		say("not supported, and answered with CUDA_ERROR_NOT_SUPPORTED: %s", counted(names))
	}
	switch {
	case p.server.Runtime():
		say("the program holds NVIDIA's CUDA runtime library, which accepts NVIDIA's driver only: build it with nvcc -cudart shared, or use a client of the driver API")
	case p.journal.launches == 0 && p.server.Calls() == 0:
		say("the program launched no kernel: it made no CUDA call. It may use no CUDA, look for libcuda.so.1 at a fixed path, or drop LD_LIBRARY_PATH")
	case p.journal.launches == 0:
		say("the program launched no kernel")
	}
	if p.killed {
		say("the program was ended after %d launches, as many as were asked for (--kill)", p.journal.taken)
	}
	if n := p.journal.alike(); n > 0 {
		say("%d of the program's launches were not timed: they count as earlier ones that had their shape and arguments and executed as many instructions (--each-launch times all)", n)
	}
	if p.server.Timed() {
		if p.options.Timed {
			say("times that the program took by events are those of kernels on the emulated %s; copies take none", p.options.GPU.Product)
		} else {
			say("times that the program took by events are the least that its kernels can take, as they ran without timing (gpa profile times them)")
		}
	}
	return list
}

// counted lists names with how often they occurred.
func counted(list map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", name, list[name]))
	}
	return strings.Join(parts, ", ")
}

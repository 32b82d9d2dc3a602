package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/google/pprof/profile"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// The values of a pprof sample. Names, units and order stay as they are for ever: pprof refuses to merge or compare
// profiles that differ in them. The unit is count for all, as pprof glues other units to every number.
const (
	valueSamples            = iota
	valueStalls             // samples with a stall reason
	valueLatency            // samples taken while the scheduler issued nothing
	valueIssued             // samples whose warp issued
	valueCycles             // samples times the period: comparable between launches sampled at different periods
	valueWarpInstructions   // executions by warps, from the source counters
	valueThreadInstructions // executions by threads
	numValues
)

var valueNames = [numValues]string{
	valueSamples:            "samples",
	valueStalls:             "stalls",
	valueLatency:            "latency",
	valueIssued:             "issued",
	valueCycles:             "cycles",
	valueWarpInstructions:   "warp_instructions",
	valueThreadInstructions: "thread_instructions",
}

// mappingAlign is the alignment of the modules in the profile's address space.
const mappingAlign = 0x10000

// Pprof returns the launches as one profile in the form of pprof. A sample of it stands for an instruction with a stall
// reason in a kernel; equal ones of several launches are added up. Its labels are stall, class (CUPTI's name of the
// stall), opcode, memory (the space accessed) and kernel. The default value is cycles, the time that SMs spent.
//
// A location's address is the instruction's offset in its cubin, counted from the start of the cubin's mapping. Its
// lines are the inlined functions, innermost first. Callers follow where they are certain: a function that the section
// calls from one place only. Version is the version of gpa, for the comments; it may be empty.
func Pprof(p *profiler.Profile, version string) (*profile.Profile, error) {
	b := newPprofBuilder(p)
	for _, l := range p.Launches {
		b.addLaunch(l)
	}
	b.setFirstLines()
	b.comment(version)
	if err := b.out.CheckValid(); err != nil {
		return nil, fmt.Errorf("building the pprof profile: %w", err)
	}
	return b.out, nil
}

// A pprofBuilder keeps what exists once: samples, locations and functions.
type pprofBuilder struct {
	in      *profiler.Profile
	out     *profile.Profile
	modules []*pprofModule
	samples map[sampleKey]*profile.Sample
	seconds float64
}

type sampleKey struct {
	module, code int
	pc           uint64
	reason       stall.Reason
	kernel       string
}

type functionKey struct{ name, filename string }

// A pprofModule is a cubin as the profile sees it.
type pprofModule struct {
	file      *cubin.File
	mapping   *profile.Mapping
	sections  map[int]*pprofSection
	locations map[place]*profile.Location
	functions map[functionKey]*profile.Function
	firstLine map[functionKey]int // in the sections looked at
}

// A place is an instruction of a module.
type place struct {
	code int
	pc   uint64
}

func newPprofBuilder(p *profiler.Profile) *pprofBuilder {
	b := &pprofBuilder{
		in: p,
		out: &profile.Profile{
			DefaultSampleType: valueNames[valueCycles],
			PeriodType:        &profile.ValueType{Type: "cycles", Unit: "count"},
		},
		samples: make(map[sampleKey]*profile.Sample),
	}
	for _, name := range valueNames {
		b.out.SampleType = append(b.out.SampleType, &profile.ValueType{Type: name, Unit: "count"})
	}
	start := uint64(mappingAlign)
	for i, m := range p.Modules {
		mapping := newMapping(uint64(i+1), start, m)
		b.out.Mapping = append(b.out.Mapping, mapping)
		b.modules = append(b.modules, &pprofModule{
			file: m, mapping: mapping,
			sections: make(map[int]*pprofSection), locations: make(map[place]*profile.Location),
			functions: make(map[functionKey]*profile.Function), firstLine: make(map[functionKey]int),
		})
		start = (mapping.Limit + mappingAlign - 1) / mappingAlign * mappingAlign
	}
	return b
}

// newMapping says that everything is known already, so that pprof does not look for symbols itself.
func newMapping(id, start uint64, m *cubin.File) *profile.Mapping {
	sum := sha256.Sum256(m.Raw)
	return &profile.Mapping{
		ID: id, Start: start, Limit: start + max(1, uint64(len(m.Raw))), File: m.Name, BuildID: hex.EncodeToString(sum[:]),
		HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true,
	}
}

func (b *pprofBuilder) addLaunch(l *profiler.Launch) {
	n := l.Facts.Count()
	b.seconds += float64(n) * l.Facts.Seconds()
	b.out.Period = max(b.out.Period, int64(l.Period))
	for i := range l.Samples {
		s := &l.Samples[i]
		values := b.values(l, s.Code, s.PC, s.Reason)
		values[valueSamples] += n * s.Count
		values[valueLatency] += n * s.Latency
		values[valueCycles] += n * s.Count * int64(l.Period)
		if s.Reason == stall.Selected {
			values[valueIssued] += n * s.Count
		} else {
			values[valueStalls] += n * s.Count
		}
	}
	for i := range l.PCs {
		c := &l.PCs[i]
		values := b.values(l, c.Code, c.PC, stall.Selected)
		values[valueWarpInstructions] += n * c.Executions
		values[valueThreadInstructions] += n * c.ThreadExecutions
	}
}

// values returns the values of an instruction with a stall reason; executions belong to those that issued.
func (b *pprofBuilder) values(l *profiler.Launch, code int, pc uint64, reason stall.Reason) []int64 {
	key := sampleKey{l.Module, code, pc, reason, l.Kernel}
	if s, ok := b.samples[key]; ok {
		return s.Value
	}
	m := b.modules[l.Module]
	s := &profile.Sample{
		Location: b.stack(m, code, pc),
		Value:    make([]int64, numValues),
		Label:    labels(m.file, code, pc, reason, l.Kernel),
	}
	b.samples[key] = s
	b.out.Sample = append(b.out.Sample, s)
	return s.Value
}

// labels describes a sample. Every key has one value: pprof treats lists badly.
func labels(module *cubin.File, code int, pc uint64, reason stall.Reason, kernel string) map[string][]string {
	out := map[string][]string{
		"stall":  {reason.String()},
		"class":  {reason.Class().String()},
		"kernel": {KernelName(module, kernel)},
	}
	if in := instruction(module, code, pc); in != nil {
		out["opcode"] = []string{in.Op.String()}
		if space := memorySpace(in); space != "" {
			out["memory"] = []string{space}
		}
	}
	return out
}

// memorySpace names the memory that an instruction accesses, as PTX calls it; empty for all others.
func memorySpace(in *sass.Inst) string {
	switch at := in.Op.Properties().Memory(); {
	case at&sass.SpaceGlobal != 0:
		return "global"
	case at&sass.SpaceGeneric != 0:
		return "generic"
	case at&sass.SpaceLocal != 0:
		return "local"
	case at&(sass.SpaceShared|sass.SpaceCluster) != 0:
		return "shared"
	case at&sass.SpaceConstant != 0:
		return "const"
	case at&sass.SpaceTexture != 0:
		return "texture"
	case at&sass.SpaceTensor != 0:
		return "tensor"
	}
	return ""
}

// stack returns the locations of an instruction and of the calls that lead to it, as far as they are certain.
func (b *pprofBuilder) stack(m *pprofModule, code int, pc uint64) []*profile.Location {
	stack := []*profile.Location{b.location(m, code, pc)}
	section := m.section(code)
	if section == nil {
		return stack
	}
	for _, call := range section.callers(pc) {
		stack = append(stack, b.location(m, code, call))
	}
	return stack
}

func (b *pprofBuilder) location(m *pprofModule, code int, pc uint64) *profile.Location {
	at := place{code, pc}
	if l, ok := m.locations[at]; ok {
		return l
	}
	l := &profile.Location{ID: uint64(len(b.out.Location) + 1), Mapping: m.mapping, Address: m.mapping.Start}
	if section := m.section(code); section != nil {
		l.Address += section.base + pc
		for _, f := range section.frames(pc) {
			l.Line = append(l.Line, profile.Line{Function: b.function(m, f), Line: int64(f.Line)})
		}
	}
	m.locations[at] = l
	b.out.Location = append(b.out.Location, l)
	return l
}

func (b *pprofBuilder) function(m *pprofModule, f cubin.Frame) *profile.Function {
	key := functionKey{f.Function, f.File}
	if fn, ok := m.functions[key]; ok {
		return fn
	}
	fn := &profile.Function{
		ID: uint64(len(b.out.Function) + 1), Name: f.Function, SystemName: f.Symbol, Filename: f.File,
	}
	m.functions[key] = fn
	b.out.Function = append(b.out.Function, fn)
	return fn
}

// setFirstLines is done last: a function can be inlined in several sections.
func (b *pprofBuilder) setFirstLines() {
	for _, m := range b.modules {
		for key, fn := range m.functions {
			fn.StartLine = int64(m.firstLine[key])
		}
	}
}

// comment says in words what was profiled, equal launches once.
func (b *pprofBuilder) comment(version string) {
	b.out.DurationNanos = int64(math.Round(b.seconds * 1e9))
	if version != "" {
		b.out.Comments = append(b.out.Comments, "gpa "+version)
	}
	count := make(map[string]int)
	var lines []string
	for _, l := range b.in.Launches {
		m := b.in.Modules[l.Module]
		line := fmt.Sprintf("kernel %s, %s, %s, grid %s, block %s, period %d cycles",
			KernelName(m, l.Kernel), archName(m), l.GPU, dims(l.Grid), dims(l.Block), l.Period)
		if count[line] == 0 {
			lines = append(lines, line)
		}
		count[line] += int(l.Facts.Count())
	}
	for _, line := range lines {
		if n := count[line]; n > 1 {
			line += fmt.Sprintf(", %d launches", n)
		}
		b.out.Comments = append(b.out.Comments, line)
	}
	b.out.Comments = slices.Clip(b.out.Comments)
}

// dims writes a grid or block, as in 128x1x1.
func dims(d [3]int) string { return fmt.Sprintf("%dx%dx%d", d[0], d[1], d[2]) }

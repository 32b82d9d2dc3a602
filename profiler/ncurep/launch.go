package ncurep

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/profiler"
)

// The names of the metrics that a launch is made of.
const (
	metricSamples    = "smsp__pcsamp_sample_count"
	metricStall      = "smsp__pcsamp_warps_issue_stalled_" // and a reason, and
	notIssued        = "_not_issued"
	metricExecuted   = "inst_executed"
	metricThreads    = "thread_inst_executed_true"
	metricOpcodes    = "sass__inst_executed_per_opcode"
	metricSectors    = "memory_l2_theoretical_sectors_global"
	metricWavefronts = "memory_l1_wavefronts_shared"
	ideal            = "_ideal"

	metricFunctions    = "launch__function_pcs"
	metricRegisters    = "launch__registers_per_thread"
	metricStatic       = "launch__shared_mem_per_block_static"
	metricDynamic      = "launch__shared_mem_per_block_dynamic"
	metricTotal        = "smsp__inst_executed.sum"
	metricCycles       = "gpc__cycles_elapsed.max"
	metricActive       = "sm__cycles_active.sum"
	metricActiveMean   = "sm__cycles_active.avg"
	metricWarps        = "sm__warps_active.avg.per_cycle_active"
	metricL2           = "lts__t_sectors_srcunit_tex.sum" // asked for by the L1 caches
	metricDRAMRead     = "dram__bytes_read.sum"
	metricDRAMWritten  = "dram__bytes_write.sum"
	metricClock        = "gpc__cycles_elapsed.avg.per_second"
	metricPeriod       = "smsp__pcsamp_interval_cycles"
	metricPeriodPower  = "smsp__pcsamp_interval"
	metricDropped      = "smsp__pcsamp_dropped_bytes"
	metricDevice       = "device__attribute_display_name"
	metricMajor        = "device__attribute_compute_capability_major"
	metricMinor        = "device__attribute_compute_capability_minor"
	metricSMs          = "device__attribute_multiprocessor_count"
	metricSchedulers   = "device__attribute_num_schedulers_per_multiprocessor"
	metricWarpsAtATime = "device__attribute_max_warps_per_scheduler"
	metricBusWidth     = "device__attribute_global_memory_bus_width" // bits
	metricMemoryClock  = "device__attribute_memory_clock_rate"       // kHz; data move twice a cycle
	metricL2Size       = "device__attribute_l2_cache_size"           // bytes
)

// maxWarps is more than an SM of any GPU holds.
const maxWarps = 1 << 10

// sectorBytes are those of a sector, the unit in which L2 is asked.
const sectorBytes = 32

// wantedPrefixes are those of the metrics that are decoded.
var wantedPrefixes = []string{
	metricStall, "smsp__pcsamp_", "inst_executed", metricThreads, metricOpcodes, metricSectors, metricWavefronts, "launch__", metricTotal,
	metricCycles, "sm__cycles_active.", metricWarps, metricL2, metricDRAMRead, metricDRAMWritten, metricClock, "device__attribute_",
}

func wanted(name string) bool {
	return slices.ContainsFunc(wantedPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Profile makes a profile of some launches of the file, which are counted from 0; of all where launches is nil. Name is what the
// modules are called after. Each launch is held to [profiler.Check] and to its own totals, and what the file lacks of it is
// noted in Missing. Launches that cannot be read are left out, for the reasons in leftOut; where that is all of them, there is no
// profile.
func (r *Report) Profile(name string, launches []int) (p *profiler.Profile, leftOut []error, err error) {
	if launches == nil {
		for i := range r.Results {
			launches = append(launches, i)
		}
	}
	p = new(profiler.Profile)
	modules := make(map[uint64]int)
	for _, i := range launches {
		if i < 0 || i >= len(r.Results) {
			return nil, nil, fmt.Errorf("there is no launch %d: the file has %d", i, len(r.Results))
		}
		if err := r.add(p, modules, name, i); err != nil {
			leftOut = append(leftOut, fmt.Errorf("launch %d, kernel %s: %w", i, cmp.Or(r.Results[i].Function, r.Results[i].Mangled), err))
		}
	}
	if len(p.Launches) == 0 && len(leftOut) > 0 {
		return nil, leftOut, leftOut[0]
	}
	return p, leftOut, nil
}

// add adds a launch, and its module where no launch before has it.
func (r *Report) add(p *profiler.Profile, modules map[uint64]int, name string, launch int) error {
	if err := r.Results[launch].check(); err != nil {
		return err
	}
	id := r.Results[launch].sourceID
	at, known := modules[id]
	var module *cubin.File
	if known {
		module = p.Modules[at]
	} else {
		at = len(p.Modules)
		var err error
		if module, err = r.module(fmt.Sprintf("%s.%d.cubin", name, at), id); err != nil {
			return err
		}
	}
	l, err := r.Launch(module, launch)
	if err != nil {
		return err
	}
	if err := profiler.Check(&profiler.Profile{Modules: []*cubin.File{module}, Launches: []*profiler.Launch{l}}); err != nil {
		return err
	}
	if !known {
		modules[id], p.Modules = at, append(p.Modules, module)
	}
	l.Module = at
	p.Launches = append(p.Launches, l)
	return nil
}

// ErrNoCubin is what a launch gives whose cubin is neither in the file nor supplied.
var ErrNoCubin = errors.New("the file does not hold its cubin")

// Supply gives the cubin of the launches whose own is not in the file. That it is the one that ran is found out as for any:
// the launch's executions by opcode have to be those of its instructions.
func (r *Report) Supply(module *cubin.File) { r.supplied = module }

// HoldsCubin says whether the cubin of a launch, counted from 0, is in the file.
func (r *Report) HoldsCubin(launch int) bool {
	s := r.sources[r.Results[launch].sourceID]
	return s != nil && len(s.cubin) > 0
}

// module decodes a source.
func (r *Report) module(name string, id uint64) (*cubin.File, error) {
	switch s := r.sources[id]; {
	case s != nil && len(s.cubin) > 0:
		return cubin.NewFile(name, s.cubin)
	case r.supplied != nil:
		return r.supplied, nil
	}
	return nil, ErrNoCubin
}

// Launch makes the profile of a launch of a kernel of module.
func (r *Report) Launch(module *cubin.File, launch int) (*profiler.Launch, error) {
	result := &r.Results[launch]
	if err := result.check(); err != nil {
		return nil, err
	}
	metrics, err := r.Metrics(launch, wanted)
	if err != nil {
		return nil, err
	}
	kernel, err := module.Kernel(result.Mangled)
	if err != nil {
		return nil, err
	}
	b := &builder{metrics: metrics, module: module, kernel: kernel, launch: &profiler.Launch{Kernel: kernel.Name, Grid: result.Grid, Block: result.Block}}
	b.place(r.sources[result.sourceID])
	for _, step := range []func() error{b.facts, b.samples, b.counters, b.opcodes} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	b.launch.NoteTraffic()
	return b.launch, nil
}

// A builder makes a launch of its metrics.
type builder struct {
	metrics map[string]*Metric
	module  *cubin.File
	kernel  *cubin.Kernel
	spans   []span // by address
	lost    int64  // executions at addresses that are not of the module
	launch  *profiler.Launch
}

// A span is where a function of the module lay in the GPU's memory.
type span struct {
	address, size uint64
	code          int
	offset        uint64
}

// place finds out where the functions of the module lay.
func (b *builder) place(s *source) {
	addresses := make(map[string][]uint64) // several where source files have functions of one name to themselves
	if s != nil {
		for _, fn := range s.functions {
			addresses[fn.name] = append(addresses[fn.name], fn.address)
		}
	}
	if m := b.metrics[metricFunctions]; m != nil && addresses[b.kernel.Name] == nil && b.kernel.Code.Address == 0 && len(m.Instances) > 0 {
		addresses[b.kernel.Name] = []uint64{uint64(m.Instances[0].Value.Number)}
	}
	for _, code := range b.module.Codes {
		b.placeCode(code, addresses)
	}
	slices.SortFunc(b.spans, func(x, y span) int { return cmp.Compare(x.address, y.address) })
}

// placeCode places the functions of a section whose addresses are known, and the others, as those that the compiler adds for
// divisions and square roots, by their distance from the first of them.
func (b *builder) placeCode(code *cubin.Code, addresses map[string][]uint64) {
	known := make([]uint64, len(code.Functions))
	base := code.Address
	for i, f := range code.Functions {
		if list := addresses[f.Name]; len(list) > 0 {
			known[i] = list[0]
			addresses[f.Name] = list[1:]
		}
		if base == 0 && known[i] > f.Offset {
			base = known[i] - f.Offset
		}
	}
	for i, f := range code.Functions {
		if known[i] == 0 && base != 0 {
			known[i] = base + f.Offset
		}
		if known[i] != 0 {
			b.spans = append(b.spans, span{address: known[i], size: f.Size, code: code.Index, offset: f.Offset})
		}
	}
}

// at finds the instruction at an address.
func (b *builder) at(address uint64) (code int, pc uint64, err error) {
	i, found := slices.BinarySearchFunc(b.spans, address, func(s span, a uint64) int { return cmp.Compare(s.address, a) })
	if !found {
		i--
	}
	if i < 0 || address-b.spans[i].address >= b.spans[i].size {
		return 0, 0, fmt.Errorf("no function of the cubin lay at %#x", address)
	}
	s := b.spans[i]
	if pc = s.offset + address - s.address; pc%sass.InstSize != 0 {
		return 0, 0, fmt.Errorf("no instruction begins at %#x", address)
	}
	return s.code, pc, nil
}

// number returns a metric's value, 0 where it is missing.
func (b *builder) number(name string) float64 {
	if m := b.metrics[name]; m != nil && m.Value.Number >= 0 {
		return m.Value.Number
	}
	return 0
}

// whole is number as an integer; what no counter reaches is 0.
func (b *builder) whole(name string) int64 {
	const most = 1 << 44 // days of cycles; no product of it with another such fact overflows
	if v := b.number(name); v < most {
		return int64(v)
	}
	return 0
}

// lacks notes something as missing.
func (b *builder) lacks(format string, args ...any) {
	b.launch.Missing = append(b.launch.Missing, fmt.Sprintf(format, args...))
}

// facts enters the facts of the launch and of the GPU.
func (b *builder) facts() error {
	model, err := b.gpu()
	if err != nil {
		return err
	}
	l := b.launch
	f := &l.Facts
	f.Registers, f.SharedStatic, f.SharedDynamic = b.kernel.Registers, b.kernel.SharedStatic, int(b.whole(metricDynamic))
	if n := b.whole(metricRegisters); n > 0 {
		f.Registers = int(n)
	}
	if n := b.whole(metricStatic); n > 0 {
		f.SharedStatic = int(n)
	}
	f.LocalBytes = b.kernel.LocalFrame
	f.Cycles, f.SMActiveCycles, f.ClockHz = b.whole(metricCycles), b.whole(metricActive), b.number(metricClock)
	f.L2Bytes, f.DRAMReadBytes, f.DRAMWrittenBytes = b.whole(metricL2)*sectorBytes, b.whole(metricDRAMRead), b.whole(metricDRAMWritten)
	if err := l.SetGPU(model); err != nil {
		return err
	}
	if f.SMActiveCycles == 0 {
		f.SMActiveCycles = b.whole(metricActiveMean) * int64(f.SMs)
	}
	f.WarpActiveCycles = int64(math.Round(min(b.number(metricWarps), maxWarps) * float64(f.SMActiveCycles)))
	if f.Cycles == 0 {
		b.lacks(profiler.MissingCycles)
	}
	if l.Period = b.period(); l.Period == 0 {
		b.lacks(profiler.MissingPeriod)
	}
	return nil
}

// gpu finds the model of the GPU and sets it to what the file says of its size.
func (b *builder) gpu() (*arch.Model, error) {
	device := ""
	if m := b.metrics[metricDevice]; m != nil {
		device = m.Value.Text
	}
	capability := int(b.module.Arch)
	if major := b.whole(metricMajor); major > 0 && major < 1000 {
		capability = int(10*major + b.whole(metricMinor)%10)
	}
	model, exact, err := arch.ByDevice(device, capability)
	if err != nil {
		return nil, err
	}
	if !exact {
		b.launch.NoteModel(cmp.Or(device, "unknown"), model.Name)
	}
	for _, s := range []struct {
		metric string
		figure *arch.Figure
	}{{metricSMs, &model.SMs}, {metricSchedulers, &model.Limits.Schedulers}} {
		if n := b.whole(s.metric); n > 0 && n < 1<<16 {
			s.figure.Value = float64(n)
		}
	}
	if n := b.whole(metricWarpsAtATime); n > 0 && n < 1<<16 {
		model.Limits.Warps.Value = float64(n) * model.Limits.Schedulers.Value
	}
	return model, nil
}

// Board returns what the file says of the board that a launch ran on, counted from 0.
func (r *Report) Board(launch int) (arch.Board, error) {
	metrics, err := r.Metrics(launch, func(name string) bool { return strings.HasPrefix(name, "device__attribute_") })
	if err != nil {
		return arch.Board{}, err
	}
	b := &builder{metrics: metrics}
	const kilo, perCycle, bitsOfByte = 1e3, 2, 8
	bus := b.number(metricBusWidth)
	return arch.Board{SMs: float64(b.whole(metricSMs)), Bus: bus, L2: b.number(metricL2Size), Peak: bus / bitsOfByte * perCycle * kilo * b.number(metricMemoryClock)}, nil
}

// maxPeriodPower is the largest --sampling-interval.
const maxPeriodPower = 31

// period returns the cycles between two samples of an SM, 0 where the file does not say.
func (b *builder) period() int {
	if n := b.whole(metricPeriod); n > 0 && n < 1<<40 {
		return int(n)
	}
	if m := b.metrics[metricPeriodPower]; m != nil {
		if n, ok := m.Value.count(); ok && n <= maxPeriodPower {
			return 1 << (5 + n)
		}
	}
	return 0
}

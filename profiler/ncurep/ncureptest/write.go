// Package ncureptest writes profiles as Nsight Compute's report files, so that tests need none of NVIDIA's. It encodes by
// itself what package ncurep decodes.
package ncureptest

import (
	"encoding/binary"
	"fmt"
	"math"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
	"gpa/profiler"
)

// Options are what a report has besides a profile.
type Options struct {
	Device string // the driver's name of the GPU
	Tool   string // version of Nsight Compute
	// Without are metrics that are left out.
	Without map[string]bool
	// WithoutCubin leaves out the modules, as a report of a launch that had none does.
	WithoutCubin bool
	// OnlyKernels says where the kernels lie and leaves out the functions beside them.
	OnlyKernels bool
	// Edit changes a metric before it is written: an address and a count of it. Sums are taken before.
	Edit func(name string, address uint64, count int64) int64
}

// Base is the address at which the first section of code of a file is said to lie; another lies at every Stride.
const (
	Base   = 0x7f51_2000_0000
	Stride = 0x10_0000
)

// a message is a protocol buffer in the making.
type message []byte

func (m *message) key(field, wire int) {
	*m = binary.AppendUvarint(*m, uint64(field<<3|wire))
}

func (m *message) number(field int, v uint64) {
	m.key(field, 0)
	*m = binary.AppendUvarint(*m, v)
}

func (m *message) float(field int, v float64) {
	m.key(field, 1)
	*m = binary.LittleEndian.AppendUint64(*m, math.Float64bits(v))
}

func (m *message) bytes(field int, data []byte) {
	m.key(field, 2)
	*m = append(binary.AppendUvarint(*m, uint64(len(data))), data...)
}

func (m *message) text(field int, s string) { m.bytes(field, []byte(s)) }

// sized puts a message's size before it.
func sized(data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
}

// A writer makes a file.
type writer struct {
	options Options
	file    []byte
	names   map[string]uint64
	added   []string // names that the next block adds
}

// Write returns the profile as a report file, of which the modules come first, a block each, then a block for each launch.
// Sections of code lie at multiples of Stride from Base, in the order of module and section.
func Write(p *profiler.Profile, o Options) []byte {
	w := &writer{options: o, file: append([]byte("NVR\x00"), sized([]byte{8, 7})...), names: make(map[string]uint64)}
	w.session()
	address := uint64(Base)
	places := make([]map[string]uint64, len(p.Modules))
	for i, module := range p.Modules {
		places[i] = make(map[string]uint64)
		for _, code := range module.Codes {
			for _, f := range code.Functions {
				places[i][f.Name] = address + f.Offset
			}
			address += Stride
		}
		if !o.WithoutCubin {
			w.block([][]byte{w.source(i, module, places[i])}, nil)
		}
	}
	for _, l := range p.Launches {
		w.block(nil, [][]byte{w.result(p.Modules[l.Module], l, places[l.Module])})
	}
	return w.file
}

// session writes a block of session details.
func (w *writer) session() {
	var pair, details, h message
	pair.text(1, "Nsight Compute Target")
	pair.text(2, w.options.Tool)
	details.bytes(8, pair)
	h.number(1, 0)
	h.number(2, 0)
	h.bytes(3, details)
	h.number(5, 0)
	w.file = append(w.file, sized(h)...)
}

// block writes a block of sources and results with the names that came up in them.
func (w *writer) block(sources, results [][]byte) {
	var payload, table, h message
	for _, m := range append(sources, results...) {
		payload = append(payload, sized(m)...)
	}
	for _, name := range w.added {
		table.text(1, name)
	}
	w.added = nil
	h.number(1, uint64(len(sources)))
	h.number(2, uint64(len(results)))
	h.bytes(4, table)
	h.number(5, uint64(len(payload)))
	w.file = append(append(w.file, sized(h)...), payload...)
}

func (w *writer) source(id int, module *cubin.File, places map[string]uint64) []byte {
	var list, m message
	for _, code := range module.Codes {
		for _, f := range code.Functions {
			if w.options.OnlyKernels && f.Kind != cubin.KernelFunction {
				continue
			}
			var fn message
			fn.text(1, f.Name)
			fn.number(2, places[f.Name])
			list.bytes(1, fn)
		}
	}
	m.number(1, uint64(id+1))
	m.bytes(4, module.Raw)
	m.bytes(9, list)
	return m
}

// result writes a launch.
func (w *writer) result(module *cubin.File, l *profiler.Launch, places map[string]uint64) []byte {
	var m, id message
	m.text(5, l.Kernel)
	m.text(6, l.Kernel)
	m.text(7, l.Kernel+"()")
	m.bytes(10, dimensions(l.Grid))
	m.bytes(11, dimensions(l.Block))
	r := &resultWriter{w: w, message: &m, entry: places[l.Kernel], address: func(code int, pc uint64) uint64 { return place(module, places, code, pc) }}
	r.facts(l)
	r.samples(l)
	r.counters(module, l)
	id.number(1, uint64(l.Module+1))
	m.bytes(15, id)
	return m
}

func dimensions(size [3]int) []byte {
	var m message
	for i, n := range size {
		m.number(i+1, uint64(n))
	}
	return m
}

// place is the address of an instruction.
func place(module *cubin.File, places map[string]uint64, code int, pc uint64) uint64 {
	for _, f := range module.Codes[code].Functions {
		if pc >= f.Offset && pc < f.Offset+f.Size {
			return places[f.Name] + pc - f.Offset
		}
	}
	panic(fmt.Sprintf("no function at %#x", pc))
}

// A resultWriter writes the metrics of a launch.
type resultWriter struct {
	w       *writer
	message *message
	address func(code int, pc uint64) uint64
	entry   uint64 // of the kernel
}

// metric writes a metric.
func (r *resultWriter) metric(name string, value []byte, instances [][]byte) {
	if r.w.options.Without[name] {
		return
	}
	id, known := r.w.names[name]
	if !known {
		id = uint64(len(r.w.names))
		r.w.names[name] = id
		r.w.added = append(r.w.added, name)
	}
	var m message
	m.number(1, id)
	m.bytes(2, value)
	for _, in := range instances {
		m.bytes(3, in)
	}
	r.message.bytes(13, m)
}

func whole(n int64) []byte {
	var m message
	m.number(5, uint64(n))
	return m
}

func floating(v float64) []byte {
	var m message
	m.float(3, v)
	return m
}

func text(s string) []byte {
	var m message
	m.text(1, s)
	return m
}

func instance(id, value []byte) []byte {
	var m message
	m.bytes(1, id)
	m.bytes(2, value)
	return m
}

func (r *resultWriter) facts(l *profiler.Launch) {
	f := &l.Facts
	r.metric("launch__function_pcs", floating(float64(r.entry)), [][]byte{instance(whole(0), whole(int64(r.entry)))})
	r.metric("launch__registers_per_thread", floating(float64(f.Registers)), nil)
	r.metric("launch__shared_mem_per_block_static", floating(float64(f.SharedStatic)), nil)
	r.metric("launch__shared_mem_per_block_dynamic", floating(float64(f.SharedDynamic)), nil)
	r.metric("gpc__cycles_elapsed.max", floating(float64(f.Cycles)), nil)
	r.metric("sm__cycles_active.sum", floating(float64(f.SMActiveCycles)), nil)
	r.metric("sm__warps_active.avg.per_cycle_active", floating(float64(f.WarpActiveCycles)/float64(max(1, f.SMActiveCycles))), nil)
	r.metric("lts__t_sectors_srcunit_tex.sum", floating(float64(f.L2Bytes/32)), nil)
	r.metric("dram__bytes_read.sum", floating(float64(f.DRAMReadBytes)), nil)
	r.metric("dram__bytes_write.sum", floating(float64(f.DRAMWrittenBytes)), nil)
	r.metric("gpc__cycles_elapsed.avg.per_second", floating(f.ClockHz), nil)
	r.metric("smsp__pcsamp_interval_cycles", floating(float64(l.Period)), nil)
	r.metric("smsp__inst_executed.sum", floating(float64(f.WarpInstructions)), nil)
	r.metric("device__attribute_display_name", text(r.w.options.Device), nil)
	r.metric("device__attribute_multiprocessor_count", whole(int64(f.SMs)), nil)
	r.metric("device__attribute_num_schedulers_per_multiprocessor", whole(int64(f.SchedulersPerSM)), nil)
	r.metric("device__attribute_max_warps_per_scheduler", whole(int64(f.MaxWarpsPerScheduler)), nil)
}

// A count belongs to an instruction.
type count struct {
	address uint64
	n       int64
}

// counts writes a metric with a part for each instruction.
func (r *resultWriter) counts(name string, list []count) {
	var sum int64
	var parts [][]byte
	for _, c := range list {
		sum += c.n
		if r.w.options.Edit != nil {
			c.n = r.w.options.Edit(name, c.address, c.n)
		}
		parts = append(parts, instance(whole(int64(c.address)), whole(c.n)))
	}
	r.metric(name, whole(sum), parts)
}

func (r *resultWriter) samples(l *profiler.Launch) {
	const prefix = "smsp__pcsamp_warps_issue_stalled_"
	var all []count
	by := make(map[string][]count)
	for i := range l.Samples {
		s := &l.Samples[i]
		a := r.address(s.Code, s.PC)
		if n := len(all); n > 0 && all[n-1].address == a {
			all[n-1].n += s.Count
		} else {
			all = append(all, count{a, s.Count})
		}
		by[s.Reason.String()] = append(by[s.Reason.String()], count{a, s.Count})
		by[s.Reason.String()+"_not_issued"] = append(by[s.Reason.String()+"_not_issued"], count{a, s.Latency})
	}
	r.counts("smsp__pcsamp_sample_count", all)
	for reason := range stall.NumReasons {
		r.counts(prefix+reason.String(), by[reason.String()])
		r.counts(prefix+reason.String()+"_not_issued", by[reason.String()+"_not_issued"])
	}
}

func (r *resultWriter) counters(module *cubin.File, l *profiler.Launch) {
	columns := map[string]func(c *profiler.Counter) int64{
		"inst_executed":                              func(c *profiler.Counter) int64 { return c.Executions },
		"thread_inst_executed_true":                  func(c *profiler.Counter) int64 { return c.ThreadExecutions },
		"memory_l2_theoretical_sectors_global":       func(c *profiler.Counter) int64 { return c.GlobalSectors },
		"memory_l2_theoretical_sectors_global_ideal": func(c *profiler.Counter) int64 { return c.GlobalSectorsIdeal },
		"memory_l1_wavefronts_shared":                func(c *profiler.Counter) int64 { return c.SharedWavefronts },
		"memory_l1_wavefronts_shared_ideal":          func(c *profiler.Counter) int64 { return c.SharedWavefrontsIdeal },
	}
	for _, name := range []string{"inst_executed", "thread_inst_executed_true", "memory_l2_theoretical_sectors_global", "memory_l2_theoretical_sectors_global_ideal",
		"memory_l1_wavefronts_shared", "memory_l1_wavefronts_shared_ideal"} {
		var list []count
		for i := range l.PCs {
			list = append(list, count{r.address(l.PCs[i].Code, l.PCs[i].PC), columns[name](&l.PCs[i])})
		}
		r.counts(name, list)
	}
	r.opcodes(module, l)
}

// opcodes writes the executions by opcode.
func (r *resultWriter) opcodes(module *cubin.File, l *profiler.Launch) {
	executions := make(map[sass.Op]int64)
	var order []sass.Op
	for _, c := range l.PCs {
		op := module.Codes[c.Code].Insts[c.PC/sass.InstSize].Op
		if executions[op] == 0 {
			order = append(order, op)
		}
		executions[op] += c.Executions
	}
	var parts [][]byte
	for _, op := range order {
		parts = append(parts, instance(text(op.String()), whole(executions[op])))
	}
	r.metric("sass__inst_executed_per_opcode", floating(float64(l.Facts.WarpInstructions)), parts)
}

// Package micro measures an emulated GPU as one measures a real one, with micro-benchmarks: latencies by pointer chases over
// working sets, bandwidths of the caches and of DRAM, peaks of the pipes, atomics, strides. The kernels are real cubins,
// compiled from code/micro.cu for every architecture. [Published] holds what others measured on the hardware.
package micro

import (
	"context"
	"embed"
	"encoding/binary"
	"fmt"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
)

//go:embed code/micro.sm_*.cubin.gz
var code embed.FS

// A Bench measures one GPU. Every measurement is made on a machine of its own, whose memory is empty.
type Bench struct {
	gpu    *arch.Model
	module *cubin.File
}

// New returns the bench of a GPU. Where the code for its architecture has instructions that are not known, the code is
// that of sm_70: the memory path does not depend on it, and the pipes are those of the GPU. The error says for which
// architectures there is code.
func New(gpu *arch.Model) (*Bench, error) {
	module, err := load(gpu.Arch)
	if err != nil {
		return nil, err
	}
	if known(module) {
		return &Bench{gpu: gpu, module: module}, nil
	}
	const oldest = 70
	if module, err = load(oldest); err != nil {
		return nil, err
	}
	same := *gpu
	same.Arch = oldest
	return &Bench{gpu: &same, module: module}, nil
}

// load reads the code for an architecture.
func load(architecture int) (*cubin.File, error) {
	name := fmt.Sprintf("micro.sm_%d.cubin", architecture)
	data, err := code.ReadFile("code/" + name + cubin.Compressed)
	if err != nil {
		return nil, fmt.Errorf("there are no micro-benchmarks for sm_%d", architecture)
	}
	if data, err = cubin.Decompress(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cubin.NewFile(name, data)
}

// known reports whether all instructions of a module are.
func known(module *cubin.File) bool {
	for _, c := range module.Codes {
		for i := range c.Insts {
			if !c.Insts[i].Known() {
				return false
			}
		}
	}
	return true
}

// Code returns the architecture of the code that is run, as 70 for sm_70.
func (b *Bench) Code() int { return int(b.module.Arch) }

// A rig is a machine that measures.
type rig struct {
	gpu     *arch.Model
	machine *emu.Machine
	err     error // the first that happened
	last    *emu.Result
}

func (b *Bench) rig() *rig {
	r := &rig{gpu: b.gpu}
	r.machine, r.err = emu.New(b.gpu, b.module, emu.Options{Timing: emu.TimingFull, Extrapolation: emu.Extrapolation{Off: true}})
	return r
}

// alloc returns a buffer of zeros. Memory of the host is taken only for what is written.
func (r *rig) alloc(bytes int64) uint64 {
	if r.err != nil {
		return 0
	}
	addr, err := r.machine.Alloc("buffer", bytes)
	r.err = err
	return addr
}

// write stores words at an address.
func (r *rig) write(addr uint64, words ...uint64) {
	var data []byte
	for _, w := range words {
		data = binary.LittleEndian.AppendUint64(data, w)
	}
	if r.err == nil {
		r.err = r.machine.Write(addr, data)
	}
}

// read returns a word at an address.
func (r *rig) read(addr uint64) int64 {
	var data [8]byte
	if r.err == nil {
		r.err = r.machine.Read(addr, data[:])
	}
	return int64(binary.LittleEndian.Uint64(data[:]))
}

// A launch is a kernel with its grid.
type launch struct {
	kernel        string
	blocks        int
	threads       int
	sharedDynamic int
	warm          bool // L2 keeps what the launch before left there
}

// run launches a kernel and returns its cycles from the start of the first block on. Arguments are uint64 (a pointer) or
// int32.
func (r *rig) run(l launch, args ...any) int64 {
	if r.err != nil {
		return 0
	}
	k, err := r.machine.Module().Kernel(l.kernel)
	if err != nil {
		r.err = err
		return 0
	}
	params := make([]byte, k.ParamSize)
	for i, a := range args {
		switch at := params[k.Params[i].Offset:]; v := a.(type) {
		case uint64:
			binary.LittleEndian.PutUint64(at, v)
		case int32:
			binary.LittleEndian.PutUint32(at, uint32(v))
		default:
			r.err = fmt.Errorf("kernel %s: argument %d is a %T", l.kernel, i, a)
			return 0
		}
	}
	res, err := r.machine.Launch(context.Background(), &emu.Launch{
		Kernel: k, Grid: [3]int{l.blocks, 1, 1}, Block: [3]int{l.threads, 1, 1},
		SharedDynamic: l.sharedDynamic, Params: params, WarmCaches: l.warm,
	})
	if err != nil {
		r.err = err
		return 0
	}
	r.last = res
	return res.Cycles - r.gpu.Launching.Fixed.Cycles()
}

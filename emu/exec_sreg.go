package emu

import "gpa/cubin/sass"

// A specialRegister reads a special register.
type specialRegister func(w *warp, d *lanes)

// specialRegisters are those that programs read: what the PTX ISA's special registers become on Volta.
var specialRegisters = map[uint64]specialRegister{
	sass.SRLaneID: byLane(func(lane int) uint32 { return uint32(lane) }),
	sass.SREqMask: byLane(func(lane int) uint32 { return 1 << lane }),
	sass.SRLtMask: byLane(func(lane int) uint32 { return 1<<lane - 1 }),
	sass.SRLeMask: byLane(func(lane int) uint32 { return 2<<lane - 1 }),
	sass.SRGtMask: byLane(func(lane int) uint32 { return ^uint32(2<<lane - 1) }),
	sass.SRGeMask: byLane(func(lane int) uint32 { return ^uint32(1<<lane - 1) }),
	sass.SRTIDX:   func(w *warp, d *lanes) { *d = w.threadIndex().x },
	sass.SRTIDY:   func(w *warp, d *lanes) { *d = w.threadIndex().y },
	sass.SRTIDZ:   func(w *warp, d *lanes) { *d = w.threadIndex().z },
	sass.SRTID: func(w *warp, d *lanes) {
		t := w.threadIndex()
		for i := range d {
			d[i] = t.x[i] | t.y[i]<<16 | t.z[i]<<26
		}
	},
	sass.SRCTAIDX:      uniform(func(w *warp) uint32 { return uint32(w.block.index[0]) }),
	sass.SRCTAIDY:      uniform(func(w *warp) uint32 { return uint32(w.block.index[1]) }),
	sass.SRCTAIDZ:      uniform(func(w *warp) uint32 { return uint32(w.block.index[2]) }),
	sass.SRVirtCfg:     uniform(func(w *warp) uint32 { return uint32(w.block.run.machine.gpu.Limits.Warps.Int()) << 8 }),
	sass.SRVirtID:      uniform(func(w *warp) uint32 { return uint32(w.id) << 8 }),
	sass.SRVirtualSMID: uniform(func(w *warp) uint32 { return uint32(w.block.sm) }),
	sass.SRSMemSize:    uniform(sharedSize),
	sass.SRLWinHI:      uniform(func(*warp) uint32 { return localWindow >> 32 }),
	sass.SRSWinLO:      uniform(func(*warp) uint32 { return sharedWindow & 0xffffffff }),
	sass.SRSWinHI:      uniform(func(*warp) uint32 { return sharedWindow >> 32 }),
	// Where the stack ends, which code built for debugging (-G) holds its stack pointer against: local memory begins at 0.
	sass.SRLMemHiOff:     uniform(func(*warp) uint32 { return 0 }),
	sass.SRClockLO:       uniform(func(w *warp) uint32 { return uint32(w.block.run.clock(w)) }),
	sass.SRClockHI:       uniform(func(w *warp) uint32 { return uint32(w.block.run.clock(w) >> 32) }),
	sass.SRGlobalTimerLO: uniform(func(w *warp) uint32 { return uint32(w.block.run.nanoseconds(w)) }),
	sass.SRGlobalTimerHI: uniform(func(w *warp) uint32 { return uint32(w.block.run.nanoseconds(w) >> 32) }),
	sass.SRZ:             uniform(func(*warp) uint32 { return 0 }),
}

// clusterRank is %cluster_ctarank.
var clusterRank = uniform(func(w *warp) uint32 { return uint32(w.block.rank) })

// sharedSize is the shared memory of the block with what belongs to the system: from sm_80 on code subtracts that again.
// sm_90 has it at the beginning.
func sharedSize(w *warp) uint32 {
	r := w.block.run
	n := len(w.block.shared) - r.launch.Kernel.SharedReserved
	if r.machine.module.Arch >= sass.SM80 {
		n += r.machine.gpu.Limits.SharedReserved.Int()
	}
	return uint32(n)
}

// byLane is a register that depends on the lane only.
func byLane(value func(lane int) uint32) specialRegister {
	var row lanes
	for i := range row {
		row[i] = value(i)
	}
	return func(_ *warp, d *lanes) { *d = row }
}

// uniform is a register that has the same value in all lanes.
func uniform(value func(w *warp) uint32) specialRegister {
	return func(w *warp, d *lanes) {
		v := value(w)
		for i := range d {
			d[i] = v
		}
	}
}

// A threadIndex holds threadIdx of the lanes of a warp.
type threadIndex struct{ x, y, z lanes }

// threadIndex returns threadIdx, which is the same for the warps with the same number of all blocks.
func (w *warp) threadIndex() *threadIndex { return &w.block.run.threads[w.id] }

// threadIndices computes threadIdx for the warps of a block.
func threadIndices(block [3]int) []threadIndex {
	all := make([]threadIndex, (block[0]*block[1]*block[2]+31)/32)
	for n := range 32 * len(all) {
		t := &all[n/32]
		t.x[n%32] = uint32(n % block[0])
		t.y[n%32] = uint32(n / block[0] % block[1])
		t.z[n%32] = uint32(n / (block[0] * block[1]))
	}
	return all
}

// compileS2R keeps the register in a closure.
// specialRegisterOf returns what reads the special register of an instruction, nil where it is not known.
func specialRegisterOf(in *sass.Inst) specialRegister {
	index := in.Operands[1].Imm
	if in.Arch >= sass.SM90 && index == sass.SRCgaCtaID { // of other architectures it is another register
		return clusterRank
	}
	if in.Arch >= sass.SM100 && index == sass.SRCgaSize {
		return specialRegisters[sass.SRZ] // see bankBlackwell
	}
	return specialRegisters[index]
}

func compileS2R(p *program, o *op) error {
	read := specialRegisterOf(o.inst)
	if read == nil {
		return unsupported(o)
	}
	o.dst = p.dest(&o.inst.Operands[0])
	o.run = func(w *warp, o *op) error {
		read(w, w.out(o, 0))
		w.done(o, 1)
		return nil
	}
	return nil
}

// compileCS2R: the 64-bit form reads a register and the one after it.
func compileCS2R(p *program, o *op) error {
	index := o.inst.Operands[1].Imm
	low, high := specialRegisters[index], specialRegisters[index+1]
	if index == sass.SRZ {
		high = low
	}
	if o.inst.Mod(sass.Size) == sass.Size32 {
		return compileS2R(p, o)
	}
	if low == nil || high == nil {
		return unsupported(o)
	}
	if o.dst = p.dest(&o.inst.Operands[0]); o.dst != sinkRegister {
		p.use(int(o.dst) + 2)
	}
	o.run = func(w *warp, o *op) error {
		low(w, w.out(o, 0))
		high(w, w.out(o, 1))
		w.done(o, 2)
		return nil
	}
	return nil
}

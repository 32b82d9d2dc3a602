package emu

import (
	"encoding/binary"
	"math"

	"gpa/cubin/sass"
)

// Offsets in constant bank 0, measured by compiling reads of each special register for sm_70, sm_80 and sm_90 (CUDA 12.9).
// These are the same on all architectures. The parameters follow; a cubin says where (EIATTR_PARAM_CBANK).
const (
	bankBlockDim  = 0x00
	bankGridDim   = 0x0c
	bankShared    = 0x18 // window of shared memory; sm_90 reads SR_SWINHI instead
	bankLocal     = 0x20 // window of local memory
	bankStack     = 0x28
	bankSharedDyn = 0x2c
	bankGridID    = 0x30
	bankConstant  = 0x50 // generic address of constant bank 3 (cvta.const); sm_90 has it at bankConstant90
	bankSMs       = 0x10c
	bankReserved  = 0x114 // bytes of shared memory that belong to the system, sm_80 and later
)

// Offsets of sm_90, which knows thread-block clusters.
const (
	bankConstant90      = 0xd0
	bankExplicitCluster = 0x140 // 1 where the launch asks for clusters (%is_explicit_cluster)
	bankClusterDim      = 0x144
	bankClusterInverse  = 0x150 // reciprocals of the cluster's dimensions, single precision
	bankClusterCount    = 0x15c // dimensions of the grid in clusters
	bankClusterSize     = 0x188
	bankParameters      = 0x198 // window of the parameters
)

// bankBytes is the least size of constant bank 0.
const bankBytes = 0x1000

// bank0 fills constant bank 0: the launch's own words, then the parameters. The descriptor of global memory that code from
// sm_80 on reads there (0x118, on sm_90 0x208) is zero, as nothing looks at it.
func (r *launchRun) bank0() []byte {
	l, k := r.launch, r.launch.Kernel
	b := bank(make([]byte, max(k.ConstBank0Size, k.ParamBase+k.ParamSize, bankBytes)))
	b.vector(bankBlockDim, l.Block)
	b.vector(bankGridDim, l.Grid)
	binary.LittleEndian.PutUint64(b[bankShared:], sharedWindow)
	binary.LittleEndian.PutUint64(b[bankLocal:], localWindow)
	b.word(bankStack, uint32(r.localBytes))
	b.word(bankSharedDyn, uint32(l.SharedDynamic))
	binary.LittleEndian.PutUint64(b[bankGridID:], 1)
	b.word(bankSMs, uint32(r.machine.gpu.SMs.Int()))
	constants := bankConstant
	if r.machine.module.Arch >= sass.SM90 {
		constants = bankConstant90
	}
	binary.LittleEndian.PutUint64(b[constants:], r.machine.constants)
	if r.machine.module.Arch >= sass.SM80 {
		b.word(bankReserved, uint32(r.machine.gpu.Limits.SharedReserved.Int()))
	}
	if r.machine.module.Arch >= sass.SM90 {
		b.clusters(l)
	}
	if r.machine.module.Arch >= sass.SM90 {
		binary.LittleEndian.PutUint64(b[bankParameters:], parameterWindow)
	}
	copy(b[k.ParamBase:], l.Params)
	return b
}

// clusters says what clusters the launch or the kernel has asked for; where neither has, each block is a cluster of its own.
func (b bank) clusters(l *Launch) {
	size := l.cluster()
	if size == [3]int{} {
		size = [3]int{1, 1, 1}
	} else {
		b.word(bankExplicitCluster, 1)
	}
	b.vector(bankClusterDim, size)
	for axis, n := range size {
		b.word(bankClusterInverse+4*axis, math.Float32bits(1/float32(n)))
		b.word(bankClusterCount+4*axis, uint32(l.Grid[axis]/n))
	}
	b.word(bankClusterSize, uint32(l.clusterBlocks()))
}

// A bank is the contents of a constant bank.
type bank []byte

func (b bank) word(at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }

func (b bank) vector(at int, v [3]int) {
	for axis := range v {
		b.word(at+4*axis, uint32(v[axis]))
	}
}

// clustered reports whether clusters have several blocks.
func (b bank) clustered() bool {
	return len(b) >= bankClusterSize+4 && binary.LittleEndian.Uint32(b[bankClusterSize:]) > 1
}

package emu

import (
	"encoding/binary"
	"math"

	"gpa/cubin/sass"
)

// A bankLayout says where constant bank 0 has what a launch says of itself, 0 where it does not have it. The offsets were measured by
// compiling reads of each special register (CUDA 12.9). The parameters follow; a cubin says where (EIATTR_PARAM_CBANK).
type bankLayout struct {
	blockDim, gridDim int
	shared, local     int // windows; from sm_90 on SR_SWINHI has that of shared memory
	stack, sharedDyn  int
	gridID, sms       int
	constant          int // generic address of constant bank 3 (cvta.const)
	reserved          int // bytes of shared memory that belong to the system
	parameters        int // window of the parameters
	environment       int // %envreg0, the other 31 follow

	explicitCluster int // 1 where the launch asks for clusters (%is_explicit_cluster)
	clusterDim      int
	clusterInverse  int // reciprocals of the cluster's dimensions, single precision
	clusterCount    int // dimensions of the grid in clusters
	clusterSize     int
}

// bankLayoutOf returns the layout of an architecture.
func bankLayoutOf(a sass.Arch) *bankLayout {
	switch {
	case a >= sass.SM100:
		return &bankBlackwell
	case a >= sass.SM90:
		return &bankHopper
	case a >= sass.SM80:
		return &bankAmpere
	}
	return &bankVolta
}

var (
	bankVolta = bankLayout{blockDim: 0x00, gridDim: 0x0c, shared: 0x18, local: 0x20, stack: 0x28, sharedDyn: 0x2c, gridID: 0x30, environment: 0x88, constant: 0x50,
		sms: 0x10c}
	bankAmpere = bankLayout{blockDim: 0x00, gridDim: 0x0c, shared: 0x18, local: 0x20, stack: 0x28, sharedDyn: 0x2c, gridID: 0x30, environment: 0x88, constant: 0x50,
		sms: 0x10c, reserved: 0x114}
	bankHopper = bankLayout{blockDim: 0x00, gridDim: 0x0c, shared: 0x18, local: 0x20, stack: 0x28, sharedDyn: 0x2c, gridID: 0x30, environment: 0x40, constant: 0xd0,
		sms: 0x10c, reserved: 0x114, parameters: 0x198,
		explicitCluster: 0x140, clusterDim: 0x144, clusterInverse: 0x150, clusterCount: 0x15c, clusterSize: 0x188}
	// Code of sm_100 and later subtracts 160 times SR_CgaSize from the offsets of the dynamic shared memory, the clusters and the
	// environment registers. That register reads zero here.
	bankBlackwell = bankLayout{blockDim: 0x360, gridDim: 0x370, local: 0x2f8, stack: 0x37c, sharedDyn: 0x2ac, gridID: 0x140, environment: 0x250, constant: 0x120,
		sms: 0x2d0, reserved: 0x16c, parameters: 0x348,
		clusterDim: 0x2a0, clusterInverse: 0x2b0, clusterCount: 0x2c0, clusterSize: 0x2cc}
)

// bankBytes is the least size of constant bank 0.
const bankBytes = 0x1000

// bank0 fills constant bank 0: the launch's own words, then the parameters. The descriptor of global memory that code from
// sm_80 on reads there (0x118, on sm_90 0x208, later 0x358) is zero, as nothing looks at it.
func (r *launchRun) bank0() []byte {
	l, k := r.launch, r.launch.Kernel
	at := bankLayoutOf(r.machine.module.Arch)
	b := bank(make([]byte, max(k.ConstBank0Size, k.ParamBase+k.ParamSize, bankBytes)))
	b.vector(at.blockDim, l.Block)
	b.vector(at.gridDim, l.Grid)
	if at.shared != 0 {
		binary.LittleEndian.PutUint64(b[at.shared:], sharedWindow)
	}
	binary.LittleEndian.PutUint64(b[at.local:], localWindow)
	b.word(at.stack, uint32(r.localBytes))
	b.word(at.sharedDyn, uint32(l.SharedDynamic))
	binary.LittleEndian.PutUint64(b[at.gridID:], 1)
	b.word(at.sms, uint32(r.machine.gpu.SMs.Int()))
	binary.LittleEndian.PutUint64(b[at.constant:], r.machine.constants)
	if l.Cooperative {
		b.word(at.environment+4, gridWorkspace>>32)
		b.word(at.environment+8, gridWorkspace&0xffffffff)
	}
	if at.reserved != 0 {
		b.word(at.reserved, uint32(r.machine.gpu.Limits.SharedReserved.Int()))
	}
	if at.clusterSize != 0 {
		b.clusters(at, l)
	}
	if at.parameters != 0 {
		binary.LittleEndian.PutUint64(b[at.parameters:], r.parameters())
	}
	copy(b[k.ParamBase:], l.Params)
	return b
}

// parameters is the generic address of a kernel's parameters, among which the copy engine finds tensor maps. Compilers place parameters
// by their alignment in the bank, so that the address is as far from a multiple of 64 bytes as where they begin there.
func (r *launchRun) parameters() uint64 {
	return parameterWindow + uint64(r.launch.Kernel.ParamBase%TensorMapAlign)
}

// clusters says what clusters the launch or the kernel has asked for; where neither has, each block is a cluster of its own.
func (b bank) clusters(at *bankLayout, l *Launch) {
	size := l.cluster()
	if size == [3]int{} {
		size = [3]int{1, 1, 1}
	} else if at.explicitCluster != 0 {
		b.word(at.explicitCluster, 1)
	}
	b.vector(at.clusterDim, size)
	for axis, n := range size {
		b.word(at.clusterInverse+4*axis, math.Float32bits(1/float32(n)))
		b.word(at.clusterCount+4*axis, uint32(l.Grid[axis]/n))
	}
	b.word(at.clusterSize, uint32(l.clusterBlocks()))
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
func (b bank) clustered(at *bankLayout) bool {
	return at.clusterSize != 0 && len(b) >= at.clusterSize+4 && binary.LittleEndian.Uint32(b[at.clusterSize:]) > 1
}

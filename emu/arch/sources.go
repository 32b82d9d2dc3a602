package arch

import "fmt"

// Sources that figures of several models come from.
const (
	guide       = "CUDA C++ Programming Guide, compute capabilities"
	occupancy   = "cuda_occupancy.h of CUDA 12.9"
	jia         = "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking (2018)"
	jiaTuring   = "Jia et al., Dissecting the NVIDIA Turing T4 GPU via Microbenchmarking (2019)"
	accelSim    = "Accel-Sim, SM7_QV100 gpgpusim.config"
	accelSimT   = "Accel-Sim, SM75_RTX2060 gpgpusim.config"
	accelSimA   = "Accel-Sim, SM86_RTX3070 gpgpusim.config"
	ubench      = "Accel-Sim GPU_Microbenchmark output.file, TITAN V"
	rrze        = "RRZE gpu-benches, V100"
	rrzeA100    = "RRZE gpu-benches, A100 80 GB"
	rrzeA40     = "RRZE gpu-benches, A40"
	rrzeL40     = "RRZE gpu-benches, L40"
	rrzeGH200   = "RRZE gpu-benches, GH200"
	rrzeH200    = "RRZE gpu-benches, H200"
	rrzeH100    = "RRZE gpu-benches, H100 PCIe"
	rrzeTur     = "RRZE gpu-benches, RTX 2070"
	tapioca     = "TapiocaFox micro-benchmarks, TITAN V and RTX 2080 Ti"
	huerta      = "Huerta et al., Analyzing Modern NVIDIA GPU Cores (MICRO 2025)"
	gpaTable    = "GPA, GPUArchitecture.cpp, after Jia et al. (2018), table 5"
	ptxasAt     = "stall counts that ptxas of CUDA 12.9 writes for"
	takenV100   = "fitted: taken over from the V100"
	takenTuring = "fitted: taken over from Turing"
	takenGA     = "fitted: taken over from GA102"
	takenA100   = "fitted: taken over from the A100"
	fullCode    = "fitted: contiguous code fills the cache"
	fullConst   = "fitted: contiguous data fill the level"
)

// Nsight Compute reports that figures of several models come from, named behind what they show.
const (
	miniWeather = ", semi_discrete_step of NCAR/GPU_workshop on a V100, Nsight Compute report"
	tendencies  = ", compute_tendencies_x of NCAR/GPU_workshop on a V100, Nsight Compute reports"
	loopsT4     = ", wmma_gemm of Syswea/cuda-fused-linear-layer on a T4, Nsight Compute reports"
	oneStoreT4  = ", Nsight Compute report of a kernel of one store a thread on a T4"
	reductions  = ", reductions of aplainjane/CUDA_Learning on a GeForce RTX 3060, Nsight Compute report"
)

// Data sheets and whitepapers of NVIDIA.
const (
	voltaPaper  = "NVIDIA Tesla V100 GPU Architecture whitepaper (2017)"
	turingPaper = "NVIDIA Turing GPU Architecture whitepaper (2018)"
	a100Paper   = "NVIDIA A100 Tensor Core GPU Architecture whitepaper (2020)"
	ga102Paper  = "NVIDIA Ampere GA102 GPU Architecture whitepaper (2021)"
	adaPaper    = "NVIDIA Ada GPU Architecture whitepaper (2022)"
	hopperPaper = "NVIDIA H100 Tensor Core GPU Architecture whitepaper (2022)"
)

// A family is what the sources of a compute capability's figures are called.
type family struct {
	major, minor int
}

func (f family) arch() int { return f.major*10 + f.minor }

// guide names the table of compute capabilities of the programming guide.
func (f family) guide() string { return fmt.Sprintf("%s %d.%d", guide, f.major, f.minor) }

// A rate is how many results of an instruction class an SM gives in a cycle.
func (f family) rate(perSM float64) Pipe {
	const lanes, subcores = 32, 4
	return Pipe{Interval: Figure{lanes * subcores / perSM, "cycles", fmt.Sprintf("%s: %g results a clock and SM", f.guide(), perSM)}}
}

// limits are those that all compute capabilities since 7.0 share. What differs is filled in by the caller.
func (f family) limits() Limits {
	g := f.guide()
	return Limits{
		WarpSize:         Figure{32, "threads", g},
		Schedulers:       Figure{4, "schedulers", occupancy},
		ThreadsPerBlock:  Figure{1024, "threads", g},
		Registers:        Figure{65536, "registers", g},
		RegistersBlock:   Figure{65536, "registers", g},
		RegistersThread:  Figure{255, "registers", g},
		RegisterUnit:     Figure{256, "registers", occupancy},
		GridX:            Figure{1<<31 - 1, "blocks", g},
		GridYZ:           Figure{65535, "blocks", g},
		BlockXY:          Figure{1024, "threads", g},
		BlockZ:           Figure{64, "threads", g},
		ParameterBytes:   Figure{4096, "bytes", g},
		ConstantBytes:    Figure{64 << 10, "bytes", g},
		SharedBarriers:   Figure{16, "barriers", g},
		BarriersSM:       Figure{0, "barriers", occupancy + ": no limit before 9.0"},
		LocalThreadBytes: Figure{512 << 10, "bytes", g},
	}
}

// residents fills in what an SM holds at a time.
func (l *Limits) residents(f family, warps, blocks float64) {
	l.Warps = Figure{warps, "warps", f.guide()}
	l.Blocks = Figure{blocks, "blocks", occupancy}
}

// shared fills in how shared memory is allocated, all in bytes but the carve-outs, which are in KiB.
func (l *Limits) shared(f family, unit, reserved, block float64, carveouts ...float64) {
	l.SharedUnit = Figure{unit, "bytes", occupancy}
	l.SharedReserved = Figure{reserved, "bytes", f.guide()}
	l.SharedBlock = Figure{block, "bytes", f.guide()}
	for _, kib := range carveouts {
		l.SharedCarveouts = append(l.SharedCarveouts, Figure{kib * 1024, "bytes", occupancy})
	}
}

// tagBanks fills in how lines are looked up.
func (l *L1) tagBanks() {
	const source = "fitted: cycles of loads with strides of 1 to 64 elements, " + rrzeA100
	l.TagHash = [2]Figure{{117, "bit mask", source}, {74, "bit mask", source}}
}

// A board is what the products of one architecture differ in.
type board struct {
	name, product string
	paper         string // source of the figures below unless they have another
	sms           float64
	clock         float64 // MHz
	memory        float64 // GiB
	peak          float64 // GB/s
	achieved      Figure  // B/s
	turn          Figure
	l2            float64 // KiB
	slices        float64
	sliceWidth    Figure
	channels      float64
}

// set fills a model of an architecture with what is special of the product.
func (b board) set(m *Model) *Model {
	m.Name, m.Product = b.name, b.product
	m.SMs = Figure{b.sms, "SMs", b.paper}
	m.Clock = Figure{b.clock * 1e6, "Hz", b.paper + ": boost clock"}
	m.DRAM.Size = Figure{b.memory * (1 << 30), "bytes", b.paper}
	m.DRAM.Peak = Figure{b.peak * 1e9, "bytes a second", b.paper}
	m.DRAM.Achieved = b.achieved
	if b.achieved.Source == "" {
		m.DRAM.Achieved = Figure{b.peak * 0.96e9, "bytes a second", "fitted: 96 % of the peak, as the V100 reaches (" + rrze + ")"}
	}
	m.DRAM.Read = Figure{1, "share", "fitted: as writes"}
	m.DRAM.Turn = b.turn
	if b.turn.Source == "" {
		m.DRAM.Turn = Figure{1, "cycles", "fitted: between the A40 and the V100"}
	}
	m.DRAM.Buffered = Figure{500, "cycles", "fitted: streams that write reach their bandwidth, " + rrze}
	m.DRAM.Batch = Figure{0, "cycles", "fitted: streams of the V100 and A40 are reached without"}
	m.DRAM.Banks = Figure{4, "banks", "fitted: the read stream saturates gradually, " + rrze + "; a line takes a bank for about 20 ns"}
	m.DRAM.Row = Figure{16, "lines", "fitted: 2 KiB, the page of a bank of HBM2 and GDDR6"}
	m.DRAM.Open = Figure{1, "mean times", "fitted: streams of the A100 and A40 rise as if no row were to be opened, " + rrzeA100}
	m.DRAM.Spread = Figure{130, "cycles", "fitted: blocks of more warps wait longer, read stream at low occupancy, " + rrze}
	m.DRAM.Channels = Figure{b.channels, "channels", b.paper + ": 32-bit channels of the memory bus, 64-bit ones of HBM in pairs"}
	m.L2.Size = Figure{b.l2 * 1024, "bytes", b.paper}
	m.L2.Slices = Figure{b.slices, "slices", "fitted: two or four of 32 bytes a cycle for every memory channel"}
	if b.sliceWidth.Source != "" {
		m.L2.SliceWidth = b.sliceWidth
	}
	return m
}

package arch

import "fmt"

// Sources that several figures come from.
const (
	guide     = "CUDA C++ Programming Guide, compute capabilities 7.0"
	occupancy = "cuda_occupancy.h of CUDA 12.9"
	jia       = "Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking (2018)"
	accelSim  = "Accel-Sim, SM7_QV100 gpgpusim.config"
	ubench    = "Accel-Sim GPU_Microbenchmark output.file, TITAN V"
	rrze      = "RRZE gpu-benches, V100"
	huerta    = "Huerta et al., Analyzing Modern NVIDIA GPU Cores (MICRO 2025)"
	gpaTable  = "GPA, GPUArchitecture.cpp, after Jia et al. (2018), table 5"
	whitePap  = "NVIDIA Tesla V100 GPU Architecture whitepaper (2017)"
)

// v100 is the Tesla V100 (Volta, sm_70).
func v100() *Model {
	return &Model{
		Name: "v100", Product: "NVIDIA Tesla V100", Arch: 70,
		SMs:       Figure{80, "SMs", whitePap},
		Clock:     Figure{1.38e9, "Hz", "NVIDIA V100 data sheet: maximal clock of the PCIe board; the GPA paper's figure"},
		Limits:    v100Limits(),
		Issue:     v100Issue(),
		Pipes:     v100Pipes(),
		Latencies: v100Latencies(),
		Queues: Queues{
			LG:      Figure{5, "instructions", huerta + ", section 5.4: 4 entries and a latch"},
			MIO:     Figure{5, "instructions", huerta + ", section 5.4: 4 entries and a latch"},
			Entry:   Figure{11, "cycles", huerta + ", table 2: WAR latency of LDG"},
			Address: Figure{4, "cycles", huerta + ", table 1"},
			LSU:     Figure{1, "cycles", "fitted: shared memory bandwidth 126 to 128 bytes a cycle, " + ubench},
		},
		Shared: SharedMemory{
			Banks:    Figure{32, "banks", guide},
			BankSize: Figure{4, "bytes", guide},
			Conflict: Figure{2, "cycles", "fitted: 19 cycles without conflict, 80 with 32 ways, " + gpaTable},
		},
		L1: L1{
			Unified: Figure{128 << 10, "bytes", whitePap},
			Line:    Figure{128, "bytes", jia},
			Sector:  Figure{32, "bytes", jia},
			Sets:    Figure{64, "sets", "fitted: capacity near 125 kB for contiguous data, " + rrze + "; indices are hashed"},
			Pending: Figure{512, "sectors", accelSim + ": 512 miss status holding registers"},
		},
		L2: L2{
			Size:       Figure{6 << 20, "bytes", whitePap},
			Slices:     Figure{64, "slices", accelSim + ": 32 channels of two"},
			Ways:       Figure{24, "ways", accelSim},
			SliceWidth: Figure{32, "bytes a cycle", accelSim},
			PortWidth:  Figure{64, "bytes a cycle", jia},
			AtomicUnit: Figure{1, "cycles", "fitted: one sector operation a slice and cycle"},
		},
		DRAM: DRAM{
			Size:     Figure{16 << 30, "bytes", "NVIDIA V100 data sheet: 16 GB of HBM2"},
			Peak:     Figure{898e9, "bytes a second", "NVIDIA V100 data sheet: HBM2, 4096 bits at 877 MHz"},
			Achieved: Figure{867e9, "bytes a second", rrze + ": read stream at full occupancy"},
			Channels: Figure{32, "channels", accelSim},
		},
		TLB: TLB{
			Page:    Figure{2 << 20, "bytes", jia},
			Entries: Figure{4096, "pages", jia + ": coverage of about 8 GiB"},
			Miss:    Figure{654, "cycles", jia + ": 1029 cycles with, 375 without a miss"},
		},
		Constant: Constant{
			Size: Figure{2 << 10, "bytes", jia}, Line: Figure{64, "bytes", jia}, Ways: Figure{4, "ways", jia},
			Size2: Figure{64 << 10, "bytes", jia}, Line2: Figure{256, "bytes", jia}, Ways2: Figure{16, "ways", "fitted: contiguous data fill the level"},
			Miss: Figure{79, "cycles", huerta + ", section 5.4: miss of the first level"},
		},
		Fetch: Fetch{
			Line:     Figure{128, "bytes", jia + ": 12 KiB hold about 768 instructions"},
			L0:       Figure{12 << 10, "bytes", jia},
			L1:       Figure{128 << 10, "bytes", jia},
			L0Ways:   Figure{3, "ways", "fitted: contiguous code fills the cache"},
			L1Ways:   Figure{16, "ways", "fitted: contiguous code fills the cache"},
			Miss:     Figure{20, "cycles", accelSim + ": latency of the first-level caches"},
			Prefetch: Figure{8, "lines", huerta + ", table 5: least error with a stream buffer of 8"},
			Interval: Figure{2, "cycles", "fitted: one line in two cycles, 64 bytes a cycle"},
		},
		Launching: Launching{
			Fixed: Figure{1500, "cycles", "Accel-Sim, configuration of H100: kernel launch latency; other configurations have 5000"},
			Block: Figure{1.086, "cycles", "empty-kernel series on H100: cycles a block up to 672 threads"},
			Warp:  Figure{10, "cycles", "fitted: registers and special registers of a block are set up before its first issue"},
		},
		Bounds: v100Bounds(),
	}
}

func v100Limits() Limits {
	return Limits{
		WarpSize:        Figure{32, "threads", guide},
		Schedulers:      Figure{4, "schedulers", occupancy},
		Warps:           Figure{64, "warps", guide},
		Blocks:          Figure{32, "blocks", occupancy},
		ThreadsPerBlock: Figure{1024, "threads", guide},
		Registers:       Figure{65536, "registers", guide},
		RegistersBlock:  Figure{65536, "registers", guide},
		RegistersThread: Figure{255, "registers", guide},
		RegisterUnit:    Figure{256, "registers", occupancy},
		SharedUnit:      Figure{256, "bytes", occupancy},
		SharedReserved:  Figure{0, "bytes", guide},
		SharedBlock:     Figure{96 << 10, "bytes", guide},
		SharedCarveouts: []Figure{
			{0, "bytes", occupancy}, {8 << 10, "bytes", occupancy}, {16 << 10, "bytes", occupancy},
			{32 << 10, "bytes", occupancy}, {64 << 10, "bytes", occupancy}, {96 << 10, "bytes", occupancy},
		},
		GridX:            Figure{1<<31 - 1, "blocks", guide},
		GridYZ:           Figure{65535, "blocks", guide},
		BlockXY:          Figure{1024, "threads", guide},
		BlockZ:           Figure{64, "threads", guide},
		ParameterBytes:   Figure{4096, "bytes", guide},
		ConstantBytes:    Figure{64 << 10, "bytes", guide},
		SharedBarriers:   Figure{16, "barriers", guide},
		LocalThreadBytes: Figure{512 << 10, "bytes", guide},
	}
}

func v100Issue() Issue {
	return Issue{
		Banks:          Figure{2, "banks", jia},
		BankPorts:      Figure{2, "registers a cycle", jia + ": 64-bit banks, only three operands in one bank conflict"},
		Window:         Figure{1, "cycles", "fitted: three operands in one bank cost one cycle, " + jia},
		StallZeroYield: Figure{45, "cycles", huerta + ", section 4"},
		Branch:         Figure{8, "cycles", "fitted: lowest branch resolution seen, 7 to 12 cycles"},
		Barrier:        Figure{16, "cycles", "fitted: 16 threads a clock pass BAR.SYNC, " + guide},
		Yield:          Figure{2, "cycles", huerta + ", section 4: one bubble if no other warp is ready"},
	}
}

func v100Pipes() [NumPipes]Pipe {
	interval := func(cycles, perSM float64) Pipe {
		return Pipe{Figure{cycles, "cycles", fmt.Sprintf("%s: %g results a clock and SM", guide, perSM)}}
	}
	return [NumPipes]Pipe{
		ALU:     interval(2, 64),
		FMA:     interval(2, 64),
		FP16:    interval(2, 64),
		FP64:    interval(4, 32),
		Tensor:  {Figure{2, "cycles", ubench + ": 2.2 cycles a step of HMMA"}},
		XU:      interval(8, 16),
		LSU:     {Figure{1, "cycles", huerta + ", table 1: one issue a cycle until the queue is full"}},
		Control: {Figure{1, "cycles", "fitted: branches are limited by their latency"}},
	}
}

func v100Latencies() Latencies {
	return Latencies{
		FP64:     Figure{8, "cycles", ubench + ": lat_double 8.08"},
		Half:     Figure{12, "cycles", "fitted: wmma latency of 33 to 35 cycles over its HMMA steps, " + ubench},
		MUFU:     Figure{17, "cycles", "fitted: fast square root chain of 21.1 with one multiplication of 4, " + ubench},
		Convert:  Figure{15, "cycles", "TapiocaFox micro-benchmarks, TITAN V: F2I and I2F together 30.0"},
		BitCount: Figure{10, "cycles", gpaTable},
		Shuffle:  Figure{23, "cycles", "fitted: between the shared-memory latency and GPA's bound of 25"},
		Special:  Figure{20, "cycles", "fitted: between the shared-memory latency and GPA's bound of 25"},
		Check:    Figure{15, "cycles", "fitted: as a conversion"},
		Constant: Figure{27, "cycles", huerta + ": LDC 26 to 29"},
		Shared:   Figure{19, "cycles", jia + "; with 8 cycles for the address the 27.0 of " + ubench},
		Atomic:   Figure{26, "cycles", "fitted: load, operation and store of shared memory"},
		L1:       Figure{28, "cycles", jia + "; 27.9 in " + rrze},
		L2:       Figure{212, "cycles", rrze + ": 212.1, and the tuner of Accel-Sim"},
		Global:   Figure{244, "cycles", ubench + ": atomic_add_lat 243.6"},
		DRAM:     Figure{425, "cycles", rrze + ": 425 to 434"},
		Wider:    Figure{2, "cycles", huerta + ", table 2: 512 bits a cycle return"},
		Operands: Figure{2, "cycles", "fitted: stores read data after the grant, " + huerta + ", table 2"},
	}
}

func v100Bounds() [NumLatencyClasses]Bound {
	const tlb = gpaTable + "; the maximum is that of a TLB miss"
	return [NumLatencyClasses]Bound{
		ClassInteger:   {4, 4, gpaTable},
		ClassIMAD:      {5, 5, gpaTable},
		ClassPopc:      {10, 10, gpaTable},
		ClassPredicate: {5, 5, gpaTable},
		ClassConvert:   {14, 14, gpaTable},
		ClassMUFU:      {14, 14, gpaTable},
		ClassFP16:      {6, 6, gpaTable},
		ClassFP32:      {4, 4, gpaTable},
		ClassFP64:      {8, 8, gpaTable},
		ClassShared:    {19, 80, gpaTable},
		ClassMemory:    {28, 1024, tlb},
		ClassOther:     {4, 25, gpaTable},
	}
}

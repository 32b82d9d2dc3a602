package arch

// ampere is the architecture of sm_80.
func ampere() *Model {
	f := family{8, 0}
	m := turing()
	m.Arch = f.arch()
	m.Limits = f.limits()
	m.Limits.TensorCores = Figure{4, "cores", a100Paper}
	m.Limits.residents(f, 64, 32)
	m.Limits.shared(f, 128, 1024, 163<<10, 0, 8, 16, 32, 64, 100, 132, 164)
	m.Issue.laterBranches()
	m.Pipes = voltaPipes(f)
	m.Pipes[FP16] = f.rate(128)
	m.Pipes[Tensor] = Pipe{Interval: Figure{8, "cycles", a100Paper + ": 1024 multiply-adds a clock and SM; HMMA.16816"}}
	m.Shared.Banks.Source, m.Shared.BankSize.Source = f.guide(), f.guide()
	m.Queues = turingQueues()
	m.Launching = launching()
	m.L1.Unified = Figure{192 << 10, "bytes", a100Paper}
	m.L1.Reserved = Figure{36 << 10, "bytes", "fitted: capacity near 156 kB, " + rrzeA100}
	m.L1.Ways = Figure{3, "ways", "fitted: the latency rises from 153 to 223 kB, " + rrzeA100}
	m.L1.Pending = Figure{2048, "sectors", takenV100}
	m.L2 = L2{
		Partitions:  Figure{2, "partitions", a100Paper + ": each caches for the GPCs that are connected to it"},
		Far:         Figure{45, "cycles", "fitted: mean of 398 cycles between 26 and 38 MB, half of it from DRAM, " + rrzeA100},
		LinkWidth:   Figure{9.5, "bytes a cycle", "fitted: bandwidth of buffers of 30 to 44 MB, " + rrzeA100},
		Ways:        Figure{20, "ways", "fitted: a power of two of sets"},
		PortWidth:   Figure{64, "bytes a cycle", a100Paper},
		Partial:     m.L2.Partial,
		Fill:        m.L2.Fill,
		ReplyWidth:  Figure{36, "bytes a cycle", "fitted: 5430 GB/s of all SMs, " + rrzeA100},
		InOrder:     Figure{1, "rule", "fitted: bandwidth of buffers of 30 to 44 MB, " + rrzeA100},
		AtomicUnit:  Figure{1, "cycles", takenV100},
		AtomicFloat: floatAtomics(),
	}
	m.Fetch.L0 = Figure{16 << 10, "bytes", takenTuring}
	m.Fetch.L1 = Figure{128 << 10, "bytes", huerta + ", section 6: 128 KiB"}
	m.Fetch.L1Ways = Figure{16, "ways", fullCode}
	l := &m.Latencies
	l.FP64 = Figure{8, "cycles", takenV100}
	l.Half = Figure{24, "cycles", "fitted: HMMA.16816, three times its rate of 8 cycles"}
	l.Copy = Figure{7, "cycles", "fitted: taken over from GA102"}
	l.CopyRead = Figure{2, "cycles", "fitted: taken over from GA102"}
	l.L1 = Figure{31, "cycles", rrzeA100 + ": 33.0 with 64 bits"}
	l.Shared = Figure{23, "cycles", "Abdelkhalik et al., Demystifying the Nvidia Ampere Architecture (2022)"}
	l.L2 = Figure{205.5, "cycles", rrzeA100 + ": in the near partition"}
	l.DRAM = Figure{522, "cycles", rrzeA100 + ": 552 of both partitions, beyond the first level of the TLB"}
	m.TLB.FirstEntries.Source = takenV100
	m.TLB.FirstMiss = Figure{9.8, "cycles", "fitted: 550.8 cycles at 204 MB, 552.4 at 1.7 GB, " + rrzeA100}
	l.Global = Figure{238, "cycles", "fitted: as much more than L2 as on the V100"}
	m.Bounds = laterBounds(m, takenV100)
	return m
}

// laterBranches sets what branches take since 8.x.
func (i *Issue) laterBranches() {
	i.Branch = Figure{8, "cycles", "fitted: 4 samples of wait and 3 of branch_resolving for each taken branch" + reductions}
	i.Refetch.Source = takenTuring
	i.Return.Source = takenV100
	i.Resolving.Source = "fitted: 2.8 to 3.2 samples of branch_resolving for each taken branch" + reductions
	i.Sync.Source = takenTuring
	i.Exit = Figure{16, "cycles", "fitted: samples of wait and branch_resolving behind EXIT for each warp" + reductions}
	i.ExitResolving = Figure{10, "cycles", "fitted: 4.9 samples of wait and 10.0 of branch_resolving behind EXIT for each warp" + reductions}
	i.Drain = Figure{2, "cycles", "fitted: 2.0 to 2.2 samples of drain for each warp" + reductions}
}

// a100 is the A100 of 80 GB.
func a100() *Model {
	m := board{
		name: "a100", product: "NVIDIA A100 80GB", paper: a100Paper, sms: 108, clock: 1410, memory: 80, peak: 2039,
		achieved: Figure{1900e9, "bytes a second", rrzeA100 + ": write stream"},
		turn:     Figure{80, "cycles", "fitted: scale 1711 and triad 1781 GB/s, " + rrzeA100 + "; of a batch"},
		l2:       40 << 10, slices: 80, channels: 40,
		sliceWidth: Figure{64, "bytes a cycle", a100Paper + ": 5120 bytes a cycle of all slices"},
	}.set(ampere())
	m.L2.Slices.Source = a100Paper
	m.DRAM.Channels.Source = a100Paper + ": 5 stacks of 8 channels"
	m.DRAM.Batch = Figure{1000, "cycles", "fitted: scale and triad from 19 to 31 % occupancy, " + rrzeA100}
	m.DRAM.Peak.Source = "NVIDIA A100 80GB data sheet: SXM4"
	m.DRAM.Size.Source = m.DRAM.Peak.Source
	return m
}

// ga102 is the architecture of sm_86. Its figures of the SM are those that Huerta et al. measured on an RTX A6000.
func ga102() *Model {
	f := family{8, 6}
	m := turing()
	m.Arch = f.arch()
	m.Limits = f.limits()
	m.Limits.TensorCores = Figure{4, "cores", ga102Paper}
	m.Limits.residents(f, 48, 16)
	m.Limits.shared(f, 128, 1024, 99<<10, 0, 8, 16, 32, 64, 100)
	m.Issue.laterBranches()
	m.Pipes = ga102Pipes(f)
	m.Shared.Banks.Source, m.Shared.BankSize.Source = f.guide(), f.guide()
	m.Queues.LSU = Figure{1, "cycles", ga102Paper + ": 128 bytes a cycle from shared memory"}
	m.L1.Unified = Figure{128 << 10, "bytes", ga102Paper}
	m.L1.Reserved = Figure{24 << 10, "bytes", "fitted: capacity near 104 kB, " + rrzeA40}
	m.L1.Ways = Figure{2, "ways", "fitted: the latency rises from 104 to 158 kB, " + rrzeA40}
	m.L1.Pending = Figure{1536, "sectors", accelSimA + ": 384 miss status holding registers of a line each"}
	m.L2.Partitions.Source = "one latency up to the capacity, " + rrzeA40
	m.L2.Ways = Figure{24, "ways", takenV100}
	m.L2.ReplyWidth = Figure{17.2, "bytes a cycle", "fitted: 2484 GB/s of all SMs, " + rrzeA40}
	m.Fetch.L1 = Figure{128 << 10, "bytes", huerta + ", section 6: 128 KiB"}
	m.Fetch.L1Ways = Figure{16, "ways", fullCode}
	l := &m.Latencies
	l.Copy = Figure{7, "cycles", huerta + ", table 2: LDGSTS 39, LDG 32"}
	l.CopyRead = Figure{2, "cycles", huerta + ", table 2: WAR latency of LDGSTS 13, of LDG 11"}
	l.Half = Figure{33, "cycles", "fitted: HMMA.16816, twice its rate of 16 cycles"}
	l.L1 = Figure{31, "cycles", rrzeA40 + ": 33.0 with 64 bits; 32 with 32 bits in " + huerta + ", table 2"}
	l.Shared = Figure{24, "cycles", huerta + ", table 2"}
	l.L2 = Figure{250, "cycles", rrzeA40}
	l.DRAM = Figure{546.7, "cycles", rrzeA40 + ": up to 32 MiB"}
	m.TLB.FirstEntries.Source = "one latency up to 32 MiB, " + rrzeA40
	m.TLB.FirstMiss = Figure{9.8, "cycles", "fitted: 546.7 cycles up to 32 MiB, 556.5 at 1.7 GB, " + rrzeA40}
	l.Global = Figure{282, "cycles", "fitted: as much more than L2 as on the V100"}
	m.Bounds = laterBounds(m, takenV100)
	return m
}

func ga102Pipes(f family) [NumPipes]Pipe {
	p := turingPipes(f)
	p[FMA] = f.rate(128)
	p[FMAHeavy] = f.rate(64)
	p[Tensor] = Pipe{Interval: Figure{16, "cycles", ga102Paper + ": 512 multiply-adds a clock and SM; HMMA.16816"}}
	return p
}

// a40 is the A40.
func a40() *Model {
	m := board{
		name: "a40", product: "NVIDIA A40", paper: "NVIDIA A40 data sheet", sms: 84, clock: 1740, memory: 48, peak: 696,
		achieved: Figure{680e9, "bytes a second", rrzeA40 + ": read and write streams"},
		turn:     Figure{0.55, "cycles", "fitted: scale 655 and triad 670 GB/s, " + rrzeA40},
		l2:       6 << 10, slices: 48, channels: 24,
		sliceWidth: Figure{29.7, "bytes a cycle", "fitted: 2484 GB/s, " + rrzeA40},
	}.set(ga102())
	m.Latencies.StoreDrain = Figure{110, "cycles", "fitted: write stream from 1 to 6 % occupancy, " + rrzeA40}
	m.L1.Outgoing = Figure{256, "sectors", "fitted: write stream where DRAM begins to be full, " + rrzeA40}
	return m
}

// rtx3090 is the GeForce RTX 3090.
func rtx3090() *Model {
	return board{
		name: "rtx3090", product: "NVIDIA GeForce RTX 3090", paper: ga102Paper, sms: 82, clock: 1695, memory: 24, peak: 936,
		l2: 6 << 10, slices: 48, channels: 24,
		sliceWidth: Figure{29.7, "bytes a cycle", "fitted: taken over from the A40"},
	}.set(ga102())
}

// rtxA6000 is the RTX A6000, on which Huerta et al. measured.
func rtxA6000() *Model {
	m := board{
		name: "rtxa6000", product: "NVIDIA RTX A6000", paper: ga102Paper, sms: 84, clock: 1800, memory: 48, peak: 768,
		l2: 6 << 10, slices: 48, channels: 24,
		sliceWidth: Figure{29.7, "bytes a cycle", "fitted: taken over from the A40"},
	}.set(ga102())
	m.Latencies.L1 = Figure{32, "cycles", huerta + ", table 2"}
	return m
}

package arch

// hopper is the architecture of sm_90.
func hopper() *Model {
	f := family{9, 0}
	m := ampere()
	m.server(f, hopperPaper)
	m.Pipes[Tensor] = Pipe{Interval: Figure{8, "cycles", "fitted: half of the rate of WGMMA, " + hopperPaper + "; HMMA.16816"}}
	m.Groups = Groups{
		Columns:  Figure{2, "columns a cycle", "Luo et al., arXiv 2501.12084: m64n256k16 in 128.0 cycles, SS and RS"},
		Least:    Figure{24, "cycles", "fitted: chains of wgmma of N = 8 to 32 on an H200, whose times are to that of N = 256 as 24 to 128"},
		Complete: Figure{33, "cycles", "assumed: not published of one group; as HMMA"},
	}
	m.Clusters = Clusters{
		GPCs:    Figure{8, "GPCs", hopperPaper + ": of up to 9 TPCs"},
		Remote:  Figure{201, "cycles", "Luo et al., arXiv 2501.12084, logs of an H800: 181 in clusters of 2, 201 to 207 of 3 and 4, 203 of 8"},
		Width:   Figure{16.3, "bytes a cycle", "Luo et al., arXiv 2501.12084: 3.27 TB/s of 114 SMs at 1755 MHz, clusters of 2"},
		Barrier: Figure{102, "cycles", "assumed: as a public record of probes of a B300 has it, relaxed arrival and wait"},
	}
	m.L1.Unified = Figure{256 << 10, "bytes", hopperPaper}
	m.L1.Reserved = Figure{42 << 10, "bytes", "fitted: capacity near 213 KiB, " + rrzeGH200}
	m.L1.Outgoing = Figure{256, "sectors", "fitted: write stream where DRAM begins to be full, " + rrzeGH200}
	m.L1.Ways = Figure{2, "ways", "fitted: the latency rises from 213 to 316 kB, " + rrzeGH200}
	m.L2.Partitions.Source = "latency of two plateaus, " + rrzeGH200
	m.L2.Far = Figure{40, "cycles", "fitted: mean of 488 to 520 cycles between 38 and 56 MB, half of it from DRAM, " + rrzeGH200}
	m.L2.LinkWidth = Figure{11, "bytes a cycle", "fitted: bandwidth of buffers of 44 to 63 MB, " + rrzeH200}
	m.L2.PortWidth = Figure{64, "bytes a cycle", hopperPaper}
	m.L2.ReplyWidth = Figure{38, "bytes a cycle", "fitted: 9800 GB/s of all SMs, " + rrzeH200}
	l := &m.Latencies
	l.Bulk = Figure{105, "cycles", "Luo et al., arXiv 2501.12084, logs of an H800: 365 to 369 cycles where a load that misses L1 takes 264"}
	l.FP64 = Figure{8, "cycles", ptxasAt + " sm_90: DFMA is of fixed latency"}
	l.Half = Figure{32, "cycles", "fitted: HMMA.16816; 16 to 24 for smaller shapes"}
	l.L1 = Figure{30, "cycles", rrzeGH200 + ": 32.0 with 64 bits"}
	l.Shared = Figure{29, "cycles", "mt4g, H100: 29.9; 28.6 elsewhere"}
	l.L2 = Figure{280.4, "cycles", rrzeGH200 + ": in the near partition"}
	m.TLB.FirstMiss = Figure{0, "cycles", "fitted: not told apart from the partitions of L2, " + rrzeGH200}
	l.DRAM = Figure{640, "cycles", "fitted: chases of 611 to 689 cycles, half of their lines from the far partition, and streams of low occupancy, " + rrzeGH200}
	l.Global = Figure{312, "cycles", "fitted: as much more than L2 as on the V100"}
	l.StoreDrain = Figure{81, "cycles", "fitted: write stream from 12 to 31 % occupancy, " + rrzeGH200}
	m.Launching.Block = Figure{1.043, "cycles", emptyH100 + ": cycles a block of 256 threads, from 2,048 blocks to 16,384"}
	m.Launching.Warps = Figure{2.3, "cycles", "fitted: 1.374 cycles a block of 22 warps and 1.474 of 32 warps, two on each of 114 SMs, " + emptyH100}
	m.Launching.Replace = Figure{236, "cycles", "fitted: as Warps"}
	m.Launching.Stored = Figure{0, "waits", "fitted: write stream from one warp an SM up to half of the occupancy, " + rrzeGH200 + "; as on Turing"}
	m.Bounds = laterBounds(m, takenA100)
	return m
}

// server fills in the SM that the GPUs of data centres have from sm_90 on; paper tells of its tensor cores.
func (m *Model) server(f family, paper string) {
	m.Arch = f.arch()
	m.Limits = f.limits()
	m.Limits.TensorCores = Figure{4, "cores", paper}
	m.Limits.residents(f, 64, 32)
	m.Limits.BarriersSM = Figure{64, "barriers", occupancy + ": two for each block that an SM can hold"}
	m.Limits.shared(f, 128, 1024, 227<<10, 0, 8, 16, 32, 64, 100, 132, 164, 196, 228)
	m.Pipes = ga102Pipes(f)
	m.Pipes[FP16] = f.rate(128)
	m.Pipes[FP64] = f.rate(64)
	m.Shared.Banks.Source, m.Shared.BankSize.Source = f.guide(), f.guide()
}

// emptyH100 is where the rate comes from at which blocks are launched.
const emptyH100 = "empty-kernel series on H100, sarchlab/mgpusim H100_raw.csv"

// sliceOfHopper is the width of an L2 slice of the boards that no bandwidth was measured of.
var sliceOfHopper = Figure{64, "bytes a cycle", takenA100}

// h100 is the H100 SXM5.
func h100() *Model {
	m := board{
		name: "h100", product: "NVIDIA H100 SXM5 80GB", paper: hopperPaper, sms: 132, clock: 1980, memory: 80, peak: 3352,
		l2: 50 << 10, slices: 80, channels: 80, sliceWidth: sliceOfHopper,
	}.setHopper()
	return h100Cache(m)
}

// h100pcie is the H100 PCIe.
func h100pcie() *Model {
	m := board{
		name: "h100pcie", product: "NVIDIA H100 PCIe 80GB", paper: hopperPaper, sms: 114, clock: 1755, memory: 80, peak: 2039,
		achieved: Figure{1988e9, "bytes a second", rrzeH100},
		l2:       50 << 10, slices: 80, channels: 80, sliceWidth: sliceOfHopper,
	}.setHopper()
	m.Latencies.DRAM = Figure{800, "cycles", "mt4g, H100: 803 to 835 with the address"}
	m.L2.ReplyWidth = Figure{35.5, "bytes a cycle", "fitted: 6940 GB/s of all SMs, " + rrzeH100}
	return h100Cache(m)
}

func h100Cache(m *Model) *Model {
	m.L2.Slices.Source = hopperPaper
	m.L2.LinkWidth = Figure{12, "bytes a cycle", "fitted: bandwidth of buffers of 37 to 58 MB, " + rrzeH100}
	m.L2.Ways = Figure{25, "ways", "fitted: a power of two of sets"}
	m.DRAM.Channels.Source = hopperPaper + ": 5 stacks of 16 channels"
	return m
}

// h200 is the H200 SXM5.
func h200() *Model {
	return board{
		name: "h200", product: "NVIDIA H200 SXM5 141GB", paper: "NVIDIA H200 data sheet", sms: 132, clock: 1980, memory: 141, peak: 4800,
		achieved: Figure{4230e9, "bytes a second", "fitted: 3888 GB/s of reads of buffers of 130 MB and more, which leave banks idle, " + rrzeH200},
		l2:       60 << 10, slices: 96, channels: 96,
		sliceWidth: Figure{64, "bytes a cycle", takenA100},
	}.setSix()
}

// gh200 is the GH200 Grace Hopper Superchip of 96 GB.
func gh200() *Model {
	return board{
		name: "gh200", product: "NVIDIA GH200 96GB", paper: "NVIDIA GH200 data sheet", sms: 132, clock: 1980, memory: 96, peak: 4023,
		achieved: Figure{3940e9, "bytes a second", rrzeGH200 + ": write stream"},
		l2:       60 << 10, slices: 96, channels: 96,
		sliceWidth: Figure{51.6, "bytes a cycle", "fitted: 9800 GB/s of the H200, " + rrzeH200},
	}.setSix()
}

// setHopper fills a model of Hopper.
func (b board) setHopper() *Model { return b.setServer(hopper()) }

// setServer fills a model whose memory is Hopper's.
func (b board) setServer(m *Model) *Model {
	b.set(m)
	m.DRAM.Batch = Figure{2650, "cycles", "fitted: scale and stencils from 6 to 100 % occupancy, " + rrzeGH200}
	m.DRAM.Turn = Figure{140, "cycles", "fitted: scale 3174 and triad 3783 GB/s, " + rrzeGH200 + "; of a batch"}
	m.DRAM.Spread = Figure{90, "cycles", "fitted: read stream from 12 to 100 % occupancy, " + rrzeGH200}
	return m
}

// setSix fills a model of Hopper with six stacks of memory and all of L2.
func (b board) setSix() *Model {
	m := b.setHopper()
	m.L2.Size.Source = "fitted: end of the first plateau near 30 MB, half of the cache, " + rrzeGH200
	m.L2.Ways = Figure{30, "ways", "fitted: a power of two of sets"}
	m.DRAM.Banks = Figure{16, "banks", "fitted: the read stream saturates gradually, " + rrzeGH200 + "; a line takes a bank for 50 ns"}
	m.DRAM.Buffered = Figure{2000, "cycles", "fitted: the write stream reaches its bandwidth, " + rrzeGH200}
	m.DRAM.Spread = Figure{20, "cycles", "fitted: read and scale streams below 12 % occupancy, " + rrzeGH200}
	m.DRAM.Channels.Source = "six stacks of 16 channels, " + b.paper
	return m
}

package arch

// Sources of figures of Blackwell. Of the B200 few are published; those of the B300, whose SMs are alike but for double precision, stand in.
const (
	blackwellPaper = "NVIDIA RTX Blackwell GPU Architecture whitepaper (2025)"
	b200Sheet      = "NVIDIA DGX B200 data sheet"
	microBlackwell = "SemiAnalysis microbench-blackwell"
	probesB300     = "assumed: as a public record of probes of a B300 has it"
	basalt         = "basalt-sass, GeForce RTX 5070 Ti"
	takenHopper    = "assumed: as on the H100, as nothing is published"
	takenAda       = "assumed: as on the RTX 4090, as nothing is published"
)

// serverBlackwell is the architecture of sm_100.
func serverBlackwell() *Model {
	f := family{10, 0}
	m := hopper()
	m.server(f, microBlackwell)
	m.Pipes[Tensor] = Pipe{Interval: Figure{8, "cycles", takenHopper + ": mma of a warp"}}
	m.Groups = noGroups("no wgmma from sm_100 on")
	m.Tensor = TensorMemory{
		Columns:    Figure{2, "columns a cycle", microBlackwell + ": a product of N = 64 to 256 every N/2 cycles"},
		Complete:   Figure{120, "cycles", "fitted: N/2 + 136 cycles with the wait for it, " + microBlackwell},
		FromTensor: Figure{88, "cycles", "fitted: N/2 + 104 cycles with the wait for it, " + microBlackwell},
		Load:       Figure{207, "bytes a cycle", probesB300 + ": 57 to 65 TB/s of 148 SMs"},
		Store:      Figure{385, "bytes a cycle", probesB300 + ": 97 to 131 TB/s of 148 SMs"},
	}
	m.Clusters.GPCs.Source = takenHopper
	m.Clusters.Remote = Figure{180, "cycles", probesB300 + ": in clusters of 3 and more, 215 of 2"}
	m.Clusters.Width.Source = takenHopper
	m.Clusters.Barrier = Figure{102, "cycles", probesB300 + ": relaxed arrival and wait"}
	m.L2.Far = Figure{355, "cycles", probesB300 + ": 300 to 310 in the near partition, about 660 in the far one"}
	l := &m.Latencies
	l.FP64.Source = ptxasAt + " sm_100: DFMA is of fixed latency"
	l.Half = Figure{20, "cycles", probesB300 + ": HMMA.16816 20.1"}
	l.L1 = Figure{38, "cycles", probesB300 + ": 38 to 47"}
	l.Shared = Figure{26, "cycles", probesB300 + ": 24 to 28"}
	l.L2 = Figure{305, "cycles", probesB300 + ": 300 to 310 in the near partition"}
	l.Global = Figure{337, "cycles", takenHopper + ": as much more than L2"}
	l.DRAM = Figure{640, "cycles", takenHopper}
	m.Bounds = laterBounds(m, takenA100)
	return m
}

// b200 is the B200 of 180 GB.
func b200() *Model {
	m := board{
		name: "b200", product: "NVIDIA B200", paper: b200Sheet, sms: 148, clock: 1965, memory: 180, peak: 8000,
		achieved: Figure{7613e9, "bytes a second", probesB300 + ": 7.3 of 7.67 TB/s"},
		l2:       126 << 10, slices: 128, channels: 128, sliceWidth: sliceOfHopper,
	}.setServer(serverBlackwell())
	m.SMs.Source, m.Clock.Source = microBlackwell+": 148 SMs", microBlackwell+": cycles of about 1.965 GHz"
	m.L2.Size.Source = probesB300 + ": 126 MB in two partitions"
	m.L2.Ways = Figure{63, "ways", "fitted: a power of two of sets"}
	m.DRAM.Channels.Source = "assumed: eight stacks of 16 channels, as of HBM3E on the H200"
	return m
}

// clientBlackwell is the architecture of sm_120.
func clientBlackwell() *Model {
	f := family{12, 0}
	m := ada()
	m.Arch = f.arch()
	m.Limits = f.limits()
	m.Limits.TensorCores = Figure{4, "cores", blackwellPaper}
	m.Limits.residents(f, 48, 24)
	m.Limits.BarriersSM = Figure{48, "barriers", occupancy + ": two for each block that an SM can hold"}
	m.Limits.shared(f, 128, 1024, 99<<10, 0, 8, 16, 32, 64, 100)
	m.Pipes = ga102Pipes(f)
	m.Pipes[ALU] = Pipe{Interval: Figure{1, "cycles", blackwellPaper + ": all cores compute with integers, 128 results a clock and SM"}}
	m.Pipes[FMAHeavy] = Pipe{Interval: Figure{0, "cycles", blackwellPaper + ": all cores compute with integers"}}
	m.Pipes[Tensor].Interval.Source = blackwellPaper + ": 512 multiply-adds a clock and SM; HMMA.16816"
	m.Clusters = Clusters{
		GPCs:    Figure{11, "GPCs", blackwellPaper + ": of the RTX 5090"},
		Remote:  Figure{201, "cycles", takenHopper},
		Width:   Figure{16.3, "bytes a cycle", takenHopper},
		Barrier: Figure{102, "cycles", takenHopper},
	}
	m.Shared.Banks.Source, m.Shared.BankSize.Source = f.guide(), f.guide()
	m.L1.Unified.Source = blackwellPaper
	l := &m.Latencies
	l.MUFU = Figure{44, "cycles", basalt}
	l.BitCount = Figure{18, "cycles", basalt + ": POPC"}
	l.FP64 = Figure{64, "cycles", basalt + ": DADD and DFMA"}
	m.Bounds = laterBounds(m, takenV100)
	return m
}

// rtx5090 is the GeForce RTX 5090. Latencies of its memories are not published: they are those of the RTX 4090.
func rtx5090() *Model {
	m := board{
		name: "rtx5090", product: "NVIDIA GeForce RTX 5090", paper: blackwellPaper, sms: 170, clock: 2407, memory: 32, peak: 1792,
		l2: 96 << 10, slices: 64, channels: 32, sliceWidth: Figure{47.8, "bytes a cycle", takenAda},
	}.set(clientBlackwell())
	m.L2.Ways.Value = 24
	return m
}

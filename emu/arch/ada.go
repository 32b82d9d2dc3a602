package arch

// ada is the architecture of sm_89.
func ada() *Model {
	f := family{8, 9}
	m := ga102()
	m.Arch = f.arch()
	m.Limits = f.limits()
	m.Limits.TensorCores = Figure{4, "cores", adaPaper}
	m.Limits.residents(f, 48, 24)
	m.Limits.shared(f, 128, 1024, 99<<10, 0, 8, 16, 32, 64, 100)
	m.Pipes = ga102Pipes(f)
	m.Pipes[Tensor].Interval.Source = adaPaper + ": 512 multiply-adds a clock and SM; HMMA.16816"
	m.Shared.Banks.Source, m.Shared.BankSize.Source = f.guide(), f.guide()
	m.L1.Unified.Source = adaPaper
	m.L1.Reserved = Figure{36 << 10, "bytes", "fitted: the latency rises in steps from 86 KiB to 146 KiB, " + rrzeL40}
	m.L1.Ways = Figure{2, "ways", "fitted: as Reserved"}
	m.L1.Pending.Source = takenGA + ", " + m.L1.Pending.Source
	m.L2.Partitions.Source = "one latency up to the capacity, " + rrzeL40
	m.L2.Ways = Figure{24, "ways", "fitted: a power of two of sets"}
	m.L2.ReplyWidth = Figure{16.3, "bytes a cycle", "fitted: 5710 GB/s of all SMs, " + rrzeL40}
	m.L2.Partial = Figure{2.5, "cycles", "fitted: transpose and strided copy of an RTX 4070 whose buffers lie in L2, as docs/measured.md has them"}
	l := &m.Latencies
	l.L1 = Figure{32, "cycles", rrzeL40 + ": 34.0 with 64 bits"}
	l.L2 = Figure{273.6, "cycles", rrzeL40}
	l.DRAM = Figure{614, "cycles", rrzeL40 + ": 624.9 beyond the first level of the TLB"}
	m.TLB.FirstEntries.Source = "one latency up to 32 MiB, " + rrzeL40
	m.TLB.FirstMiss = Figure{10.7, "cycles", "fitted: 273.6 cycles up to 32 MiB, 280.4 at 90 MB, " + rrzeL40}
	l.Global = Figure{306, "cycles", "fitted: as much more than L2 as on the V100"}
	m.Bounds = laterBounds(m, takenV100)
	return m
}

// l40 is the L40.
func l40() *Model {
	return board{
		name: "l40", product: "NVIDIA L40", paper: "NVIDIA L40 data sheet", sms: 142, clock: 2490, memory: 48, peak: 864,
		achieved: Figure{846e9, "bytes a second", rrzeL40 + ": 839 to 880 GB/s from DRAM"},
		l2:       96 << 10, slices: 48, channels: 24,
		sliceWidth: Figure{47.8, "bytes a cycle", "fitted: 5710 GB/s, " + rrzeL40},
	}.set(ada())
}

// sliceOfAda is the width of an L2 slice of the Ada boards that no bandwidth was measured of.
var sliceOfAda = Figure{47.8, "bytes a cycle", "fitted: taken over from the L40"}

// rtx4070 is the GeForce RTX 4070.
func rtx4070() *Model {
	m := board{
		name: "rtx4070", product: "NVIDIA GeForce RTX 4070", paper: "NVIDIA GeForce RTX 4070 product page", sms: 46, clock: 2475,
		memory: 12, peak: 504, l2: 36 << 10, slices: 24, channels: 12, sliceWidth: sliceOfAda,
	}.set(ada())
	m.L2.Ways.Value = 18
	return m
}

// rtx4090 is the GeForce RTX 4090.
func rtx4090() *Model {
	m := board{
		name: "rtx4090", product: "NVIDIA GeForce RTX 4090", paper: adaPaper, sms: 128, clock: 2520, memory: 24, peak: 1008,
		l2: 72 << 10, slices: 48, channels: 24, sliceWidth: sliceOfAda,
	}.set(ada())
	m.L2.Ways.Value = 18
	return m
}

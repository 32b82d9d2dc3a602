package arch

// turing is the architecture of sm_75. What has not been measured on it is taken over from the V100.
func turing() *Model {
	f := family{7, 5}
	m := volta()
	m.Arch = f.arch()
	m.Limits = f.limits()
	m.Limits.TensorCores = Figure{8, "cores", turingPaper}
	m.Limits.residents(f, 32, 16)
	m.Limits.shared(f, 256, 0, 64<<10, 32, 64)
	m.Issue.BankPorts = Figure{1, "registers a cycle", huerta + ", section 5.3: one read port of 1024 bits a bank"}
	m.Issue.Window = Figure{3, "cycles", huerta + ", section 5.3: window of three cycles"}
	m.Issue.Branch.Source = "fitted: samples of wait and branch_resolving for each taken branch" + loopsT4
	m.Issue.Return.Source = takenV100
	m.Issue.Refetch = Figure{4, "cycles", "fitted: 3.8 to 4.6 samples of no_instructions at the head of a loop for each taken branch" + loopsT4}
	m.Issue.Resolving.Source = "fitted: 2.9 to 3.0 samples of branch_resolving for each taken branch" + loopsT4
	m.Issue.Exit = Figure{15, "cycles", "fitted: samples of wait and branch_resolving behind EXIT for each warp" + oneStoreT4}
	m.Issue.ExitResolving = Figure{10, "cycles", "fitted: 3.6 samples of wait and 10.3 of branch_resolving behind EXIT for each warp" + oneStoreT4}
	m.Issue.Drain.Source = takenV100
	m.Issue.Sync.Source = "fitted: 3 samples of wait and 8.8 of branch_resolving behind each BSYNC" + loopsT4
	m.Pipes = turingPipes(f)
	m.Shared.Banks.Source, m.Shared.BankSize.Source = f.guide(), f.guide()
	m.Queues = turingQueues()
	m.Launching.Stored = Figure{0, "waits", "fitted: a kernel of one store a thread on a T4, 129,899 cycles in its Nsight Compute report"}
	m.Queues.LSU = Figure{2, "cycles", jiaTuring + ": 64 bytes a cycle from L1 and shared memory"}
	m.Queues.InTurn = Figure{1, "rule", "Nsight Compute reports of naive_gemm and sgemm_global_mem_coalesce of LakshyaSingh354 on a GTX 1660 Super: " +
		"behind a full queue the 32 warps of a block end together, achieved occupancy 99.6 %; older blocks first: matrix_addition2D with 8 elements a thread of armleth on a T4, " +
		"whose warps wait longest at their first load"}
	m.Queues.Instruction = Figure{2, "cycles", huerta + ", table 1"}
	m.L1.Unified = Figure{96 << 10, "bytes", turingPaper}
	m.L1.Reserved = Figure{2 << 10, "bytes", "fitted: capacity of 62 KiB with 32 KiB of shared memory, " + rrzeTur}
	m.L1.Ways = Figure{4, "ways", "fitted: taken over from the V100, " + rrze}
	m.L1.Pending = Figure{1024, "sectors", accelSimT + ": 256 miss status holding registers of a line each"}
	m.L2.Partitions.Source = takenV100
	m.L2.ReplyWidth.Source = takenV100 + ", " + rrze
	m.L2.Ways = Figure{16, "ways", accelSimT}
	m.Fetch.L0 = Figure{16 << 10, "bytes", jiaTuring}
	m.Fetch.L0Ways = Figure{4, "ways", fullCode}
	m.Fetch.L1 = Figure{46 << 10, "bytes", jiaTuring}
	m.Fetch.L1Ways = Figure{23, "ways", fullCode}
	l := &m.Latencies
	l.Constant = Figure{29, "cycles", huerta + ", table 2"}
	l.Wider = Figure{2, "cycles", huerta + ", table 2: 512 bits a cycle return"}
	l.UniformLoad = Figure{1, "cycles", huerta + ", table 2: LDS 23 instead of 24, LDG 29 instead of 32 with 2 of EntryUniform"}
	l.UniformStore = Figure{2, "cycles", huerta + ", table 2: WAR latency of STS 10 instead of 12, of STG 10 instead of 14"}
	l.FP64 = Figure{48, "cycles", "fitted: one unit for four sub-cores, behind the MIO queue"}
	l.Half = Figure{14, "cycles", "fitted: HMMA.1688 with a rate of 8 cycles"}
	l.L1 = Figure{30, "cycles", rrzeTur + ": 32 with 64 bits"}
	l.Shared = Figure{23, "cycles", rrzeTur}
	l.L2 = Figure{236, "cycles", rrzeTur}
	m.L2.InOrder = Figure{1, "rule", "fitted: 17 reports of Nsight Compute of a T4 and a GTX 1660 Super are 5.1 % off with it, 5.7 without; see the A100 and the L40"}
	l.DRAM = Figure{490, "cycles", "mt4g, RTX 2080 Ti and T1000: 484 to 496"}
	m.TLB.FirstEntries.Source, m.TLB.FirstMiss.Source = takenV100, takenV100
	l.Global = Figure{268, "cycles", "fitted: as much more than L2 as on the V100"}
	m.Bounds = laterBounds(m, takenV100)
	return m
}

// turingQueues are those of the V100 with what uniform registers bring.
func turingQueues() Queues {
	q := voltaQueues()
	q.EntryUniform = Figure{9, "cycles", huerta + ", table 2: WAR latency of LDG"}
	return q
}

func turingPipes(f family) [NumPipes]Pipe {
	p := voltaPipes(f)
	p[FP64] = f.rate(2)
	p[FP64].Shared = true
	p[Tensor] = Pipe{Interval: Figure{8, "cycles", turingPaper + ": 512 multiply-adds a clock and SM; HMMA.1688"}}
	return p
}

// laterBounds are the bounds of the V100 with the longest latencies of another architecture.
func laterBounds(m *Model, source string) [NumBoundClasses]Bound {
	l, q := &m.Latencies, &m.Queues
	b := voltaBounds()
	for i := range b {
		b[i].Source = source + ", " + b[i].Source
	}
	fp64 := l.FP64.Int()
	b[ClassIMAD] = Bound{4, 5, ptxasAt + " IMAD"}
	b[ClassFP64] = Bound{fp64, fp64, l.FP64.Source}
	b[ClassShared].Min = l.Shared.Int() - l.UniformLoad.Int()
	b[ClassMemory].Min = l.L1.Int() - l.UniformLoad.Int() - (q.Entry.Int() - q.EntryUniform.Int())
	return b
}

// t4 is the Tesla T4.
func t4() *Model {
	m := board{
		name: "t4", product: "NVIDIA Tesla T4", paper: turingPaper, sms: 40, clock: 1590, memory: 16, peak: 320,
		achieved: Figure{284e9, "bytes a second", "fitted: matrix_addition1D on a T4; by its Nsight Compute report ECC adds 9 % of reads"},
		l2:       4 << 10, slices: 32, channels: 16, sliceWidth: sliceOf32,
	}.setTuring()
	m.L2.Fill = Figure{2, "rule", "Nsight Compute report of matrix_addition2D on a T4, whose memory has ECC: a read of DRAM for every sector first written in part"}
	return m
}

// gtx1660s is the GeForce GTX 1660 SUPER, which has no tensor cores.
func gtx1660s() *Model {
	m := board{
		name: "gtx1660s", product: "NVIDIA GeForce GTX 1660 SUPER", paper: "NVIDIA GeForce GTX 1660 SUPER product page",
		sms: 22, clock: 1785, memory: 6, peak: 336, l2: 1536, slices: 24, channels: 12, sliceWidth: sliceOf32,
	}.setTuring()
	m.Limits.TensorCores = Figure{0, "cores", "NVIDIA GeForce GTX 1660 SUPER product page"}
	m.L2.Ways = Figure{12, "ways", "fitted: a power of two of sets"}
	return m
}

// rtx2080ti is the GeForce RTX 2080 Ti.
func rtx2080ti() *Model {
	m := board{
		name: "rtx2080ti", product: "NVIDIA GeForce RTX 2080 Ti", paper: turingPaper, sms: 68, clock: 1545, memory: 11, peak: 616,
		l2: 5632, slices: 44, channels: 22, sliceWidth: sliceOf32,
	}.setTuring()
	m.L2.Ways = Figure{22, "ways", "fitted: a power of two of sets"}
	return m
}

// setTuring fills a model with what is special of the product, and with what reports and times of boards of Turing show; of other
// architectures it is not known.
func (b board) setTuring() *Model {
	m := b.set(turing())
	m.Latencies.StoreDrain = Figure{30, "cycles", "fitted: 28 cycles of drain behind branch_resolving" + oneStoreT4}
	m.Launching.Warp = Figure{4, "cycles", "fitted: samples of no_instructions at the first instruction" + oneStoreT4}
	m.Launching.Warps = Figure{3.2, "cycles", "fitted: stall reasons" + oneStoreT4}
	m.Launching.Block = Figure{1.98, "cycles", "fitted: 65,536 blocks that leave half of the places empty" + oneStoreT4}
	m.DRAM.Buffered = Figure{3000, "cycles", "fitted: 6 % of the samples drain, matrix_addition2D with two elements a thread on a T4, Nsight Compute report"}
	m.L1.Outgoing = Figure{128, "sectors", "fitted: 11.6 warps of an SM drain, each with 32 additions on their way, dot_prod_naive of LakshyaSingh354 on a GTX 1660 Super"}
	m.L2.Partial = Figure{1.5, "cycles", "fitted: transpose with uncoalesced stores on an RTX 2080 Ti, Debdeep23/test1: 2.8 cycles a sector and slice"}
	m.L2.Fill = Figure{1, "rule", "fitted: copy of every eighth element on an RTX 2080 Ti, Debdeep23/test1"}
	m.L2.AtomicFloat = Figure{3.4, "cycles", "fitted: dot_prod_naive of LakshyaSingh354 on a GTX 1660 Super, by Nsight Compute: 32,768 RED.ADD.F32 with 32 lanes at one address in 3,305,171 cycles"}
	return m
}

// sliceOf32 is the width that an L2 slice of 32 bytes a cycle reaches.
var sliceOf32 = Figure{27.6, "bytes a cycle", "fitted: 86 % of 32 bytes, as the V100 reaches (" + rrze + ")"}

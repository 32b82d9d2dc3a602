package arch

// volta is the architecture of sm_70, with the figures of the V100 where they are not of the board.
func volta() *Model {
	f := family{7, 0}
	l := f.limits()
	l.residents(f, 64, 32)
	l.shared(f, 256, 0, 96<<10, 0, 8, 16, 32, 64, 96)
	l.TensorCores = Figure{8, "cores", voltaPaper}
	m := &Model{
		Arch:      f.arch(),
		Limits:    l,
		Issue:     voltaIssue(),
		Pipes:     voltaPipes(f),
		Groups:    noGroups("no wgmma before sm_90"),
		Tensor:    noTensorMemory(),
		Clusters:  noClusters(),
		Latencies: voltaLatencies(),
		Queues:    voltaQueues(),
		Shared: SharedMemory{
			Banks:    Figure{32, "banks", f.guide()},
			BankSize: Figure{4, "bytes", f.guide()},
			Conflict: Figure{2, "cycles", "fitted: 19 cycles without conflict, 80 with 32 ways, " + gpaTable},
		},
		L1: L1{
			Unified:  Figure{128 << 10, "bytes", voltaPaper},
			Reserved: Figure{13 << 9, "bytes", "fitted: 120.8 KiB are held, " + rrze},
			Line:     Figure{128, "bytes", jia},
			Sector:   Figure{32, "bytes", jia},
			Ways:     Figure{3, "ways", "fitted: the latency rises from 121 to 161 KiB, " + rrze},
			Pending:  Figure{2048, "sectors", accelSim + ": 512 miss status holding registers of a line each"},
			Outgoing: Figure{2048, "sectors", "fitted: as Pending; see Turing"},
		},
		L2: L2{
			Partitions:  Figure{1, "partitions", "one latency up to the capacity, " + rrze},
			Far:         Figure{0, "cycles", "one partition"},
			LinkWidth:   Figure{0, "bytes a cycle", "one partition"},
			Ways:        Figure{12, "ways", "fitted: the latency rises from 6.0 to 6.7 MiB, " + rrze + "; 24 in " + accelSim},
			SliceWidth:  Figure{32, "bytes a cycle", accelSim},
			PortWidth:   Figure{64, "bytes a cycle", jia},
			ReplyWidth:  Figure{22.5, "bytes a cycle", "fitted: 2440 GB/s of all SMs, " + rrze + "; streams at low occupancy agree"},
			Partial:     Figure{0, "cycles", "fitted: nothing is known; see TITAN V and Turing"},
			Fill:        Figure{0, "rule", "fitted: nothing is known; see Turing"},
			InOrder:     Figure{0, "rule", "fitted: nothing is known; see Turing and the A100"},
			AtomicUnit:  Figure{1, "cycles", "fitted: one sector operation a slice and cycle"},
			AtomicFloat: floatAtomics(),
		},
		TLB: TLB{
			Page:    Figure{2 << 20, "bytes", jia},
			Entries: Figure{4096, "pages", jia + ": coverage of about 8 GiB"},
			Miss:    Figure{600, "cycles", jia + ": a load that misses takes 1029 cycles"},

			FirstEntries: Figure{16, "pages", jia + ": coverage of about 32 MiB; the latency is one up to 32 MiB and rises beyond, " + rrze},
			FirstMiss:    Figure{8.7, "cycles", "fitted: 425.4 cycles from 8 to 32 MiB, 434.1 at 2 GB, " + rrze},
		},
		Constant: voltaConstant(),
		Fetch: Fetch{
			Line:     Figure{128, "bytes", jia + ": 12 KiB hold about 768 instructions"},
			L0:       Figure{12 << 10, "bytes", jia},
			L1:       Figure{128 << 10, "bytes", jia},
			L0Ways:   Figure{3, "ways", fullCode},
			L1Ways:   Figure{16, "ways", fullCode},
			Miss:     Figure{20, "cycles", accelSim + ": latency of the first-level caches"},
			Prefetch: Figure{8, "lines", huerta + ", table 5: least error with a stream buffer of 8"},
			Interval: Figure{2, "cycles", "fitted: one line in two cycles, 64 bytes a cycle"},
		},
		Launching: launching(),
		Bounds:    voltaBounds(),
	}
	m.L1.tagBanks()
	return m
}

// v100 is the Tesla V100 of 16 GB, the GPU of the GPA paper.
func v100() *Model {
	m := board{
		name: "v100", product: "NVIDIA Tesla V100", paper: voltaPaper, sms: 80, clock: 1380, memory: 16, peak: 898,
		achieved: Figure{897e9, "bytes a second", rrze + ": write stream"},
		turn:     Figure{3, "cycles", "fitted: scale 809 and triad 788 GB/s, " + rrze},
		l2:       6 << 10, slices: 64, channels: 32,
	}.set(volta())
	m.Clock.Source = "NVIDIA V100 data sheet: maximal clock of the PCIe board; the GPA paper's figure"
	m.L2.Slices.Source = accelSim + ": 32 channels of two"
	m.DRAM.Read = Figure{0.95, "share", "fitted: read stream 824 GB/s at 75 % and 867 GB/s at full occupancy, " + rrze}
	m.DRAM.Spread = Figure{111, "cycles", "fitted: read and triad streams at low occupancy, " + rrze}
	m.DRAM.Open = Figure{0.49, "mean times", "fitted: streams between little and full occupancy, " + rrze}
	m.DRAM.Channels.Source = accelSim
	m.DRAM.Peak.Source = "NVIDIA V100 data sheet: HBM2, 4096 bits at 877 MHz"
	return m
}

// titanV is the TITAN V, on which Accel-Sim's micro-benchmarks were run.
func titanV() *Model {
	m := board{
		name: "titanv", product: "NVIDIA TITAN V", paper: "NVIDIA TITAN V product page", sms: 80, clock: 1455, memory: 12, peak: 652.8,
		l2: 4.5 * 1024, slices: 48, channels: 24,
	}.set(volta())
	m.DRAM.Channels.Source = "NVIDIA TITAN V product page: HBM2, 3072 bits"
	m.L2.Slices.Source = ubench + ": at most 1536 bytes a cycle"
	m.L2.Ways = Figure{18, "ways", "fitted: a power of two of sets"}
	m.L2.Partial = Figure{3, "cycles", "fitted: transpose with uncoalesced stores, Debdeep23/test1: 4.2 cycles a sector and slice"}
	m.L2.Fill = Figure{0, "rule", "fitted: copy of every eighth element, Debdeep23/test1"}
	m.Latencies.L1 = Figure{33.7, "cycles", ubench + ": l1_lat"}
	m.Latencies.L2 = Figure{211, "cycles", ubench + ": l2_lat"}
	m.Latencies.DRAM = Figure{313, "cycles", ubench + ": mem_lat"}
	return m
}

func voltaQueues() Queues {
	return Queues{
		LG:           Figure{5, "instructions", huerta + ", section 5.4: 4 entries and a latch"},
		MIO:          Figure{5, "instructions", huerta + ", section 5.4: 4 entries and a latch"},
		Entry:        Figure{11, "cycles", huerta + ", table 2: WAR latency of LDG"},
		EntryUniform: Figure{11, "cycles", "as Entry: no uniform registers"},
		TEX:          Figure{5, "instructions", "fitted: nothing is known; as LG"},
		Texels:       Figure{4, "texels a cycle", voltaPaper + ": 320 texture units on 80 SMs; the papers on Turing, Ampere, Ada and Hopper have four an SM too"},
		EntryMIO:     Figure{9, "cycles", huerta + ", table 2: WAR latency of LDS"},
		Address:      Figure{4, "cycles", huerta + ", table 1"},
		LSU:          Figure{1, "cycles", "fitted: shared memory bandwidth 126 to 128 bytes a cycle, " + ubench},
		Instruction:  Figure{1, "cycles", "fitted: L1 bandwidth 126 bytes a cycle with 32 bits a thread, " + rrzeA100},
		Barrier:      Figure{2, "cycles", guide + ": 16 results a clock and SM of __syncthreads on 7.x and 8.x"},
		Shuffle:      Figure{1, "cycles", guide + ": 32 results a clock and SM of warp shuffles, on all since 7.0"},
		InTurn:       Figure{0, "rule", "fitted: nothing is known; see Turing"},
	}
}

func voltaIssue() Issue {
	return Issue{
		Banks:     Figure{2, "banks", jia},
		BankPorts: Figure{2, "registers a cycle", jia + ": 64-bit banks, only three operands in one bank conflict"},
		Window:    Figure{1, "cycles", "fitted: three operands in one bank cost one cycle, " + jia},
		Written: Figure{8, "cycles", "fitted: one write port a bank, " + huerta + ", section 5.3; a result can be read by an instruction that issues " +
			"5 cycles later, stall counts of ptxas for sm_80, and is read 3 cycles after that"},
		StallZeroYield: Figure{45, "cycles", huerta + ", section 4"},
		Depbar:         Figure{4, "cycles", huerta + ", section 4"},
		Operand:        Figure{4, "cycles", huerta + ", section 5.1"},
		Branch:         Figure{7, "cycles", "fitted: samples of wait and branch_resolving for each taken branch" + miniWeather},
		Return:         Figure{36, "cycles", "fitted: 29 samples of branch_resolving behind each RET and 3 at its target" + tendencies},
		Refetch:        Figure{3, "cycles", "fitted: 2.4 to 3.1 samples of no_instructions at the target for each taken branch" + miniWeather},
		Resolving:      Figure{3, "cycles", "fitted: 3.0 to 3.2 samples of branch_resolving for each taken branch" + miniWeather},
		Sync:           Figure{13, "cycles", "fitted: 3 samples of wait and 9 of branch_resolving behind each BSYNC" + miniWeather},
		Exit:           Figure{13, "cycles", "fitted: samples of wait and branch_resolving behind EXIT for each warp" + tendencies},
		ExitResolving:  Figure{9, "cycles", "fitted: 3 samples of wait and 8.4 of branch_resolving behind EXIT for each warp" + tendencies},
		Drain:          Figure{2, "cycles", "fitted: 1.2 to 2.2 samples of drain for each warp" + tendencies},
		Barrier:        Figure{16, "cycles", "fitted: 16 threads a clock pass BAR.SYNC, " + family{7, 0}.guide()},
		Yield:          Figure{2, "cycles", huerta + ", section 4: one bubble if no other warp is ready"},
	}
}

func voltaPipes(f family) [NumPipes]Pipe {
	return [NumPipes]Pipe{
		ALU:      f.rate(64),
		FMA:      f.rate(64),
		FMAHeavy: noFMAHeavy(),
		FP16:     f.rate(64),
		FP64:     f.rate(32),
		Tensor:   {Interval: Figure{2, "cycles", ubench + ": 2.2 cycles a step of HMMA"}},
		XU:       f.rate(16),
		LSU:      {Interval: Figure{1, "cycles", huerta + ", table 1: one issue a cycle until the queue is full"}},
		Control:  {Interval: Figure{1, "cycles", "fitted: branches are limited by their latency"}},
	}
}

// noFMAHeavy is the entry of architectures on which IMAD takes the FMA pipe.
func noFMAHeavy() Pipe {
	return Pipe{Interval: Figure{0, "cycles", "no pipe of its own: IMAD shares the FMA pipe"}}
}

func voltaLatencies() Latencies {
	return Latencies{
		FP64:          Figure{8, "cycles", ubench + ": lat_double 8.08"},
		Half:          Figure{12, "cycles", "fitted: wmma latency of 33 to 35 cycles over its HMMA steps, " + ubench},
		MUFU:          Figure{17, "cycles", "fitted: fast square root chain of 21.1 with one multiplication of 4, " + ubench},
		Convert:       Figure{15, "cycles", tapioca + ": F2I and I2F together 30.0"},
		BitCount:      Figure{10, "cycles", gpaTable},
		Shuffle:       Figure{23, "cycles", "fitted: between the shared-memory latency and GPA's bound of 25"},
		Special:       Figure{20, "cycles", "fitted: between the shared-memory latency and GPA's bound of 25"},
		Reduce:        Figure{12, "cycles", "fitted: 11.6 on a B300; of earlier GPUs nothing is published"},
		Cross:         Figure{13, "cycles", ptxasAt + " sm_90: R2UR; of sm_75 to sm_89, where it varies, nothing is published"},
		Check:         Figure{15, "cycles", "fitted: as a conversion"},
		Constant:      Figure{27, "cycles", huerta + ": LDC 26 to 29"},
		ConstantFixed: Figure{26, "cycles", huerta + ", table 2"},
		ConstantRead:  Figure{10, "cycles", huerta + ", table 2"},
		Shared:        Figure{19, "cycles", jia + "; with 8 cycles for the address the 27.0 of " + ubench},
		Atomic:        Figure{26, "cycles", "fitted: load, operation and store of shared memory"},
		L1:            Figure{28, "cycles", jia + "; 27.9 in " + rrze},
		L2:            Figure{212, "cycles", rrze + ": 212.1, and the tuner of Accel-Sim"},
		Global:        Figure{244, "cycles", ubench + ": atomic_add_lat 243.6"},
		DRAM:          Figure{425.4, "cycles", rrze + ": from 8 to 32 MiB"},
		Wider:         Figure{0, "cycles", "28 cycles with 32 bits, " + jia + ", and with 64 bits, " + rrze},
		SharedWider:   Figure{1, "cycles", huerta + ", table 2: LDS of 128 bits takes 2 more"},
		StoreData:     Figure{3, "cycles", huerta + ", table 2: WAR latency of STG and STS"},
		StoreWider:    Figure{2, "cycles", huerta + ", table 2: WAR latency of STG and STS of 64 and 128 bits"},
		Copy:          Figure{0, "cycles", "fitted: nothing is known; see GA102"},
		Bulk:          Figure{0, "cycles", "no wgmma and no copy engine before sm_90"},
		CopyRead:      Figure{0, "cycles", "fitted: nothing is known; see GA102"},
		StoreDrain:    Figure{0, "cycles", "fitted: nothing is known; see Turing"},
		UniformLoad:   Figure{0, "cycles", "no uniform registers"},
		UniformStore:  Figure{0, "cycles", "no uniform registers"},
	}
}

func voltaConstant() Constant {
	return Constant{
		Size: Figure{2 << 10, "bytes", jia}, Line: Figure{64, "bytes", jia}, Ways: Figure{4, "ways", jia},
		Size2: Figure{64 << 10, "bytes", jia}, Line2: Figure{256, "bytes", jia}, Ways2: Figure{16, "ways", fullConst},
		Miss: Figure{79, "cycles", huerta + ", section 5.4: miss of the first level"},
	}
}

// floatAtomics is what a floating-point atomic takes in L2; nothing is known of a difference between architectures.
func floatAtomics() Figure {
	return Figure{3.15, "cycles", "fitted: dot_prod_naive of LakshyaSingh354 on a GTX 1660 Super, by Nsight Compute: 32,768 RED.ADD.F32 with 32 lanes at one address in 3,305,171 cycles"}
}

// launching is how blocks come to SMs; nothing is known of a difference between architectures.
func launching() Launching {
	return Launching{
		Fixed:   Figure{1500, "cycles", "Accel-Sim, configuration of H100: kernel launch latency; other configurations have 5000"},
		Block:   Figure{1.086, "cycles", "empty-kernel series on H100: cycles a block up to 672 threads"},
		Warp:    Figure{10, "cycles", "fitted: registers and special registers of a block are set up before its first issue"},
		Warps:   Figure{0, "cycles", "fitted: within Warp"},
		Replace: Figure{165, "cycles", "fitted: write stream with one warp an SM, 39 GB/s, " + rrze},
		Stored:  Figure{1, "waits", "fitted: as Replace, and on A100, A40 and GH200"},
	}
}

func voltaBounds() [NumBoundClasses]Bound {
	const tlb = gpaTable + "; the maximum is that of a TLB miss"
	return [NumBoundClasses]Bound{
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

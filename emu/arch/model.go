// Package arch holds GPU models as data: limits, latencies, throughputs, caches and memory, each figure with the source
// it was read from or the word "fitted". Nothing about a particular GPU stands anywhere else.
//
// A [Model] is found by name with [ByName]; every architecture has one file, as volta.go, with the boards that carry it. [OccupancyOf] and [Model.Latency] derive
// from it what other packages need.
package arch

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Figure is one number of a model with where it comes from.
type Figure struct {
	Value  float64
	Unit   string // cycles, bytes, Hz, "warps", …
	Source string // publication, header file or measurement; "fitted: <to what>" where a value was chosen to match one
}

// Int returns the value as an integer.
func (f Figure) Int() int { return int(f.Value) }

// Cycles returns the value as a number of cycles.
func (f Figure) Cycles() int64 { return int64(f.Value) }

// A Model is one GPU.
type Model struct {
	Name    string // as in v100
	Product string // as in NVIDIA Tesla V100
	Arch    int    // 70 for sm_70

	SMs   Figure
	Clock Figure // Hz; cycles are cycles of this clock

	Limits    Limits
	Issue     Issue
	Pipes     [NumPipes]Pipe
	Groups    Groups
	Tensor    TensorMemory
	Clusters  Clusters
	Latencies Latencies
	Queues    Queues
	Shared    SharedMemory
	L1        L1
	L2        L2
	DRAM      DRAM
	TLB       TLB
	Constant  Constant
	Fetch     Fetch
	Launching Launching
	Bounds    [NumBoundClasses]Bound // see [Model.Bound]

	Whole *Model // the GPU that this is a part of, see [Model.Part]; nil for a GPU
}

// Groups is how the four tensor cores of an SM compute products of a warpgroup (PTX wgmma), on GPUs that have them. A product takes as long
// as its multiplications, as the reads of its matrices from shared memory, or as Least, whichever is the longest.
type Groups struct {
	Columns  Figure // of B that are multiplied in a cycle, of 32 bytes each
	Least    Figure
	Complete Figure // from then to the end of the wait for it
}

// TensorMemory is how the tensor cores of an SM compute products whose sums are in tensor memory (PTX ISA, tcgen05), on GPUs that have it.
// A product takes as long as its multiplications, or as the reads of its matrices from shared memory.
type TensorMemory struct {
	Columns    Figure // of B that are multiplied in a cycle, of 32 bytes each, with 128 rows of A or with 64
	Complete   Figure // from then to the cycle in which a transaction barrier counts it
	FromTensor Figure // the same where A is in tensor memory
	Load       Figure // bytes that the warps of an SM load in a cycle
	Store      Figure // bytes that they store
}

// Clusters is how blocks of a cluster (PTX ISA, cluster of CTAs) lie and reach each other, on GPUs that have them. The SMs of a TPC are in
// one GPC, and TPCs are dealt out to the GPCs in turns.
type Clusters struct {
	GPCs    Figure // graphics processing clusters, of which a cluster of blocks takes one
	Remote  Figure // latency of a load from the shared memory of another block
	Width   Figure // bytes that an SM exchanges with the shared memory of others in a cycle
	Barrier Figure // from the last arrival at the barrier of a cluster on
}

// Limits are what an SM can hold and a launch can ask for.
type Limits struct {
	WarpSize         Figure
	Schedulers       Figure // warp schedulers (sub-cores) an SM
	TensorCores      Figure // an SM; 0 on GPUs that have none
	Warps            Figure // resident warps an SM
	Blocks           Figure // resident blocks an SM
	ThreadsPerBlock  Figure
	Registers        Figure // 32-bit registers an SM
	RegistersBlock   Figure // 32-bit registers a block
	RegistersThread  Figure
	RegisterUnit     Figure // registers are allocated to warps in multiples of this
	SharedUnit       Figure // shared memory is allocated to blocks in multiples of this, bytes
	SharedReserved   Figure // shared memory that the driver takes of every block, bytes
	SharedBlock      Figure // shared memory of one block at most, bytes
	SharedCarveouts  []Figure
	GridX, GridYZ    Figure // blocks of a grid in a dimension
	BlockXY, BlockZ  Figure // threads of a block in a dimension
	ParameterBytes   Figure
	ConstantBytes    Figure // of one constant bank
	SharedBarriers   Figure // CTA barriers a block
	BarriersSM       Figure // CTA barriers of all resident blocks of an SM; 0 where no kernel can use up what there are
	LocalThreadBytes Figure // local memory a thread
}

// PipeName is an execution unit of a sub-core with an input that is busy for some cycles after each warp instruction.
type PipeName uint8

// The pipes.
const (
	ALU PipeName = iota
	FMA
	FMAHeavy // of IMAD, where only one half of the FMA pipe has an integer multiplier; interval 0 where it is FMA itself
	FP16
	FP64
	Tensor
	XU      // transcendental functions, conversions, bit counts
	LSU     // the sub-core's way to memory and to the shuffle network
	Control // branches, convergence barriers
	NumPipes
)

// A Pipe is one execution unit of a sub-core.
type Pipe struct {
	// Interval is the number of cycles between two warp instructions on the unit: 32 lanes divided by the results a
	// cycle and sub-core.
	Interval Figure
	// Shared says that the sub-cores share one unit, which they reach through the MIO queue. The interval is that of a
	// sub-core with all of them at it.
	Shared bool
}

// Issue is how a warp scheduler issues.
type Issue struct {
	Banks     Figure // register-file banks of a sub-core: register number modulo this
	BankPorts Figure // registers that one bank delivers in a cycle
	Window    Figure // cycles that an instruction has for reading its operands before the next is held back
	// Written is from the issue of an instruction of fixed latency to the cycle in which it takes the write port of its bank: a load
	// whose result is there in that cycle, for the same bank, has it a cycle later. 0 where no load is late.
	Written Figure
	// StallZeroYield is how long a warp waits after an instruction with stall count 0 and yield.
	StallZeroYield Figure
	// Branch is from the issue of a taken branch until its target is known, Refetch from then to the issue there, the instruction
	// being in the L0 cache. Resolving is the part of Branch, at its end, that samples show as branch_resolving.
	Branch, Refetch, Resolving Figure
	Return                     Figure // as Branch, of RET
	Sync                       Figure // from the issue of BSYNC to the next of the warp where no thread is missing
	// Exit is from the issue of EXIT until the warp drains, ExitResolving the part of it, at its end, that samples show as
	// branch_resolving, Drain the least that a warp drains, where it has no stores to wait for.
	Exit, ExitResolving, Drain Figure
	Barrier                    Figure // from the last arrival at a CTA barrier to the next issue of the waiting warps
	Yield                      Figure // cycles that a warp cannot issue after an instruction with the yield bit, at least
	// Depbar is the least stall count of a DEPBAR that is waited at: what follows one with less does not see it.
	Depbar Figure
	// Operand is how long a scheduler waits with an instruction that it has chosen, and whose constant operand misses the first level,
	// before it turns to another warp.
	Operand Figure
}

// Latencies are cycles from the issue of an instruction to the first issue of one that waits for its dependence counter.
// Instructions of fixed latency have none here, but R2UR: their stall counts hold it. [Latencies.Of] finds the figure of a class.
type Latencies struct {
	FP64     Figure
	Half     Figure // HMMA
	MUFU     Figure
	Convert  Figure // F2F, F2I, I2F, FRND
	BitCount Figure // POPC, FLO, BREV
	Shuffle  Figure
	Special  Figure // S2R, B2R, MATCH, QSPC, …, and what has no figure of its own
	Reduce   Figure // REDUX
	Cross    Figure // R2UR, whose latency is fixed on sm_90
	Check    Figure // FCHK
	Constant Figure // LDC that hits
	// ConstantFixed is LDC of an address without a register; its read barrier is released after ConstantRead.
	ConstantFixed, ConstantRead Figure
	Shared                      Figure // LDS without conflicts
	Atomic                      Figure // ATOMS without conflicts
	L1                          Figure // LDG that hits L1
	L2                          Figure // LDG that hits L2
	Global                      Figure // ATOM and ATOMG, in L2
	DRAM                        Figure // LDG that misses L2
	Wider                       Figure // more for each further 32 bits a thread that LDG loads
	// SharedWider is more for each 32 bits a thread beyond 64 that LDS loads.
	SharedWider Figure
	// StoreData is from the grant of the LSU to the release of the read barrier of a store, StoreWider more for each
	// further 32 bits a thread. Loads release theirs with the grant.
	StoreData  Figure
	StoreWider Figure
	// Copy is what LDGSTS has its data in shared memory later than LDG of 32 bits has them in a register, whatever it copies;
	// CopyRead what its read barrier is released later than LDG's.
	Copy, CopyRead Figure
	// Bulk is what a copy by the copy engine completes later than its last line would be in a register.
	Bulk Figure
	// StoreDrain is from the reading of a store's data to the end of a warp that has executed EXIT.
	StoreDrain Figure
	// UniformLoad is what a load has its result sooner after the grant, UniformStore what StoreData is shorter, where
	// uniform registers alone hold the address.
	UniformLoad, UniformStore Figure
}

// Queues are the ways of instructions from a sub-core to the units that the SM's sub-cores share.
type Queues struct {
	LG       Figure // local and global memory instructions that a sub-core holds
	MIO      Figure // other memory input/output instructions that a sub-core holds
	TEX      Figure // accesses to textures and surfaces that a sub-core holds
	Entry    Figure // cycles from issue to the earliest grant, of local and global memory
	EntryMIO Figure // of other memory input/output
	// EntryUniform is Entry where uniform registers alone hold the address: there is one for all lanes.
	EntryUniform Figure
	Address      Figure // cycles between two instructions through a sub-core's address unit
	LSU          Figure // cycles between two passes through the shared LSU
	// Instruction is the cycles between two instructions through the shared LSU, however few their passes.
	Instruction Figure
	// Texels is how many fetches, each of a point or filtered in two dimensions, the texture units of an SM take in a cycle.
	Texels  Figure
	Shuffle Figure // the same of those that do not touch memory
	Barrier Figure // cycles between two arrivals of warps at CTA barriers
	// InTurn is 1 where warps that have found the queue for local and global memory full enter it by the age of their blocks and,
	// in a block, in the order in which they came, 0 where the scheduler chooses among them as it does elsewhere.
	InTurn Figure
}

// SharedMemory is how an SM serves shared memory.
type SharedMemory struct {
	Banks    Figure
	BankSize Figure // bytes
	Conflict Figure // more latency for every pass after the first
}

// L1 is the data cache of an SM. Its lines are divided into sectors.
type L1 struct {
	Unified Figure // bytes, of L1 and shared memory together
	// Reserved is how many bytes of the unified memory never hold data of L1. A carve-out lies in them first.
	Reserved Figure
	Line     Figure // bytes
	Sector   Figure // bytes
	Ways     Figure // the number of sets follows the carve-out
	// TagHash are masks of bits of the line number; the parity under each gives one bit of the number of the tag bank.
	// Lines in different banks are looked up in one cycle.
	TagHash [2]Figure
	Pending Figure // sectors of loads that may be outstanding
	// Outgoing is how many sectors of stores and atomics may be on their way to L2. With as many the LSU stands still.
	Outgoing Figure
}

// L2 is the cache of the whole GPU.
type L2 struct {
	Size Figure // bytes
	// Partitions is the number of parts that each SM is near to one of. Data whose home is in another part are copied to
	// the near one; they come Far cycles later.
	Partitions Figure
	Far        Figure // cycles
	LinkWidth  Figure // bytes a cycle to one slice from the other partitions
	Slices     Figure
	Ways       Figure
	SliceWidth Figure // bytes a cycle
	PortWidth  Figure // bytes a cycle from one SM, of stores
	ReplyWidth Figure // bytes a cycle to one SM, of loads
	// Partial is the cycles more that a slice takes for a sector that is written in part.
	Partial Figure
	// Fill is 0 where such a sector goes to DRAM under a mask, 1 where the rest of it is read from DRAM when it is written
	// back, 2 where when it is first written.
	Fill Figure
	// InOrder is 1 where a slice hands on in order what it is asked, so that a hit waits with the miss before it until DRAM, or the
	// other partition, takes that.
	InOrder    Figure
	AtomicUnit Figure // cycles that a slice takes for the atomics of one warp instruction to one sector
	// AtomicFloat is the same for floating point, where lanes at one address are added one after the other.
	AtomicFloat Figure
}

// DRAM is the memory of the GPU.
type DRAM struct {
	Size     Figure // bytes
	Peak     Figure // bytes a second, by the data sheet
	Achieved Figure // bytes a second at best, of writes alone
	Read     Figure // the share of it that reads alone reach
	Turn     Figure // cycles that a channel loses by a line, or a batch, that is written back among reads
	// Buffered is for how many cycles a write may wait for its bank without delaying what comes after it.
	Buffered Figure
	// Batch is for how many cycles the controller of a channel that reads keeps writes before it turns and writes all of them, with
	// reads waiting meanwhile, since turning the bus around costs time (Chatterjee et al., Staged Reads, HPCA 2012). Without reads it
	// keeps a line for each bank. 0 where it writes each line as it comes.
	Batch Figure
	// Banks is the number of banks of a channel that work side by side. A line takes one of them.
	Banks Figure
	// Row is the number of lines of a bank that lie in one row. Those but the first take Open of the mean time of a line,
	// and the first what remains: it waits for the row to be opened.
	Row, Open Figure
	// Spread is by how many cycles the latency of a line may be less or more than the mean: some find their row open, others
	// wait for another to be closed or refreshed.
	Spread   Figure
	Channels Figure
}

// TLB is the translation of addresses.
type TLB struct {
	Page    Figure // bytes
	Entries Figure // pages that the last level holds
	Miss    Figure // cycles more of an access whose page is not held

	// FirstEntries is the number of pages that the first level of an SM holds, FirstMiss what an access that misses it and finds its
	// page in the last level takes more.
	FirstEntries, FirstMiss Figure
}

// Constant is the constant caches of an SM.
type Constant struct {
	Size, Line   Figure // bytes, of the first level
	Size2, Line2 Figure // bytes, of the second level
	Miss         Figure // cycles more of an operand that misses the first level and hits the second
	Ways, Ways2  Figure
}

// Fetch is the front end of an SM.
type Fetch struct {
	Line     Figure // bytes
	L0       Figure // bytes, of a sub-core
	L1       Figure // bytes, of an SM
	L0Ways   Figure
	L1Ways   Figure
	Miss     Figure // cycles from an L0 miss to the line's arrival where L1 holds it
	Prefetch Figure // lines that the stream buffer of a sub-core runs ahead
	Interval Figure // cycles between two lines from L1
}

// Launching is how blocks come to SMs.
type Launching struct {
	Fixed Figure // cycles before the first block
	Block Figure // cycles between two blocks of a grid
	Warp  Figure // cycles from a block's placement to the first issue
	// Warps is the cycles between two warps of a block that are set up on an SM.
	Warps Figure
	// Replace is the cycles from the end of a block to the placement of another in its stead.
	Replace Figure
	// Stored is 1 where the place of a block is given away only when its stores are in L2, 0 where when they have left the SM.
	Stored Figure
}

// makers make each model anew on every call, so that nobody can change another's.
// The first of an architecture is its default GPU.
var makers = []func() *Model{
	v100, titanV,
	t4, gtx1660s, rtx2080ti,
	a100,
	rtx3090, a40, rtxA6000,
	rtx4090, l40, rtx4070,
	h100, h100pcie, h200, gh200,
	b200, rtx5090,
}

// models makes all models.
func models() []*Model {
	all := make([]*Model, len(makers))
	for i, build := range makers {
		all[i] = build()
	}
	return all
}

// A label is what a model is found by. Its figures, with their sources, cost far more to make.
type label struct {
	name    string
	product []string // words
	arch    int
}

// labels are those of the models, in the order of makers.
var labels = sync.OnceValue(func() []label {
	var list []label
	for _, m := range models() {
		list = append(list, label{m.Name, productWords(m.Product), m.Arch})
	}
	return list
})

// Names returns the names of all models, by architecture, the default GPU of each first.
func Names() []string {
	var names []string
	for _, l := range labels() {
		names = append(names, l.name)
	}
	return names
}

// ByName finds a model by its name or, as sm_70, the default one of an architecture, with figures of a board of one's own behind it, as in
// "rtx3090,sms=68,dram=760" ([ParseBoard]). The error names the known ones.
func ByName(name string) (*Model, error) {
	if name, own, found := strings.Cut(name, ","); found {
		m, err := ByName(name)
		if err != nil {
			return nil, err
		}
		b, err := ParseBoard(own)
		if err != nil {
			return nil, fmt.Errorf("GPU %s: %w", name, err)
		}
		return m.As(b), nil
	}
	for i, l := range labels() {
		if strings.EqualFold(name, l.name) || name == fmt.Sprintf("sm_%d", l.arch) {
			return makers[i](), nil
		}
	}
	known := Names()
	for _, l := range labels() {
		if sm := fmt.Sprintf("sm_%d", l.arch); !slices.Contains(known, sm) {
			known = append(known, sm)
		}
	}
	return nil, fmt.Errorf("GPU %q is not known; known are %s", name, strings.Join(known, ", "))
}

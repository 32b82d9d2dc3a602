package sass

// Properties are what an opcode says of an instruction beside its form: the memory that it reads and writes, where control goes, whom it
// waits for, when its effect is complete and which latency it has. Everything that treats some instructions unlike others asks for
// these; no package keeps a list of opcodes of its own.
type Properties struct {
	Class         LatencyClass
	Reads, Writes Spaces // atomics do both
	Flow          Flow
	Sync          Sync
	Async         Async
	Compares      Comparison
	Does          Operation
	// Crosses says that what a lane gets depends on operands of other lanes, or on which lanes there are. Matrix products, whose
	// operands lie in all lanes of the warp, are not counted.
	Crosses bool
	// Pairs says that a lane computes two results of 32 bits, one after the other, so that the pipe is busy for twice as long.
	Pairs bool
	// Vector is the opcode that does the same on vector registers, of those of the uniform datapath that have one; OpNone of others.
	Vector Op
	// Fixed are the architectures on which the latency is fixed although the form says that it varies.
	Fixed ArchSet
}

// Properties returns those of an opcode. Of one that the table does not know, Class is ClassUnknown.
func (o Op) Properties() *Properties {
	if o >= NumOps {
		o = OpNone
	}
	return &properties[o]
}

// Single reports whether a thread does by itself what the instruction does: it passes nothing to other threads but by stores to global memory,
// waits for none and changes nothing together with them.
func (p *Properties) Single() bool {
	switch p.Sync {
	case SyncNone, SyncCounter, SyncConvergence:
	default:
		return false
	}
	const common = SpaceShared | SpaceCluster | SpaceTensor
	return !p.Crosses && p.Class != ClassMatrix && p.Class != ClassGroup && p.Async == Synchronous && p.Reads&p.Writes == 0 && (p.Reads|p.Writes)&common == 0
}

// A LatencyClass groups instructions whose results take equally long, for one reason. The cycles by class and GPU are in emu/arch.
type LatencyClass uint8

// The latency classes.
const (
	ClassUnknown      LatencyClass = iota
	ClassALU                       // integer, logic, selection, moves
	ClassSelect                    // selection, minimum and packing of floating point, which the ALU does
	ClassMultiply                  // integer multiply-add
	ClassFloat                     // single precision
	ClassHalf                      // packed half precision
	ClassDouble                    // double precision
	ClassPredicate                 // comparisons and what else writes predicates
	ClassUniform                   // arithmetic of the uniform datapath
	ClassDispatch                  // what the dispatcher executes of its instructions, as moves
	ClassMatrix                    // matrix products of a warp
	ClassGroup                     // matrix products of a warpgroup
	ClassMUFU                      // transcendental functions
	ClassConvert                   // between types
	ClassBitCount                  // counting, finding and reversing bits
	ClassCheck                     // FCHK
	ClassShuffle                   // SHFL
	ClassReduce                    // REDUX
	ClassCross                     // R2UR: from a vector register to a uniform one
	ClassSpecial                   // special registers and what else has a queue to go through but no memory behind it
	ClassConstant                  // the constant cache
	ClassShared                    // shared memory of the block
	ClassSharedAtomic              // atomics there
	ClassGlobal                    // global, local and generic memory
	ClassGlobalAtomic              // atomics there
	ClassTexture                   // textures and surfaces
	ClassTensorMemory              // loads and stores of tensor memory
	ClassTensor                    // matrix products of a block, and copies, that end in tensor memory
	ClassTransfer                  // transaction barriers, bulk copies, stores to other blocks of the cluster
	ClassBranch                    // what changes the pc, or waits for lanes to come to it
	ClassBarrier                   // barriers of blocks and clusters
	ClassFence                     // MEMBAR
	ClassSleep                     // NANOSLEEP
	ClassControl                   // what else has no result
	NumLatencyClasses
)

var classNames = [NumLatencyClasses]string{
	"unknown", "ALU", "select", "multiply", "float", "half", "double", "predicate", "uniform", "dispatch", "matrix", "warpgroup matrix", "MUFU", "convert", "bit count", "check", "shuffle",
	"reduce", "cross", "special", "constant", "shared", "shared atomic", "global", "global atomic", "texture", "tensor memory", "tensor", "transfer", "branch",
	"barrier", "fence", "sleep", "control",
}

// String returns the name of the class.
func (c LatencyClass) String() string {
	if c < NumLatencyClasses {
		return classNames[c]
	}
	return "invalid"
}

// Spaces is a set of memories.
type Spaces uint8

// The memories. Generic is one that the address says: global, shared or local.
const (
	SpaceGeneric Spaces = 1 << iota
	SpaceGlobal
	SpaceLocal
	SpaceShared
	SpaceCluster // shared memory of another block of the cluster
	SpaceConstant
	SpaceTexture        // textures and surfaces
	SpaceTensor         // tensor memory of the block
	NoSpace      Spaces = 0
)

// Flow says where the warp goes on behind an instruction.
type Flow uint8

// The ways on.
const (
	FlowNext     Flow = iota
	FlowJump          // to an address in the instruction
	FlowIndirect      // to an address in a register
	FlowCall
	FlowReturn
	FlowExit
	FlowConverge // where the lanes of a convergence barrier have come
)

// Sync says whom or what an instruction keeps in step with.
type Sync uint8

// The kinds of synchronization.
const (
	SyncNone        Sync = iota
	SyncCounter          // waits for dependence counters
	SyncConvergence      // keeps convergence barriers, or lets other lanes of the warp go on
	SyncWarp             // waits for lanes of the warp
	SyncGroup            // waits for what the warps of a warpgroup have begun
	SyncBlock            // waits for warps of the block
	SyncCluster          // waits for blocks of the cluster
	SyncGrid             // waits for, or lets go, launches that depend on this one
	SyncTransfer         // arrives at, or asks, a transaction barrier
	SyncMemory           // orders accesses to memory, or makes caches forget
)

// Async says when the effect of an instruction is complete, where neither a stall count nor its own dependence counter tells.
type Async uint8

// The kinds of completion.
const (
	Synchronous   Async = iota
	AsyncCopy           // when the group of copies that it is in is complete
	CommitsCopies       // closes a group of copies
	AsyncBulk           // when a transaction barrier, or a group of bulk copies, is complete
	CommitsBulk         // closes a group of bulk copies
	AsyncRemote         // when a transaction barrier of another block is complete
	AsyncMatrix         // when the matrix products of the warpgroup are
	AsyncTensor         // when a transaction barrier says so that CommitsTensor has named
	CommitsTensor       // has a transaction barrier count the end of what the thread has begun of AsyncTensor
)

// Comparison is the type of what an instruction compares.
type Comparison uint8

// The types.
const (
	ComparesNothing Comparison = iota
	ComparesIntegers
	ComparesFloats
)

// An Operation is what arithmetic makes of its operands, whatever their type. Only what values are followed through is named.
type Operation uint8

// The operations.
const (
	NoOperation     Operation = iota
	Moves                     // A
	Selects                   // A or B
	Adds                      // A + B, of some + C
	ShiftsAdds                // A << n + B
	Multiplies                // A * B
	MultipliesAdds            // A * B + C
	TakesExtreme              // the smaller or the larger of A and B
	CombinesBitwise           // any function of the bits of A, B and C
)

// Vector returns the opcode that does the same on vector registers: of UIADD3 IADD3. One that is not of the uniform datapath is its own.
func (o Op) Vector() Op {
	if v := o.Properties().Vector; v != OpNone {
		return v
	}
	return o
}

// Floats reports whether an instruction computes, chooses or compares numbers of floating point.
func (p *Properties) Floats() bool {
	switch p.Class {
	case ClassFloat, ClassSelect, ClassHalf, ClassDouble, ClassMUFU:
		return true
	}
	return p.Compares == ComparesFloats
}

// Redirects reports whether an instruction leads the warp elsewhere than to the next one, or ends it.
func (p *Properties) Redirects() bool { return p.Flow != FlowNext && p.Flow != FlowConverge }

// Returns reports whether any form of an opcode writes a vector register.
func (o Op) Returns() bool { return o < NumOps && theTable().returns[o] }

// Memory is the memory that an instruction reads, or writes where it reads none; of a copy where it comes from.
func (p *Properties) Memory() Spaces {
	if p.Reads != NoSpace {
		return p.Reads
	}
	return p.Writes
}

// Accesses reports whether an instruction reads or writes one of some memories.
func (p *Properties) Accesses(s Spaces) bool { return (p.Reads|p.Writes)&s != 0 }

// Loads reports whether an instruction reads one of some memories into registers and writes nothing.
func (p *Properties) Loads(s Spaces) bool {
	return p.Reads&s != 0 && p.Writes == NoSpace && p.Async == Synchronous
}

// Stores reports whether an instruction writes registers to one of some memories and reads nothing.
func (p *Properties) Stores(s Spaces) bool {
	return p.Writes&s != 0 && p.Reads == NoSpace && p.Async == Synchronous
}

// Atomic reports whether an instruction changes what it reads in one of some memories at once. Arrivals at transaction barriers are
// not counted.
func (p *Properties) Atomic(s Spaces) bool {
	return p.Reads&p.Writes&s != 0 && p.Sync == SyncNone && p.Async == Synchronous
}

// Variable reports whether consumers of what the instruction writes wait for a dependence counter, not for a stall count.
func (i *Inst) Variable() bool {
	return i.Form != nil && i.Form.Variable && !i.Op.Properties().Fixed.Has(i.Arch)
}

// Special returns the number of the special register that an instruction reads; ok is false where it reads none.
func (i *Inst) Special() (number uint64, ok bool) {
	for k := range i.Operands {
		if o := &i.Operands[k]; o.Kind == KindSReg {
			return o.Imm, true
		}
	}
	return 0, false
}

package arch

import "gpa/cubin/sass"

// Of returns the figure of a class of instructions; of a memory, that of its first level, where L1 or the constant cache hits and shared
// memory has no conflict. A class whose latency is fixed has none of its own: stall counts hold it. Where one is asked for all the
// same, and for classes of which nothing is published, Special is the default.
func (l *Latencies) Of(c sass.LatencyClass) Figure {
	switch c {
	case sass.ClassDouble:
		return l.FP64
	case sass.ClassMatrix:
		return l.Half
	case sass.ClassMUFU:
		return l.MUFU
	case sass.ClassConvert:
		return l.Convert
	case sass.ClassBitCount:
		return l.BitCount
	case sass.ClassCheck:
		return l.Check
	case sass.ClassShuffle:
		return l.Shuffle
	case sass.ClassReduce:
		return l.Reduce
	case sass.ClassCross:
		return l.Cross
	case sass.ClassConstant:
		return l.Constant
	case sass.ClassShared, sass.ClassTensorMemory: // of the latter nothing is published
		return l.Shared
	case sass.ClassSharedAtomic:
		return l.Atomic
	case sass.ClassGlobal, sass.ClassTexture: // of textures nothing is published for these GPUs
		return l.L1
	case sass.ClassGlobalAtomic:
		return l.Global
	}
	return l.Special
}

// noGroups are the figures of GPUs without products of a warpgroup; none says which GPUs these are.
func noGroups(none string) Groups {
	return Groups{Columns: Figure{0, "columns a cycle", none}, Least: Figure{0, "cycles", none}, Complete: Figure{0, "cycles", none}}
}

// noTensorMemory are the figures of GPUs without tensor memory.
func noTensorMemory() TensorMemory {
	none := Figure{0, "", "no tensor memory but in sm_100 and sm_103"}
	of := func(unit string) Figure { none.Unit = unit; return none }
	return TensorMemory{Columns: of("columns a cycle"), Complete: of("cycles"), FromTensor: of("cycles"), Load: of("bytes a cycle"), Store: of("bytes a cycle")}
}

// noClusters are the figures of GPUs without clusters of blocks.
func noClusters() Clusters {
	const none = "no clusters before sm_90"
	return Clusters{GPCs: Figure{0, "GPCs", none}, Remote: Figure{0, "cycles", none}, Width: Figure{0, "bytes a cycle", none}, Barrier: Figure{0, "cycles", none}}
}

// pipes holds where a pipe of the instruction table lies in a model.
var pipes = [sass.NumPipes]PipeName{
	sass.PipeNone: Control, sass.PipeALU: ALU, sass.PipeFMA: FMA, sass.PipeFP16: FP16, sass.PipeFP64: FP64, sass.PipeTensor: Tensor,
	sass.PipeXU: XU, sass.PipeLSU: LSU, sass.PipeTEX: LSU, sass.PipeADU: LSU, sass.PipeCBU: Control, sass.PipeUniform: ALU,
}

// PipeOf returns the pipe of a sub-core that executes an instruction. Integer multiplication has one half of the FMA pipe alone where
// only that has a multiplier for it.
func (m *Model) PipeOf(in *sass.Inst) PipeName {
	if in.Form == nil {
		return Control
	}
	p := pipes[in.Form.Pipe]
	if p == FMA && in.Op.Properties().Class == sass.ClassMultiply && m.Pipes[FMAHeavy].Interval.Value > 0 {
		return FMAHeavy
	}
	return p
}

// A BoundClass groups instructions whose latencies are bounded alike, as in Table 5 of Jia et al. (2018) that the GPA
// tool uses for its latency rule.
type BoundClass uint8

// The classes of bounds.
const (
	ClassOther   BoundClass = iota // control, S2R, SHFL, …
	ClassInteger                   // and what else the ALU executes
	ClassIMAD
	ClassPopc
	ClassPredicate // ISETP, PLOP3 and others that write predicates
	ClassConvert   // F2F, F2I, I2F, FRND
	ClassMUFU
	ClassFP16
	ClassFP32
	ClassFP64
	ClassShared // loads from shared memory
	ClassMemory // global, local, constant and atomic operations
	NumBoundClasses
)

// boundClasses are the classes of Table 5 that classes of instructions belong to.
var boundClasses = [sass.NumLatencyClasses]BoundClass{
	sass.ClassALU: ClassInteger, sass.ClassSelect: ClassInteger, sass.ClassMultiply: ClassIMAD, sass.ClassBitCount: ClassPopc, sass.ClassPredicate: ClassPredicate,
	sass.ClassConvert: ClassConvert, sass.ClassMUFU: ClassMUFU, sass.ClassHalf: ClassFP16, sass.ClassFloat: ClassFP32, sass.ClassDouble: ClassFP64,
	sass.ClassShared: ClassShared, sass.ClassSharedAtomic: ClassShared, sass.ClassConstant: ClassMemory, sass.ClassGlobal: ClassMemory,
	sass.ClassGlobalAtomic: ClassMemory, sass.ClassTexture: ClassMemory,
}

// A Bound is the shortest and longest latency of a class, cycles.
type Bound struct {
	Min, Max int
	Source   string
}

// Bound returns the bounds of a class of instructions. They serve the latency rule of GPA's pruning, not the timing of the emulator.
func (m *Model) Bound(c sass.LatencyClass) Bound {
	if c >= sass.NumLatencyClasses {
		c = sass.ClassUnknown
	}
	return m.Bounds[boundClasses[c]]
}

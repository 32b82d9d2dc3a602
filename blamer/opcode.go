package blamer

import (
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// A source says what an instruction is as the cause of a dependency stall.
type source uint8

const (
	arithmeticSource source = iota // everything that is not memory
	localSource
	globalSource // global and generic addresses
	textureSource
	constantSource
	sharedSource
)

// sourceOf classifies an opcode by the memory that it accesses. What closes a group of copies from global memory stands for them.
func sourceOf(op sass.Op) source {
	p := op.Properties()
	if p.Async == sass.CommitsCopies && p.Sync == sass.SyncNone {
		return globalSource
	}
	if p.Async == sass.AsyncMatrix || p.Async == sass.AsyncTensor {
		return arithmeticSource // its matrices lie in shared memory, but nobody waits for a load
	}
	switch at := p.Memory(); {
	case at&sass.SpaceLocal != 0:
		return localSource
	case at&(sass.SpaceGlobal|sass.SpaceGeneric) != 0:
		return globalSource
	case at&sass.SpaceTexture != 0:
		return textureSource
	case at&sass.SpaceConstant != 0:
		return constantSource
	case at&(sass.SpaceShared|sass.SpaceCluster|sass.SpaceTensor) != 0: // tensor memory is the SM's too
		return sharedSource
	}
	return arithmeticSource
}

// throughL1TEX reports whether waiting for the instruction shows as long_scoreboard: results and operand reads of
// local, global and texture accesses.
func (s source) throughL1TEX() bool {
	return s == localSource || s == globalSource || s == textureSource
}

// isSync reports whether the opcode can cause stalls of a synchronization reason: a barrier of the block or the cluster, or a memory
// barrier.
func isSync(op sass.Op, reason stall.Reason) bool {
	switch op.Properties().Sync {
	case sass.SyncBlock, sass.SyncCluster, sass.SyncWarp:
		return reason == stall.Barrier
	case sass.SyncMemory:
		return reason == stall.Membar
	}
	return false
}

// isCopy reports whether an instruction copies from global to shared memory: LDGDEPBAR tells when that is done.
func isCopy(in *sass.Inst) bool { return in.Op.Properties().Async == sass.AsyncCopy }

// isVariable reports whether dependents of the instruction wait for a dependence counter instead of a stall count.
func isVariable(in *sass.Inst) bool {
	return in.Control.WriteBarrier >= 0 || in.Control.ReadBarrier >= 0 || isCopy(in)
}

// latencyBound returns the longest latency that the latency rule grants an instruction, cycles: the known latency of
// fixed-latency instructions, the upper bound of the others.
func latencyBound(in *sass.Inst, m *arch.Model) int64 {
	bound := m.Bound(in.Op.Properties().Class)
	if isVariable(in) {
		return int64(bound.Max)
	}
	return int64(bound.Min)
}

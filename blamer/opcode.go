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

// sourceOf classifies an opcode by the memory that it accesses.
func sourceOf(op sass.Op) source {
	switch op {
	case sass.LDL, sass.STL:
		return localSource
	case sass.LDG, sass.STG, sass.LD, sass.ST, sass.ATOM, sass.ATOMG, sass.RED, sass.REDG, sass.LDGSTS, sass.LDGDEPBAR:
		return globalSource
	case sass.TEX, sass.TLD, sass.TLD4, sass.TXD, sass.TXQ, sass.TMML, sass.FOOTPRINT, sass.SULD, sass.SUST, sass.SUATOM, sass.SURED, sass.SUQUERY:
		return textureSource
	case sass.LDC, sass.ULDC:
		return constantSource
	case sass.LDS, sass.STS, sass.ATOMS, sass.LDSM, sass.STSM, sass.STAS, sass.REDAS:
		return sharedSource
	}
	return arithmeticSource
}

// throughL1TEX reports whether waiting for the instruction shows as long_scoreboard: results and operand reads of
// local, global and texture accesses.
func (s source) throughL1TEX() bool {
	return s == localSource || s == globalSource || s == textureSource
}

// isSync reports whether the opcode can cause stalls of a synchronization reason: a block barrier, or a memory barrier.
func isSync(op sass.Op, reason stall.Reason) bool {
	switch op {
	case sass.BAR, sass.WARPSYNC:
		return reason == stall.Barrier
	case sass.MEMBAR, sass.ERRBAR, sass.CCTL:
		return reason == stall.Membar
	}
	return false
}

// isVariable reports whether dependents of the instruction wait for a dependence counter instead of a stall count. That of a copy to
// shared memory is LDGDEPBAR's.
func isVariable(in *sass.Inst) bool {
	return in.Control.WriteBarrier >= 0 || in.Control.ReadBarrier >= 0 || in.Op == sass.LDGSTS
}

// LatencyClass returns the class under which a GPU model bounds the latency of an opcode.
func LatencyClass(op sass.Op) arch.LatencyClass {
	switch sourceOf(op) {
	case sharedSource:
		return arch.ClassShared
	case localSource, globalSource, textureSource, constantSource:
		return arch.ClassMemory
	}
	switch op {
	case sass.IADD3, sass.LOP3, sass.SHF, sass.LEA, sass.SEL, sass.PRMT, sass.IABS, sass.BMSK, sass.SGXT, sass.FSEL, sass.FMNMX:
		return arch.ClassInteger
	case sass.IMAD, sass.IDP:
		return arch.ClassIMAD
	case sass.POPC, sass.FLO, sass.BREV:
		return arch.ClassPopc
	case sass.ISETP, sass.FSETP, sass.DSETP, sass.HSETP2, sass.PLOP3, sass.R2P, sass.P2R:
		return arch.ClassPredicate
	case sass.F2F, sass.F2I, sass.I2F, sass.FRND:
		return arch.ClassConvert
	case sass.MUFU:
		return arch.ClassMUFU
	case sass.HADD2, sass.HMUL2, sass.HFMA2, sass.HSET2:
		return arch.ClassFP16
	case sass.FADD, sass.FMUL, sass.FFMA:
		return arch.ClassFP32
	case sass.DADD, sass.DMUL, sass.DFMA:
		return arch.ClassFP64
	}
	return arch.ClassOther
}

// latencyBound returns the longest latency that the latency rule grants an instruction, cycles: the known latency of
// fixed-latency instructions, the upper bound of the others.
func latencyBound(in *sass.Inst, m *arch.Model) int64 {
	bound := m.Latency(LatencyClass(in.Op))
	if isVariable(in) {
		return int64(bound.Max)
	}
	return int64(bound.Min)
}

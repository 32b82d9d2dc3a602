package cubin

import (
	"encoding/binary"
	"fmt"
)

// A CallEdge is a call that the linker knows of: between functions of different sections, or of an undefined function.
// Calls inside a section are not among them.
type CallEdge struct {
	Caller, Callee string // symbols
	Indirect       bool   // through a pointer: the callee is a candidate by its prototype
}

// The markers that divide .nv.callgraph, instead of a callee. Their meaning is inferred from files of CUDA 12.9 with
// known calls.
const (
	callsDirect    = 0xffffffff // caller, callee
	callsAddress   = 0xfffffffe // function whose address is taken, prototype
	callsPrototype = 0xfffffffd // function that calls through a pointer, prototype
	callsIndirect  = 0xfffffffc // caller, candidate
)

// readCallGraph reads .nv.callgraph: pairs of 32-bit words, parted by markers.
func (r *reader) readCallGraph() error {
	const name = ".nv.callgraph"
	data := r.section(name)
	if len(data)%8 != 0 {
		return fmt.Errorf("section %s: %d bytes are no whole number of pairs", name, len(data))
	}
	part := uint32(callsDirect)
	for ; len(data) > 0; data = data[8:] {
		from, to := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		if to >= callsIndirect {
			part = to
			continue
		}
		if part != callsDirect && part != callsIndirect {
			continue
		}
		caller, err := r.symbolAt(from)
		if err != nil {
			return fmt.Errorf("section %s: %w", name, err)
		}
		callee, err := r.symbolAt(to)
		if err != nil {
			return fmt.Errorf("section %s: %w", name, err)
		}
		edge := CallEdge{Caller: caller.name, Callee: callee.name, Indirect: part == callsIndirect}
		r.file.CallGraph = append(r.file.CallGraph, edge)
	}
	return nil
}

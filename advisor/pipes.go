package advisor

import (
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// pipe returns the arithmetic pipe of an instruction; false where it has none of its sub-core's own, or its latency varies.
func (in *Input) pipe(inst *sass.Inst) (arch.PipeName, bool) {
	if !inst.Known() || inst.Form.Variable {
		return 0, false
	}
	p := in.Model.PipeOf(inst)
	return p, p < arch.XU && !in.Model.Pipes[p].Shared
}

// pipeInterval is how many cycles an instruction keeps its pipe.
func (in *Input) pipeInterval(p arch.PipeName) float64 {
	return max(1, in.Model.Pipes[p].Interval.Value)
}

package advisor

import (
	"gpa/cubin/sass"
	"gpa/emu/arch"
)

// arithmeticPipes are the pipes of instructions of fixed latency.
var arithmeticPipes = map[sass.Pipe]arch.PipeName{
	sass.PipeALU: arch.ALU, sass.PipeFMA: arch.FMA, sass.PipeFP16: arch.FP16, sass.PipeFP64: arch.FP64, sass.PipeTensor: arch.Tensor,
	sass.PipeUniform: arch.ALU,
}

// pipe returns the arithmetic pipe of an instruction; false where it has none of its sub-core's own, or its latency varies.
func (in *Input) pipe(inst *sass.Inst) (arch.PipeName, bool) {
	if !inst.Known() || inst.Form.Variable {
		return 0, false
	}
	p, ok := arithmeticPipes[inst.Form.Pipe]
	if p == arch.FMA && (inst.Op == sass.IMAD || inst.Op == sass.IDP) && in.Model.Pipes[arch.FMAHeavy].Interval.Value > 0 {
		p = arch.FMAHeavy
	}
	return p, ok && !in.Model.Pipes[p].Shared
}

// pipeInterval is how many cycles an instruction keeps its pipe.
func (in *Input) pipeInterval(p arch.PipeName) float64 {
	return max(1, in.Model.Pipes[p].Interval.Value)
}

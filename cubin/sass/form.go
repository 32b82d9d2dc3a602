package sass

// A Pipe is the execution unit that an instruction is issued to, by the names that Nsight Compute gives them.
type Pipe uint8

// The pipes of a streaming multiprocessor.
const (
	PipeNone    Pipe = iota
	PipeALU          // integer, logic, comparisons, selection, moves
	PipeFMA          // single-precision and integer multiply-add
	PipeFP16         // packed half precision
	PipeFP64         // double precision
	PipeTensor       // matrix multiply-accumulate
	PipeXU           // transcendental functions and conversions
	PipeLSU          // memory, shuffles, special registers
	PipeTEX          // textures and surfaces
	PipeADU          // address divergence: indexed constants, block barriers
	PipeCBU          // convergence barriers and branches
	PipeUniform      // the uniform datapath (sm_75 and later)
	NumPipes
)

// A Form is one row of the table: one operand form of one instruction.
type Form struct {
	Op       Op
	Opcode   uint16 // bits 0 to 11
	Pipe     Pipe
	Variable bool // the latency varies: consumers wait for a dependence counter, not for a stall count
}

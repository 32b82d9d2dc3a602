// Package stall is the vocabulary of stall reasons that every other package shares.
//
// A [Reason] is the hardware's own name for why a sampled warp did not issue (Nsight Compute's
// smsp__pcsamp_warps_issue_stalled_<reason> metrics). A [Class] is the coarser reason of CUPTI's first PC-sampling
// interface, which the GPA paper (section 4) works with. One table maps the first to the second.
package stall

// A Reason says why a sampled warp did not issue an instruction in the sampled cycle; Selected says that it did.
type Reason uint8

// The hardware's stall reasons, in the order in which reports list them when counts are equal.
const (
	Selected         Reason = iota // the warp issued
	NotSelected                    // eligible, but its scheduler issued another warp
	Wait                           // the stall count of the previous instruction has not run out
	LongScoreboard                 // waits for a result of L1TEX: global, local, texture, or a store's read barrier
	ShortScoreboard                // waits for a result of the MIO: shared memory, MUFU, conversions, SHFL, S2R, LDC
	Barrier                        // arrived at a CTA barrier, sibling warps are missing
	Membar                         // a memory barrier waits for earlier stores
	NoInstructions                 // the instruction is not in the instruction buffer yet
	BranchResolving                // the branch target is not known yet
	ImcMiss                        // a constant operand missed the immediate constant cache
	MathPipeThrottle               // the arithmetic pipe is busy
	MioThrottle                    // the queue to the memory input/output unit is full
	LgThrottle                     // the queue for local and global memory is full
	TexThrottle                    // the texture queue is full
	Drain                          // exited, with stores still outstanding
	DispatchStall                  // the dispatcher holds the instruction back (register-file ports)
	Sleeping                       // NANOSLEEP, or every thread yielded or blocked
	Misc                           // anything else
	GMMA                           // matrix products of the warpgroup are not complete
	NumReasons
)

// A Class is a stall reason of CUPTI's first PC-sampling interface, the vocabulary of the GPA paper.
type Class uint8

// The classes, with the names that CUPTI's CUpti_ActivityPCSamplingStallReason gives them.
const (
	None Class = iota
	InstructionFetch
	ExecutionDependency
	MemoryDependency
	Texture
	Synchronization
	ConstantMemoryDependency
	PipeBusy
	MemoryThrottle
	NotSelectedClass
	Other
	SleepingClass
	NumClasses
)

// reasons is the one table of the vocabulary. Its classes follow NVIDIA's table of nvprof metrics and their Nsight
// Compute equivalents; branch_resolving is missing there and follows the text of CUPTI's INST_FETCH ("or because of
// branching effects").
var reasons = [NumReasons]struct {
	name  string
	class Class
}{
	Selected:         {"selected", None},
	NotSelected:      {"not_selected", NotSelectedClass},
	Wait:             {"wait", ExecutionDependency},
	LongScoreboard:   {"long_scoreboard", MemoryDependency},
	ShortScoreboard:  {"short_scoreboard", ExecutionDependency},
	Barrier:          {"barrier", Synchronization},
	Membar:           {"membar", Synchronization},
	NoInstructions:   {"no_instructions", InstructionFetch},
	BranchResolving:  {"branch_resolving", InstructionFetch},
	ImcMiss:          {"imc_miss", ConstantMemoryDependency},
	MathPipeThrottle: {"math_pipe_throttle", PipeBusy},
	MioThrottle:      {"mio_throttle", PipeBusy},
	LgThrottle:       {"lg_throttle", MemoryThrottle},
	TexThrottle:      {"tex_throttle", Texture},
	Drain:            {"drain", MemoryThrottle},
	DispatchStall:    {"dispatch_stall", Other},
	Sleeping:         {"sleeping", SleepingClass},
	Misc:             {"misc", Other},
	GMMA:             {"gmma", ExecutionDependency},
}

var classNames = [NumClasses]string{
	None:                     "none",
	InstructionFetch:         "inst_fetch",
	ExecutionDependency:      "exec_dependency",
	MemoryDependency:         "memory_dependency",
	Texture:                  "texture",
	Synchronization:          "sync",
	ConstantMemoryDependency: "constant_memory_dependency",
	PipeBusy:                 "pipe_busy",
	MemoryThrottle:           "memory_throttle",
	NotSelectedClass:         "not_selected",
	Other:                    "other",
	SleepingClass:            "sleeping",
}

// String returns the hardware's name, as in long_scoreboard.
func (r Reason) String() string {
	if r < NumReasons {
		return reasons[r].name
	}
	return "invalid"
}

// Class returns the CUPTI class that the reason belongs to.
func (r Reason) Class() Class {
	if r < NumReasons {
		return reasons[r].class
	}
	return Other
}

// String returns CUPTI's name in lower case, as in memory_dependency.
func (c Class) String() string {
	if c < NumClasses {
		return classNames[c]
	}
	return "invalid"
}

// ParseReason finds a reason by the hardware's name.
func ParseReason(name string) (Reason, bool) {
	for r := range NumReasons {
		if reasons[r].name == name {
			return r, true
		}
	}
	return 0, false
}

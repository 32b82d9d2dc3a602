// Package blamer attributes the stalls of a profile to the instructions that cause them, as section 4 of the GPA paper
// (Zhou et al., "GPA: A GPU Performance Advisor Based on Instruction Sampling", CGO 2021) describes: backward slicing
// over registers, predicates and virtual barrier registers, pruning of cold edges, apportioning by Equation 1, and
// classification as in Figure 5. [Analyze] is where to begin.
//
// Two rule sets exist. [Options.Plain] is the paper's, as printed. The default one also uses what the paper leaves
// unused although hardware profiles have it: the split of the dependency reasons (wait, short_scoreboard,
// long_scoreboard), the wait mask, the stall counts, and the executions of each instruction.
package blamer

import (
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/emu/arch"
	"gpa/emu/stall"
	"gpa/profiler"
)

// A Node is an instruction of the launch's module.
type Node struct {
	Code int // index in the module's Codes
	Inst int // index in its Insts
}

// DetailedReason is a stall reason after blaming, as in Figure 5 of the paper.
type DetailedReason uint8

// The detailed reasons, named as by_class in the JSON output.
const (
	LocalMemory DetailedReason = iota
	ConstantMemory
	GlobalMemory
	TextureMemory
	SharedMemory
	Arithmetic
	WAR        // a variable-latency instruction had not read its operands yet
	Scheduling // a fixed-latency wait: the stall count of the instruction before
	SynchronizationStall
	InstructionFetch
	PipeBusy
	MemoryThrottle
	NotSelected
	OtherStall // also a dependency whose source the slicing does not find, as one that lies in another code section
	Sleeping
	NumDetailedReasons
)

var detailNames = [NumDetailedReasons]string{
	LocalMemory:          "local_memory",
	ConstantMemory:       "constant_memory",
	GlobalMemory:         "global_memory",
	TextureMemory:        "texture_memory",
	SharedMemory:         "shared_memory",
	Arithmetic:           "arithmetic",
	WAR:                  "war",
	Scheduling:           "scheduling",
	SynchronizationStall: "synchronization",
	InstructionFetch:     "instruction_fetch",
	PipeBusy:             "pipe_busy",
	MemoryThrottle:       "memory_throttle",
	NotSelected:          "not_selected",
	OtherStall:           "other",
	Sleeping:             "sleeping",
}

// String returns the name used in JSON, as in global_memory.
func (d DetailedReason) String() string {
	if d < NumDetailedReasons {
		return detailNames[d]
	}
	return "invalid"
}

// A Blame says that Count samples seen at Use (Latency of them latency samples) are caused by Def. Self-blamed stalls
// have Def equal to Use and Distance 0.
type Blame struct {
	Def, Use Node
	Class    stall.Class // as observed
	Detail   DetailedReason
	Count    float64
	Latency  float64
	// Distance is the number of instructions that issue after Def up to and including Use, on the longest path with
	// the fewest loop iterations; 1 for the next instruction.
	Distance int
}

// A Result is the blame of one launch. Blames add up to the observed samples other than selected ones.
type Result struct {
	Launch *profiler.Launch // with its samples where they belong, see [profiler.Settle]
	Module *cubin.File
	Model  *arch.Model
	Graphs []*cfg.Graph // by code index; nil for sections that were not executed and that no other one calls
	Blames []Blame      // by def, use, class and detail
	Exact  bool         // blamed are the true producers, where the profile knows them

	// Shares of the nodes of the dependency graph with a single dependency (section 6.3 of the paper), before and after
	// pruning. Nodes are the sampled instructions and those that they depend on. A node has a single dependency where
	// no stall class has two instructions to be apportioned to.
	SingleDependencyBefore, SingleDependencyAfter float64

	// Agreement is the share of dependency-stall samples with a known producer that are blamed on it, apportioned
	// shares counted in part; AgreementPlain is the same for the paper's plain rules. HasAgreement is false where the
	// profile knows no producers.
	Agreement      float64
	AgreementPlain float64
	HasAgreement   bool

	// ByProducer is the agreement by the class of the true producer, and ByRule by what left the blamed instruction as the only one,
	// or nearly so: where the rules err.
	ByProducer [NumDetailedReasons]Agreement
	ByRule     [NumRules]Agreement
}

// An Agreement counts dependency-stall samples with a known producer and how many of them are blamed on it.
type Agreement struct {
	Known   float64
	Agreed  float64 // sample by sample, by the rules in use: one that is divided counts in part
	Plain   float64 // the same by the paper's rules
	Overlap float64 // instruction by instruction: of the samples that a producer has caused, as many as are blamed on it
	// Best is what Agreed can be at most: where an instruction waits now for one result, now for another, no blame of its samples
	// together is right about each. Overlap has no such bound: it is that of the two distributions.
	Best float64
}

// Merge adds the samples of another agreement.
func (a *Agreement) Merge(b Agreement) {
	a.Known += b.Known
	a.Agreed += b.Agreed
	a.Plain += b.Plain
	a.Overlap += b.Overlap
	a.Best += b.Best
}

// A Rule is what decided on a stall's source.
type Rule uint8

// The rules in the order in which they are applied.
const (
	NoSource      Rule = iota // slicing found nothing in the function
	OnlySource                // it found one instruction
	OpcodeRule                // others could not cause this kind of stall
	WaitRule                  // the wait mask did not name them
	ExecutionRule             // they were never executed
	DominatorRule
	LatencyRule
	OrderRule    // others arrive before
	Apportioned  // several are left and share the samples
	FixedLatency // waits for stall counts, which are not sliced
	NumRules
)

var ruleNames = [NumRules]string{
	NoSource: "no source", OnlySource: "only source", OpcodeRule: "opcode", WaitRule: "wait mask", ExecutionRule: "execution",
	DominatorRule: "dominator", LatencyRule: "latency", OrderRule: "order", Apportioned: "apportioned", FixedLatency: "fixed latency",
}

// String is the rule's name in tables.
func (r Rule) String() string {
	if r < NumRules {
		return ruleNames[r]
	}
	return "invalid"
}

// Package blamer attributes the stalls of a profile to the instructions that cause them, as section 4 of the GPA paper
// describes: backward slicing over registers, predicates and virtual barrier registers, pruning of cold edges,
// apportioning by Equation 1, and classification as in Figure 5. [Analyze] is where to begin.
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
	OtherStall
	Sleeping
	NumDetailedReasons
)

// A Blame says that Count samples seen at Use (Latency of them latency samples) are caused by Def. Self-blamed stalls
// have Def equal to Use and Distance 0.
type Blame struct {
	Def, Use Node
	Class    stall.Class // as observed
	Detail   DetailedReason
	Count    float64
	Latency  float64
	Distance int // instructions on the longest path from Def to Use
}

// A Result is the blame of one launch. Blames add up to the observed samples other than selected ones.
type Result struct {
	Launch *profiler.Launch
	Module *cubin.File
	Model  *arch.Model
	Graphs []*cfg.Graph // by code index
	Blames []Blame      // by def, use and detail

	// Shares of the dependent nodes with no incoming edge or one edge per dependency (section 6.3 of the paper).
	SingleDependencyBefore, SingleDependencyAfter float64

	// Agreement is the share of dependency-stall samples with a known producer that are blamed on it, apportioned
	// shares counted in part; HasAgreement is false where the profile knows no producers.
	Agreement    float64
	HasAgreement bool
}

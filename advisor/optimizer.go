// Package advisor matches the blamed stalls of a launch with changes worth making and estimates what each would bring,
// as section 5 of the GPA paper (Zhou et al., CGO 2021) describes. An [Optimizer] matches one inefficiency pattern; an
// estimator (Equations 2 to 10) turns the match into a speedup. To add an optimizer, implement the interface in a file
// of its own and add it to the list in this one. [Advise] is where to begin.
package advisor

import (
	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
)

// Optimizers returns the optimizers that there are: those of Table 2 of the paper in its order, then others.
func Optimizers() []Optimizer {
	return []Optimizer{
		registerReuse{},
		strengthReduction{},
		functionSplitting{},
		fastMath{},
		warpBalance{},
		transactionReduction{},
		loopUnrolling{},
		codeReordering{},
		functionInlining{},
		blockIncrease{},
		threadIncrease{},
		memoryCoalescing{},
		bankConflicts{},
		registerBanks{},
		divergenceReduction{},
		tfReconvergence{},
		restructure{},
		ifConversion{},
		vectorAccess{},
		constantMemory{},
		restrictPointers{},
		asyncCopy{},
		tensorCores{},
		atomicContention{},
		smBalance{},
		occupancyIncrease{},
		redundantBarrier{},
		workDistribution{},
		registerTiling{},
		sharedTiling{},
		threadCoarsening{},
		singlePass{},
		registerCaching{},
	}
}

// Class is the way in which an optimizer gains, and so which estimator it uses.
type Class string

// The classes of Table 2 of the paper.
const (
	StallElimination Class = "stall-elimination"
	LatencyHiding    Class = "latency-hiding"
	Parallel         Class = "parallel"
	ControlFlow      Class = "control-flow"
)

// An Optimizer matches one inefficiency pattern.
type Optimizer interface {
	// Name is the optimizer's name in reports, as in "loop-unrolling".
	Name() string
	Class() Class
	// Match finds what the optimizer applies to, one match a scope; nil where there is nothing.
	Match(*Input) []*Match
}

// A ScopeKind says how much code a match spans.
type ScopeKind string

// The kinds of scopes.
const (
	KernelScope   ScopeKind = "kernel"
	FunctionScope ScopeKind = "function"
	LoopScope     ScopeKind = "loop"
	LineScope     ScopeKind = "line"
)

// A Scope is the code that an advice is about.
type Scope struct {
	Kind  ScopeKind
	Code  int         // index in the module's Codes
	Func  *cfg.Func   // of function, loop and line scopes
	Loop  *cfg.Loop   // of loop scopes
	Frame cubin.Frame // where it is in the source; the zero Frame where the module has no lines
}

// A Match is what an optimizer found in one scope.
type Match struct {
	Scope       Scope
	Samples     float64 // matched samples, M of Equation 2
	Latency     float64 // matched latency samples, M^L of Equations 3 to 5
	Active      float64 // active samples of the scope, nested loops included: what Equation 5 can hide latency with
	Hidden      float64 // of Latency, what the best order of the scope's code hides, where one was looked for
	Scheduled   bool    // such an order was looked for: Hidden stands for Latency
	Freed       float64 // samples that go at least, where a unit of the GPU is busy all the time
	Gone        float64 // samples of instructions that go, of latency-hiding matches
	Hotspots    []Hotspot
	Suggestions []string
	Spoken      bool     // the suggestions are in the words of the kernel's language
	Assumed     []string // what the advice takes for granted that neither the code nor the launch's record tells
	Change      *Change  // how a what-if run can try it; nil where it cannot
	Least       float64  // speedup from which on it is worth listing, where that is more than for others, as compilers may make worse code of it
	Only        bool     // what was wanted to be tried, and could not be, is not worth listing: the launch itself has to tell
	Named       bool     // the suggestions say where to begin, whatever the hotspots: it is never diffuse
	Variant     string   // of several ways to make the change, of which the best is told: what sets this one apart; "" for the only one
	Spares      Unit     // units that have less to do after the change; those of the others bound its speedup
	Speedup     float64  // set by parallel optimizers themselves; code optimizers leave it to the estimator of their class
	Launches    int      // that become one: Speedup is of all of them; 0 for a change of one launch
	Cycles      int64    // that these take, and what else Speedup is of
}

// A Hotspot is a def-use pair that contributes to a match.
type Hotspot struct {
	Def, Use blamer.Node
	Detail   blamer.DetailedReason
	Distance int     // instructions from Def to Use, 0 where they are the same
	Samples  float64 // matched samples
	Share    float64 // of all samples of the launch
}

// An Advice is a match with its estimate, ready for a report.
type Advice struct {
	Optimizer string
	Class     Class
	Match     *Match
	Speedup   float64 // estimated
	// Interval is where nine in ten what-if runs of such estimates come out, by the kernels of this project (calibration.tsv).
	Interval [2]float64
	Listed   float64 // share of the matched samples that the listed hotspots hold; of parallel optimizers 0
	Tried    float64 // speedup of a what-if run with the change; 0 where none was made
	Untried  string  // why none was made, where one was wanted
	// Diffuse: the listed hotspots hold less than a tenth of the matched samples, so that there is no one place to begin at.
	Diffuse  bool
	Overlaps []string // other optimizers that count mostly the same samples: their gains do not add up
	Same     string   // the optimizer of a piece above that came out alike when tried: one change under two names
}

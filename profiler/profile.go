// Package profiler holds profiles: the PC samples of kernel launches with the facts of each launch, as plain data. A
// profile is taken by package sampler from the emulated GPU or imported from a real one; everything downstream (blamer,
// advisor, reports) sees only this. [Save] and [Load] keep it in a file together with the cubins it belongs to.
package profiler

import (
	"gpa/cubin"
	"gpa/emu/stall"
)

// A Profile is a sequence of profiled launches over one or more modules.
type Profile struct {
	Modules  []*cubin.File
	Launches []*Launch
	// Precise: outputs in double precision are compared with what is expected more closely than single precision can be.
	Precise bool
}

// At returns the index in Launches of the n-th launch, counted from 0 with those that were equal to the one before; false where
// there are not so many.
func (p *Profile) At(n int) (int, bool) {
	for i, l := range p.Launches {
		if n -= int(l.Facts.Count()); n < 0 {
			return i, n >= -int(l.Facts.Count())
		}
	}
	return 0, false
}

// A Launch is the profile of one kernel launch.
type Launch struct {
	Kernel  string // mangled
	Module  int    // index in Profile.Modules
	GPU     string // model name, as in v100
	Grid    [3]int
	Block   [3]int
	Facts   Facts
	Period  int       // cycles between two samples of one SM
	Samples []Sample  // one for each distinct (code, pc, reason, producer), in that order
	PCs     []Counter // source counters, by code and pc; only executed instructions
	Fault   *Fault    // where the launch did not end well; samples up to there are kept
	Missing []string  // what the source of the profile could not tell, as in "thread executions"
	Record  *Record   // what depended on what, where the launch was emulated; nil where that is not known
	// Inherits is what it takes over from the launches before it, where these were emulated too; nil where that is not known.
	Inherits *Inheritance
	Tries    []Try // what-if runs of this launch, in the order in which they were made
	// Alternatives are other constants with which its kernel can be compiled for the same arguments, where that is known.
	Alternatives []Alternative
}

// An Alternative is a launch of a kernel that is compiled with other constants (tl.constexpr of Triton), as far as is known for the same result.
type Alternative struct {
	Constants string `json:"constants"` // NAME=VALUE, separated by ", "
	Was       string `json:"was"`       // what these constants are
	Grid      [3]int `json:"grid"`
}

// A Try is a what-if run: the launch once more with a change supposed.
type Try struct {
	Optimizer string  // that advises the change
	Place     string  // where, in the words of package advisor
	Speedup   float64 // cycles of the launch by those with the change; 0 where it could not be tried
	Why       string  // why it could not
}

// Facts are what is known of a launch besides its samples.
type Facts struct {
	Registers     int // a thread
	SharedStatic  int // bytes a block
	SharedDynamic int // bytes a block
	LocalBytes    int // bytes a thread

	Cycles             int64 // from the launch's first cycle to its last
	SMActiveCycles     int64 // sum over SMs of the cycles in which they held a warp
	WarpActiveCycles   int64 // sum over warps of the cycles in which they were on an SM, 0 where that is not known
	L2Bytes            int64 // asked of L2 by the SMs: reads, writes and atomics
	DRAMReadBytes      int64
	DRAMWrittenBytes   int64
	DRAMPeak           float64 // bytes a second, by the GPU's data sheet
	ClockHz            float64
	WarpInstructions   int64
	ThreadInstructions int64

	SMs                  int
	SchedulersPerSM      int
	MaxWarpsPerScheduler int
	WarpsPerScheduler    float64 // resident warps of one scheduler by the launch's occupancy
	OccupancyLimit       string  // registers, shared, threads, blocks, barriers or grid: what keeps it from being higher
	BlocksPerSM          int     // resident at the same time

	TimingLevel  string // full, fast or none
	Extrapolated bool
	ErrorBound   float64 // relative, of Cycles, where Extrapolated
	TimedBlocks  int     // where Extrapolated: those that the cycles and samples come from, 0 where that is not known

	Repeats int // launches after this one that were equal to it in all that the profile tells
	Untimed int // of these and this one: that were not run, as they began with the same memory as an earlier equal one
	// Alike: later launches, not always in a row, that ran without timing and count as this one, as they had its shape and arguments and executed as many
	// instructions.
	Alike int
}

// Count returns the number of launches that the profile stands for, at least 1.
func (f *Facts) Count() int64 { return int64(f.Repeats) + int64(f.Alike) + 1 }

// AchievedWarpsPerScheduler is the mean number of warps that a scheduler held while its SM was active (Nsight Compute's
// smsp__warps_active.avg.per_cycle_active), 0 where that is not known.
func (f *Facts) AchievedWarpsPerScheduler() float64 {
	return ratio(f.WarpActiveCycles, f.SMActiveCycles*int64(f.SchedulersPerSM))
}

// A Sample counts equal samples. In the cycle in which a warp issues, its pc is already the one behind what it issues, and so it is
// behind a branch until its target is looked up and behind EXIT, as Nsight Compute shows it on V100, T4, GTX 1660 Super and RTX
// 3060. [Settle] puts samples where they belong.
type Sample struct {
	Code     int    // index in the module's Codes
	PC       uint64 // of the instruction that the sampled warp was to issue next
	Reason   stall.Reason
	Count    int64 // samples
	Latency  int64 // those of them taken in a cycle in which the warp's scheduler issued nothing
	Producer Producer
}

// A Producer is the true cause of a dependency stall: the last outstanding instruction to complete. Only an emulated
// GPU knows it. Blame that hardware could give must not look at it.
type Producer struct {
	Known bool
	Code  int
	PC    uint64
}

// A Counter holds the per-instruction source counters that Nsight Compute has too.
type Counter struct {
	Code                  int
	PC                    uint64
	Executions            int64 // warp instructions issued
	ThreadExecutions      int64 // threads that executed it with a true guard
	GlobalSectors         int64 // 32-byte sectors requested from L1
	GlobalSectorsIdeal    int64 // sectors that the bytes used would fill
	SharedWavefronts      int64 // passes through shared memory
	SharedWavefrontsIdeal int64 // passes without bank conflicts
	BranchTaken           int64 // thread executions that took the branch, of branches
}

// A Fault is how a launch stopped, in the words that reports print.
type Fault struct {
	Kind       string // "out of bounds", "misaligned", "barrier deadlock", …
	Code       int
	PC         uint64
	Block      [3]int
	Thread     [3]int
	HasAddress bool
	Address    uint64
	Buffer     string // the nearest buffer and the distance to it
	Message    string // the whole of it in one line
}

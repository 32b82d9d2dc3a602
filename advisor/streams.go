package advisor

import (
	"cmp"
	"slices"

	"gpa/blamer"
)

// Streams says how the work of a launch is laid out over threads otherwise. An emulator edits the streams of instructions that the
// warps executed and times them again; what it computes stays what it is. The parts take place in the order of the fields.
type Streams struct {
	Regrouped  [2]int          // the x and y of a block, which change places; zero for no change
	Narrowed   []blamer.Node   // accesses to elements that become half as large, with their arrays
	Kept       []blamer.Node   // loads that keep in registers what the thread has read before: gone where it reads it again
	Shared     []blamer.Node   // accesses to global memory that go to shared memory instead
	Solo       []blamer.Node   // block barriers that are gone where one warp works before and behind them, which then needs no shared memory
	Private    []blamer.Node   // atomics on global memory that a block does on copies of its own and puts together at its end
	Once       []blamer.Node   // stores of which a block makes the last one alone, when all its warps are there
	Relieved   []Relieved      // instructions that few warps of a block execute, divided among all that meet at the next barrier
	Hoisted    []blamer.Node   // loads that are issued with the first ones of their stretch of code
	HoistWords int             // the most registers that their values take at a time, 0 for any number
	Vectors    [][]blamer.Node // groups of accesses that become one wide access each
	Together   [][]blamer.Node // groups of accesses of which those to one aligned vector of words become one wide access, wherever they stand
	Dealt      [][]blamer.Node // groups of accesses whose elements are dealt out to the threads anew, as vectors
	Exchanged  [][]blamer.Node // groups of accesses of a basic block whose data threads exchange in shared memory, all loads or all stores
	Staged     []Staged
	Prefetched []Prefetched
	Widened    []Widened
	Rolled     *Rolled // nil for no change, as of Transposed, Spread and Divided
	Transposed *Transposed
	Spread     *Spread
	Divided    *Divided
	Merged     []Merged      // one after another: along y and then along x is a tile of results a thread
	Windowed   []blamer.Node // loads of which a thread makes one where several of its items would read the same bytes
	Gathered   int           // so many blocks become one of as many times the threads, 0 for no change
	Scattered  int           // a block becomes so many of as many times fewer threads, 0 for no change
}

// A Loop is a loop of one function; Body holds its instructions, those of inner loops and the header's included. The round of an outer
// loop contains all rounds of the inner ones.
type Loop struct {
	Header blamer.Node // its first instruction in every round
	Body   []blamer.Node
	Called []blamer.Node // instructions of the functions that it calls, which others may call as well
}

// Staged loads find their data in shared memory, where the block puts those of so many rounds of the loop together: a tile. Without a loop, one
// whose body is empty, the block puts there before the first of the loads what all of them read. That takes Index instructions for each 32 words, to
// find their places.
type Staged struct {
	Loads  []blamer.Node
	Loop   Loop
	Rounds int
	Index  int
}

// Relieved is an instruction whose executions by a warp are divided among so many warps, with those of its group.
type Relieved struct {
	At    blamer.Node
	By    float64
	Group int
}

// Prefetched loads are issued so many rounds of their loop earlier.
type Prefetched struct {
	Loads  []blamer.Node
	Loop   Loop
	Rounds int
}

// Widened accesses of a loop become vectors of so many elements: each thread takes neighbouring elements a round, and there are as many
// fewer rounds.
type Widened struct {
	Arrays   [][]blamer.Node // accesses of one array each
	Loop     Loop
	Overhead []blamer.Node // instructions of each round that fewer rounds have less often
	Factor   int
	Nest     bool // the loop has loops in it
}

// Rolled copies of instructions that the source has once become one loop again, whose rounds the compiler had unrolled or left over.
type Rolled struct {
	Copies [][]blamer.Node // of each instruction, in the order of the program
	Anchor int             // of these, an access that each round of the source makes once
	First  int             // the one that begins a round
	// Width is how many threads or blocks are to share the rounds, of which the compiler puts so many together as Unrolled says.
	Width, Unrolled int
}

// Transposed divides the rounds of loops among neighbouring lanes: a warp or a block for each row where a thread had one.
type Transposed struct {
	Loops    []Loop
	Width    int           // lanes that do what one did, a power of two up to 1024
	Threads  int           // of a block, 0 for as many as before
	Combined bool          // the lanes add their results up behind each loop
	Results  int           // that they have of each, 0 for one
	Scanned  bool          // and in every round, for the prefix sums that the rounds need
	Own      bool          // of lanes that all do the same, each a part: there are no more threads than before
	Added    []blamer.Node // stores that become atomic additions
}

// Spread makes threads of the rounds of loops that few threads of a launch go through.
type Spread struct {
	Loops   []Loop
	Workers int  // threads of a block that come to the loops; with Beside those of warps that do
	Parts   int  // threads that each of them becomes
	Threads int  // of a new block
	Beside  bool // the lanes of a warp stay together; else neighbouring threads have rounds that follow each other
	// Combined: the threads of a block put their results together, so many of each, and add them to memory by atomics.
	Combined bool
	Results  int
	Added    []blamer.Node // stores that become atomic additions
}

// Divided divides the rounds of loops among blocks, as split-K products do.
type Divided struct {
	Loops      []Loop
	Parts      int
	Contiguous bool          // each part has rounds that follow each other, not every Parts-th
	Atomic     bool          // the stores behind the loops become atomic additions
	Added      []blamer.Node // stores in the loops that become atomic additions
}

// A MergeAxis says whose work becomes one thread's.
type MergeAxis uint8

// The axes.
const (
	MergeWarps     MergeAxis = iota // so many warps of a block that follow each other
	MergeStrided                    // warps of a block that are as far apart as there are warps left: 0 and 4 of eight where two are merged
	MergeLanes                      // neighbouring threads; accesses to words that follow each other become wide ones
	MergeX                          // neighbouring blocks along x of the grid
	MergeY                          // along y
	MergeZ                          // along z
	MergeGridLanes                  // as MergeLanes, with as many blocks along x in one, which keeps its size
)

// Merged makes the work of several threads that of one, with what is the same for all of them done once: several results a thread.
type Merged struct {
	Factor int
	Axis   MergeAxis
	Folded bool // behind the last load from global memory everything is done once: sums of what was loaded
	Loads  int  // words of global memory that a thread has under way at most, 0 for any number
}

// with adds another edit.
func (s *Streams) with(d *Streams) *Streams {
	switch {
	case s == nil:
		return d
	case d == nil:
		return s
	}
	return &Streams{
		Regrouped: cmp.Or(s.Regrouped, d.Regrouped),
		Narrowed:  slices.Concat(s.Narrowed, d.Narrowed), Kept: slices.Concat(s.Kept, d.Kept), Shared: slices.Concat(s.Shared, d.Shared), Solo: slices.Concat(s.Solo, d.Solo), Private: slices.Concat(s.Private, d.Private), Once: slices.Concat(s.Once, d.Once), Relieved: slices.Concat(s.Relieved, d.Relieved), Hoisted: slices.Concat(s.Hoisted, d.Hoisted), HoistWords: max(s.HoistWords, d.HoistWords), Vectors: slices.Concat(s.Vectors, d.Vectors), Together: slices.Concat(s.Together, d.Together), Dealt: slices.Concat(s.Dealt, d.Dealt), Exchanged: slices.Concat(s.Exchanged, d.Exchanged), Staged: slices.Concat(s.Staged, d.Staged), Prefetched: slices.Concat(s.Prefetched, d.Prefetched), Widened: slices.Concat(s.Widened, d.Widened),
		Rolled: cmp.Or(s.Rolled, d.Rolled), Transposed: cmp.Or(s.Transposed, d.Transposed), Spread: cmp.Or(s.Spread, d.Spread), Divided: cmp.Or(s.Divided, d.Divided), Merged: slices.Concat(s.Merged, d.Merged), Windowed: slices.Concat(s.Windowed, d.Windowed), Gathered: max(s.Gathered, d.Gathered), Scattered: max(s.Scattered, d.Scattered),
	}
}

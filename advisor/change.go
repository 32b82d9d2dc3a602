package advisor

import (
	"cmp"
	"slices"

	"gpa/blamer"
)

// A Change says what an emulator has to do differently to try an advice. The advisor itself never runs anything.
type Change struct {
	Gone         []blamer.Node // instructions that are not there; barriers that hold nobody
	Cheap        []blamer.Node // arithmetic that a simple instruction replaces
	Coalesced    []blamer.Node // accesses that ask for no more sectors than their bytes fill
	ConflictFree []blamer.Node // accesses to shared memory and arithmetic without bank conflicts
	Outstanding  []blamer.Node // waits for matrix products of the warpgroup that let one more group be outstanding
	Constant     []blamer.Node // loads whose value comes from the constant cache
	Overlapped   []Overlapped  // loads of several rounds of a loop that are under way together
	Earlier      []Earlier     // copies that the copy engine gets rounds before
	Packed       []blamer.Node // instructions that full warps would execute
	Thinned      []Thinned     // instructions that other warps execute as well
	Unplaced     []blamer.Node // instructions that take no place in the code
	PerfectFetch bool          // no instruction is waited for
	Resident     int           // blocks that an SM holds, whatever they take; 0 for what fits
	Model        string        // how threads of a warp come together again, as in "tf-stack"; "" for no change

	Streams   *Streams // another layout of the work over threads, nil for no change
	Registers int      // that a thread takes, which decides how many blocks an SM holds; 0 for those of the kernel
	Shared    int      // bytes of shared memory that a block takes, as of Registers

	Grid, Block [3]int // of the launch; zero for no change
	Reordered   bool   // the code is scheduled anew

	Fused  bool    // the launches of each chain are one, block by block
	Joints []Joint // by which those of each chain are one

	Compiled *Compiled // the kernel is compiled again, nil for the code that there is
	// Turn says when that is tried among all parameters: those of the lowest first. After others it is worth a try only where they were not tried or
	// had a speedup of AfterLeast.
	Turn       int
	After      *Compiled
	AfterLeast float64

	Reconverged  bool // convergence barriers are at the joins of thread frontiers
	Restructured bool // control flow is structured
}

// A Joint is how a launch becomes one with the next one: threads of the next one do what they need of it, or, with Push, it goes on with what
// threads of the next one do. Kept: what it leaves to the next one is stored all the same.
type Joint struct{ Push, Kept bool }

// Overlapped is a load that shares its latency with so many rounds of its loop.
type Overlapped struct {
	At     blamer.Node
	Rounds float64
}

// Earlier is a copy that the copy engine gets so many rounds before, as a block has as many more stages of shared memory for them; later where the number
// is negative.
type Earlier struct {
	At     blamer.Node
	Rounds int
}

// Thinned is an instruction of which a warp executes one in so many, as others do the rest.
type Thinned struct {
	At blamer.Node
	By float64
}

// with adds another change to one.
func (c *Change) with(d *Change) *Change {
	if c == nil || d == nil {
		return nil // a part that cannot be tried: neither can the whole
	}
	return &Change{
		Gone: slices.Concat(c.Gone, d.Gone), Cheap: slices.Concat(c.Cheap, d.Cheap),
		Coalesced: slices.Concat(c.Coalesced, d.Coalesced), ConflictFree: slices.Concat(c.ConflictFree, d.ConflictFree),
		Constant: slices.Concat(c.Constant, d.Constant), Outstanding: slices.Concat(c.Outstanding, d.Outstanding), Overlapped: slices.Concat(c.Overlapped, d.Overlapped), Earlier: slices.Concat(c.Earlier, d.Earlier), Packed: slices.Concat(c.Packed, d.Packed), Thinned: slices.Concat(c.Thinned, d.Thinned), PerfectFetch: c.PerfectFetch || d.PerfectFetch,
		Unplaced: slices.Concat(c.Unplaced, d.Unplaced),
		Resident: max(c.Resident, d.Resident), Model: cmp.Or(c.Model, d.Model),
		Streams: c.Streams.with(d.Streams), Registers: max(c.Registers, d.Registers), Shared: max(c.Shared, d.Shared),
		Grid: c.Grid, Block: c.Block, Reordered: c.Reordered || d.Reordered,
		Compiled: cmp.Or(c.Compiled, d.Compiled), Fused: c.Fused || d.Fused, Joints: slices.Concat(c.Joints, d.Joints), Reconverged: c.Reconverged || d.Reconverged, Restructured: c.Restructured || d.Restructured,
	}
}

// allDefs returns the instructions that a match blames, each once.
func (m *Match) allDefs() []blamer.Node {
	var nodes []blamer.Node
	for _, h := range m.Hotspots {
		nodes = append(nodes, h.Def)
	}
	slices.SortFunc(nodes, compareNodes)
	return slices.Compact(nodes)
}

// Package reconv holds the re-convergence models: how the lanes of a warp part at branches and come together again.
//
// A [State] is the control state of one warp. The emulator keeps the pc of the running group while code is straight and
// tells the state about everything else: branches, convergence barriers, exits. The state says which group runs next.
package reconv

// Barriers is the number of convergence barrier registers, B0 to B15.
const Barriers = 16

// A Model makes the control states of warps.
type Model interface {
	// Name is the model's name on the command line, as in volta.
	Name() string
	// New returns the state of a warp whose lanes all stand at the instruction with index entry.
	New(entry int32, lanes uint32) State
}

// A Group is a set of lanes that stand at the same instruction and execute together. PC is an instruction index.
type Group struct {
	PC    int32
	Lanes uint32
}

// A State is the control state of one warp. Its methods are about the running group; lanes is the part of it that the
// instruction applies to (guard and condition true), next the instruction after the present one.
type State interface {
	// Running returns the group that executes; no lanes where none can.
	Running() Group
	// Live returns the lanes that have not exited.
	Live() uint32

	// Branch sends lanes to target; the others go on at next.
	Branch(lanes uint32, target, next int32)
	// Indirect sends each of the lanes to a target of its own; the others go on at next.
	Indirect(lanes uint32, targets *[32]int32, next int32)
	// Exit ends lanes.
	Exit(lanes uint32, next int32)

	// Set is BSSY: lanes take part in barrier b.
	Set(b int, lanes uint32)
	// Sync is BSYNC: lanes wait at barrier b for all that take part in it.
	Sync(b int, lanes uint32, next int32)
	// Break is BREAK: lanes take part in barrier b no more.
	Break(b int, lanes uint32)
	// Mask and SetMask are BMOV: the lanes that take part in barrier b, as one lane sees it.
	Mask(b, lane int) uint32
	SetMask(b, lane int, mask uint32)
	// Clear is BMOV.CLEAR's second half: nobody takes part in barrier b, as lanes see it.
	Clear(b int, lanes uint32)
	// SyncLanes is WARPSYNC: lanes wait for all that their masks name.
	SyncLanes(lanes uint32, masks *[32]uint32, next int32)

	// Yield lets another group run first.
	Yield(next int32)
	// Hold makes lanes wait for something outside the warp (a CTA barrier) and Resume lets all that wait go on.
	Hold(lanes uint32, next int32)
	Resume()
	Held() uint32

	// Unblock is called where nothing can run. It releases lanes that wait for a re-convergence that will not come,
	// where the model allows it, and reports whether it did.
	Unblock() bool
	// Waiting lists the groups that wait, for messages; the reason is the instruction that they wait at.
	Waiting() []Waiting
}

// A Waiting is a group that waits and what for.
type Waiting struct {
	Group
	At   string // BSYNC B0, WARPSYNC, BAR
	Mask uint32 // the lanes that it waits for
}

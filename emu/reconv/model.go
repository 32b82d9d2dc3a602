// Package reconv holds the re-convergence models: how the lanes of a warp part at branches and come together again.
//
// A [State] is the control state of one warp. The emulator keeps the pc of the running group while code is straight and
// tells the state about everything else: branches, convergence barriers, exits. The state says which group runs next.
package reconv

import (
	"fmt"
	"strings"
)

// Barriers is the number of convergence barrier registers, B0 to B15.
const Barriers = 16

// A Model is a way to re-converge.
type Model interface {
	// Name is the model's name on the command line, as in volta.
	Name() string
	// Prepare analyses the program that warps are to run, as far as the model needs to.
	Prepare(p *Program) (Plan, error)
}

// A Plan makes the control states of the warps that run a program.
type Plan interface {
	// New returns the state of a warp whose lanes all stand at the instruction with index entry.
	New(entry int32, lanes uint32) State
	// Checks says for each instruction whether State.Arrive is to be called where the running group comes to it from the
	// one before without a branch. It is nil where that is never so.
	Checks() []bool
}

// Models lists the models, one after the other as the tables of comparisons have them. STRUCT is not among them: it is
// PDOM on a program that has been restructured.
func Models() []Model { return []Model{Volta{}, PDOM{}, TFStack{}, TFSandy{}, MIMD{}} }

// ByName finds a model by its name on the command line; no name stands for the hardware's own model.
func ByName(name string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if m.Name() == name || name == "" {
			return m, nil
		}
		names = append(names, m.Name())
	}
	return nil, fmt.Errorf("there is no re-convergence model %q (%s)", name, strings.Join(names, ", "))
}

// Stats is what a state counts over all warps that it has been the state of.
type Stats struct {
	Entries    int   // most groups that a warp kept track of at a time: the entries of a stack
	Insertions int64 // TF-STACK: entries put into the sorted stack
	Compared   int64 // TF-STACK: entries that they were compared with
	Empty      int64 // TF-SANDY: warp instructions issued with no lane enabled, behind conservative branches
	Forced     int64 // VOLTA: barriers ended although lanes were missing
	// MIMD: warp instructions below which no schedule of the same threads can come, and of those the ones that manage
	// convergence barriers.
	Bound, BoundBarrier int64
}

// Add adds the counts of another state.
func (s *Stats) Add(o Stats) {
	s.Entries = max(s.Entries, o.Entries)
	s.Insertions += o.Insertions
	s.Compared += o.Compared
	s.Empty += o.Empty
	s.Forced += o.Forced
	s.Bound += o.Bound
	s.BoundBarrier += o.BoundBarrier
}

// A Group is a set of lanes that stand at the same instruction and execute together. PC is an instruction index.
type Group struct {
	PC    int32
	Lanes uint32
}

// A State is the control state of one warp. Its methods are about the running group; lanes is the part of it that the
// instruction applies to (guard and condition true), next the instruction after the present one.
type State interface {
	// Reset makes the state like a new one.
	Reset(entry int32, lanes uint32)
	// Running returns the group that executes; no lanes where none can.
	Running() Group
	// Live returns the lanes that have not exited.
	Live() uint32

	// Arrive says that the running group has come to instruction pc without a branch. It is called where the plan checks.
	Arrive(pc int32)
	// Branch sends lanes to target; the others go on at next.
	Branch(lanes uint32, target, next int32)
	// Indirect sends each of the lanes to a target of its own; the others go on at next.
	Indirect(lanes uint32, targets *[32]int32, next int32)
	// Exit ends lanes.
	Exit(lanes uint32, next int32)

	// Set is BSSY: lanes take part in a new barrier, which they have in register b.
	Set(b int, lanes uint32)
	// Sync is BSYNC: lanes wait for all that take part in the barrier in register b. Lanes that do not go on.
	Sync(b int, lanes uint32, next int32)
	// Break is BREAK: lanes no longer take part in the barrier in register b.
	Break(b int, lanes uint32)
	// Save is BMOV of register b to an ordinary register: the lanes that take part, in each of lanes. Where clear is
	// set, register b names no barrier afterwards; the lanes still take part in it.
	Save(b int, lanes uint32, to *[32]uint32, clear bool)
	// Restore is BMOV of an ordinary register to register b.
	Restore(b int, lanes uint32, from *[32]uint32)
	// SyncLanes is WARPSYNC: lanes wait for all that their masks name.
	SyncLanes(lanes uint32, masks *[32]uint32, next int32)

	// Yield lets another group run first.
	Yield(next int32)
	// Hold makes lanes wait for something outside the warp, the CTA barrier with the given number. Resume lets all that
	// wait for it go on, and reports whether there were any.
	Hold(barrier int, lanes uint32, next int32)
	Resume(barrier int) bool

	// Unblock is called where nothing can run. It releases lanes that wait for a re-convergence that will not come,
	// where the model allows it, and reports whether it did.
	Unblock() bool
	// Waiting lists the groups that wait, for messages.
	Waiting() []Waiting
	// Cost returns the cycles that the changes since the last call have cost the warp beyond those of its instructions.
	Cost() int64
	// Stats returns what has been counted.
	Stats() Stats
	// Snapshot appends all that decides how the warp goes on, the running group's pc apart: two states of a model with
	// equal snapshots act alike.
	Snapshot(to []byte) []byte
}

// A Waiting is a group that waits and what for.
type Waiting struct {
	Group
	At     string // BSYNC B0, WARPSYNC, BAR 0
	Mask   uint32 // the lanes that have to be there before it goes on, 0 where other warps have to
	Queued bool   // nothing but its turn: PC is the instruction that it executes next, else the one behind the wait
}

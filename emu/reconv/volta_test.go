package reconv

import (
	"bytes"
	"testing"
)

const all = 0xffffffff

func newWarp() *voltaWarp { return Volta{}.New(0, all).(*voltaWarp) }

// runs fails the test unless the group that runs is the one wanted.
func runs(t *testing.T, s State, want Group) {
	t.Helper()
	if got := s.Running(); got != want {
		t.Fatalf("running: got %d lanes %#08x, want %d lanes %#08x", got.PC, got.Lanes, want.PC, want.Lanes)
	}
}

func same(v uint32) *[32]uint32 {
	var a [32]uint32
	for i := range a {
		a[i] = v
	}
	return &a
}

func TestVoltaJoinsAfterBranch(t *testing.T) {
	w := newWarp()
	w.Set(0, all)
	w.Branch(0xff, 10, 2) // lanes 0 to 7 go to 10
	runs(t, w, Group{10, 0xff})
	w.Sync(0, 0xff, 21)
	runs(t, w, Group{2, 0xffffff00})
	w.Sync(0, 0xffffff00, 21)
	runs(t, w, Group{21, all})
}

func TestVoltaGuardedBSYNC(t *testing.T) {
	w := newWarp()
	w.Set(0, 0xf)
	w.Sync(0, 0xff, 5) // lanes 4 to 7 take no part, the others' guard is false
	runs(t, w, Group{5, 0xfffffff0})
	w.Exit(0xfffffff0, 6)
	runs(t, w, Group{5, 0xf})
}

func TestVoltaBreak(t *testing.T) {
	w := newWarp()
	w.Set(3, all)
	w.Branch(0xffff, 10, 2)
	w.Sync(3, 0xffff, 11)
	runs(t, w, Group{2, 0xffff0000})
	w.Break(3, 0xff000000)
	w.Branch(0xff000000, 30, 4) // those that broke out leave
	runs(t, w, Group{30, 0xff000000})
	w.Exit(0xff000000, 31)
	runs(t, w, Group{4, 0xff0000})
	w.Sync(3, 0xff0000, 11)
	runs(t, w, Group{11, 0xffffff})
	w.Sync(3, 0xffffff, 12) // the barrier has ended: nobody waits
	runs(t, w, Group{12, 0xffffff})
}

func TestVoltaExitCompletesWhatWaits(t *testing.T) {
	tests := []struct {
		name string
		wait func(w *voltaWarp)
	}{
		{"BSYNC", func(w *voltaWarp) { w.Sync(0, 0xf, 8) }},
		{"WARPSYNC", func(w *voltaWarp) { w.SyncLanes(0xf, same(all), 8) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWarp()
			w.Set(0, all)
			w.Branch(0xf, 7, 1)
			tt.wait(w)
			runs(t, w, Group{1, 0xfffffff0})
			w.Exit(0xfffffff0, 2)
			runs(t, w, Group{8, 0xf})
			w.Exit(0xf, 9)
			if w.Live() != 0 || w.Running().Lanes != 0 {
				t.Errorf("live %#x, running %#x after the last exit", w.Live(), w.Running().Lanes)
			}
		})
	}
}

// Recursion saves the same register with the same mask at every level.
func TestVoltaNestedSave(t *testing.T) {
	w := newWarp()
	const depth = 4
	var saved [depth][32]uint32
	for level := range depth {
		w.Set(6, all)
		w.Save(6, all, &saved[level], true)
		if saved[level][5] != all {
			t.Fatalf("level %d: the saved mask is %#x", level, saved[level][5])
		}
	}
	for level := depth - 1; level >= 0; level-- {
		w.Restore(6, all, &saved[level])
		w.Branch(0xff, 40, 30)
		w.Sync(6, 0xff, 50)
		runs(t, w, Group{30, 0xffffff00})
		w.Sync(6, 0xffffff00, 50)
		runs(t, w, Group{50, all})
	}
	if len(w.barriers) != 0 {
		t.Errorf("%d barriers are left", len(w.barriers))
	}
}

// Two groups in different functions save and restore the same register in an order that is not last-in first-out.
func TestVoltaSaveInTwoGroups(t *testing.T) {
	w := newWarp()
	w.Set(6, all)
	w.Branch(0xffff, 100, 1)
	var a, b [32]uint32
	w.Save(6, 0xffff, &a, true)
	w.Set(6, 0xffff)
	w.Yield(101)
	runs(t, w, Group{1, 0xffff0000})
	w.Save(6, 0xffff0000, &b, true)
	w.Set(6, 0xffff0000)
	w.Yield(2)
	runs(t, w, Group{101, 0xffff})
	w.Sync(6, 0xffff, 102) // a barrier of their own
	runs(t, w, Group{102, 0xffff})
	w.Restore(6, 0xffff, &a)
	w.Sync(6, 0xffff, 200)
	runs(t, w, Group{2, 0xffff0000})
	w.Sync(6, 0xffff0000, 3)
	w.Restore(6, 0xffff0000, &b)
	w.Sync(6, 0xffff0000, 200)
	runs(t, w, Group{200, all})
}

// Barriers around each other have the same lanes, as the branches of a recursive function that half of a warp goes into do; a function that these lanes
// call saves both.
func TestVoltaSaveOfSameLanes(t *testing.T) {
	w := newWarp()
	w.Set(8, all)
	w.Set(7, all)
	w.Branch(0xffff, 100, 1)
	var outer, inner [32]uint32
	w.Save(8, 0xffff, &outer, true)
	w.Save(7, 0xffff, &inner, true)
	w.Restore(7, 0xffff, &inner)
	w.Restore(8, 0xffff, &outer)
	w.Sync(7, 0xffff, 101)
	runs(t, w, Group{1, 0xffff0000})
	w.Sync(7, 0xffff0000, 101)
	runs(t, w, Group{101, all})
	w.Branch(0xffff, 102, 110)
	w.Sync(8, 0xffff, 103)
	runs(t, w, Group{110, 0xffff0000})
	w.Sync(8, 0xffff0000, 103)
	runs(t, w, Group{103, all})
	if n := w.Stats().Forced; n != 0 {
		t.Errorf("%d barriers were ended by force", n)
	}
}

func TestVoltaRestoreOfUnknownMask(t *testing.T) {
	w := newWarp()
	w.Set(0, all)
	w.Restore(0, all, same(0x1234))
	w.Sync(0, all, 9) // names no barrier
	runs(t, w, Group{9, all})
}

// bar.warp.sync does not ask for the same instruction; lanes at the same one go on as a group.
func TestVoltaWarpsync(t *testing.T) {
	w := newWarp()
	w.Branch(0xff, 10, 1)
	w.SyncLanes(0xff, same(all), 11)
	runs(t, w, Group{1, 0xffffff00})
	w.SyncLanes(0xffffff00, same(all), 2)
	runs(t, w, Group{11, 0xff})
	w.Exit(0xff, 12)
	runs(t, w, Group{2, 0xffffff00})

	masks := same(0xff00)
	for l := 16; l < 32; l++ {
		masks[l] = 0xffff0000
	}
	w.SyncLanes(0xffffff00, masks, 3) // two sets, both complete at once
	got := w.Running().Lanes
	w.Exit(got, 4)
	if got |= w.Running().Lanes; got != 0xffffff00 {
		t.Errorf("%#x go on", got)
	}
}

// A lock's holder waits at the barrier of those that spin.
func TestVoltaYieldedCountAsArrived(t *testing.T) {
	w := newWarp()
	w.Set(0, all)
	w.Branch(1, 20, 2)
	w.Sync(0, 1, 21)
	runs(t, w, Group{2, 0xfffffffe})
	w.Yield(3)
	runs(t, w, Group{21, 1})
	w.Yield(30)
	runs(t, w, Group{3, 0xfffffffe})
	w.Sync(0, 0xfffffffe, 21) // the barrier is gone
	runs(t, w, Group{21, 0xfffffffe})
}

// A group that computes is not taken for one that spins.
func TestVoltaYieldWaitsForWorkers(t *testing.T) {
	w := newWarp()
	w.Set(0, all)
	w.Branch(1, 20, 2)
	w.Sync(0, 1, 21)
	w.Branch(2, 40, 3) // lane 1 spins, the others work
	w.Yield(41)
	runs(t, w, Group{3, 0xfffffffc})
	w.Sync(0, 0xfffffffc, 21)
	runs(t, w, Group{41, 2})
	w.Yield(41)
	runs(t, w, Group{21, 0xfffffffd})
}

func TestVoltaYieldGathers(t *testing.T) {
	w := newWarp()
	w.Branch(0xf, 10, 1)
	w.Yield(11)
	runs(t, w, Group{1, 0xfffffff0})
	w.Yield(11)
	runs(t, w, Group{11, all})
}

func TestVoltaBackEdgesRotate(t *testing.T) {
	w := newWarp()
	w.Branch(0xf, 10, 1)
	for range maxBackEdges - 1 {
		w.Branch(0xf, 10, 12)
		runs(t, w, Group{10, 0xf})
	}
	w.Branch(0xf, 10, 12)
	runs(t, w, Group{1, 0xfffffff0})
}

// So do loops that go back through a register.
func TestVoltaIndirectBackEdgesRotate(t *testing.T) {
	w := newWarp()
	targets := [32]int32{10, 10, 10, 10}
	w.Branch(0xf, 10, 1)
	for range maxBackEdges - 1 {
		w.Indirect(0xf, &targets, 12)
		runs(t, w, Group{10, 0xf})
	}
	w.Indirect(0xf, &targets, 12)
	runs(t, w, Group{1, 0xfffffff0})
}

func TestVoltaIndirect(t *testing.T) {
	w := newWarp()
	var targets [32]int32
	for l := range targets {
		targets[l] = int32(100 + l%2)
	}
	w.Indirect(0xffff, &targets, 5)
	runs(t, w, Group{100, 0x5555})
	w.Exit(0x5555, 0)
	runs(t, w, Group{101, 0xaaaa})
	w.Exit(0xaaaa, 0)
	runs(t, w, Group{5, 0xffff0000})
}

func TestVoltaUnblock(t *testing.T) {
	t.Run("lanes wait for each other at two barriers", func(t *testing.T) {
		w := newWarp()
		w.Set(0, all)
		w.Set(1, all)
		w.Branch(0xffff, 10, 1)
		w.Sync(0, 0xffff, 11)
		w.Sync(1, 0xffff0000, 2)
		if w.Running().Lanes != 0 {
			t.Fatal("a group runs")
		}
		if !w.Unblock() {
			t.Fatal("not released")
		}
		runs(t, w, Group{2, 0xffff0000})
	})
	t.Run("BSYNC gives way to WARPSYNC", func(t *testing.T) {
		w := newWarp()
		w.Set(0, all)
		w.Branch(0xffff, 10, 1)
		w.Sync(0, 0xffff, 11)
		w.SyncLanes(0xffff0000, same(all), 2)
		if !w.Unblock() {
			t.Fatal("not released")
		}
		runs(t, w, Group{11, 0xffff})
		w.Exit(0xffff, 12)
		runs(t, w, Group{2, 0xffff0000})
	})
	t.Run("WARPSYNC is not forced", func(t *testing.T) {
		w := newWarp()
		w.Branch(0xffff, 10, 1)
		w.SyncLanes(0xffff, same(0xffff0000), 11)
		w.SyncLanes(0xffff0000, same(all), 2)
		if w.Unblock() {
			t.Fatal("released")
		}
		list := w.Waiting()
		want := []Waiting{
			{Group: Group{11, 0xffff}, At: "WARPSYNC", Mask: 0xffff0000},
			{Group: Group{2, 0xffff0000}, At: "WARPSYNC", Mask: all},
		}
		if len(list) != 2 || list[0] != want[0] || list[1] != want[1] {
			t.Errorf("waiting: %+v, want %+v", list, want)
		}
	})
	t.Run("BSYNC does not give way to a CTA barrier", func(t *testing.T) {
		w := newWarp()
		w.Set(0, all)
		w.Branch(0xffff, 10, 1)
		w.Sync(0, 0xffff, 11)
		w.Hold(0, 0xffff0000, 2)
		if w.Unblock() {
			t.Fatal("released")
		}
	})
}

func TestVoltaHold(t *testing.T) {
	w := newWarp()
	w.Branch(0xffff, 10, 1)
	w.Hold(0, 0xffff, 11)
	w.Hold(1, 0xffff0000, 2)
	if w.Running().Lanes != 0 {
		t.Fatal("a group runs")
	}
	if w.Resume(2) {
		t.Error("nobody waits for barrier 2")
	}
	if !w.Resume(1) {
		t.Error("nobody resumed")
	}
	runs(t, w, Group{2, 0xffff0000})
	w.Exit(0xffff0000, 3)
	w.Resume(0)
	runs(t, w, Group{11, 0xffff})
}

// Barriers that lanes leave behind without BREAK do not pile up for ever.
func TestVoltaForgets(t *testing.T) {
	w := newWarp()
	w.Set(1, all)
	w.Branch(1, 10, 1)
	w.Sync(1, 1, 11)
	for range 100 * minSweep {
		w.Set(0, 0xfffffffe)
	}
	if len(w.barriers) > 2*minSweep {
		t.Errorf("%d barriers", len(w.barriers))
	}
	w.Sync(1, 0xfffffffe, 11)
	runs(t, w, Group{11, all})
}

// However deep calls are nested that save a convergence barrier each, none is lost: lanes that part in a caller come
// together there again.
func TestVoltaDeepCalls(t *testing.T) {
	const depth = 1 << 15
	w := newWarp()
	masks := make([][32]uint32, depth)
	for i := range masks {
		w.Set(6, all)
		w.Save(6, all, &masks[i], true)
	}
	for i := range masks {
		w.Restore(6, all, &masks[depth-1-i])
		w.Branch(0xff, 10, 2)
		w.Sync(6, 0xff, 11)
		runs(t, w, Group{2, 0xffffff00})
		w.Sync(6, 0xffffff00, 11)
		runs(t, w, Group{11, all})
	}
}

// An iteration of a loop that does not change anything ends in a state like the one that it began in.
func TestVoltaSnapshot(t *testing.T) {
	w := newWarp()
	iteration := func() {
		w.Set(0, all)
		w.Branch(0xff, 5, 2)
		w.Sync(0, 0xff, 6)
		w.Sync(0, 0xffffff00, 6)
		w.Branch(all, 1, 7)
	}
	iteration()
	before := w.Snapshot(nil)
	iteration()
	if !bytes.Equal(before, w.Snapshot(nil)) {
		t.Error("the snapshots of two iterations differ")
	}
	w.Branch(1, 3, 2)
	if bytes.Equal(before, w.Snapshot(nil)) {
		t.Error("a branch leaves the snapshot as it was")
	}
}

func BenchmarkVoltaIfElse(b *testing.B) {
	w := newWarp()
	for b.Loop() {
		w.Set(0, all)
		w.Branch(0xff, 10, 2)
		w.Sync(0, 0xff, 21)
		w.Sync(0, 0xffffff00, 21)
	}
}

package arch

import (
	"math"
	"testing"
)

// TestSetClock halves the clock: the way to L2 takes as many cycles, the rest of the way to DRAM half as many.
func TestSetClock(t *testing.T) {
	m, err := ByName("t4")
	if err != nil {
		t.Fatal(err)
	}
	was := *m
	m.SetClock(was.Clock.Value / 2)
	if m.DRAM.Achieved.Value != was.DRAM.Achieved.Value {
		t.Error("DRAM has another bandwidth")
	}
	// At half the clock of the SMs that of L2 is two thirds, so that its cycles are three quarters of the SMs'.
	if got, want := m.L2.SliceWidth.Value, was.L2.SliceWidth.Value*4/3; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v bytes a cycle of a slice, want %v", got, want)
	}
	if got, want := m.Latencies.L2.Value-m.Latencies.L1.Value, (was.Latencies.L2.Value-was.Latencies.L1.Value)*3/4; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v cycles from L1 to L2, want %v", got, want)
	}
	got, want := m.Latencies.DRAM.Value-m.Latencies.L2.Value, (was.Latencies.DRAM.Value-was.Latencies.L2.Value)/2
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%v cycles from L2 to DRAM, want %v", got, want)
	}
}

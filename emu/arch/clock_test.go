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
	if m.Latencies.L2.Value != was.Latencies.L2.Value || m.DRAM.Achieved.Value != was.DRAM.Achieved.Value {
		t.Error("figures of L2 and of DRAM's bandwidth are others")
	}
	got, want := m.Latencies.DRAM.Value-m.Latencies.L2.Value, (was.Latencies.DRAM.Value-was.Latencies.L2.Value)/2
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%v cycles from L2 to DRAM, want %v", got, want)
	}
}

package main

import (
	"encoding/json"
	"math"
	"testing"

	"gpa/reports"
)

// TestBandwidth holds the bandwidths of a kernel that reads two arrays and writes one against what it moves.
func TestBandwidth(t *testing.T) {
	const array = 4 * 32700 // bytes
	stdout, stderr, status := invoke(t, "profile", "vecadd", "--json")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var got reports.ProfileReport
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	l := &got.Launches[0]
	for _, c := range []struct {
		name             string
		perSecond, bytes float64
		least, most      float64
	}{
		{"L1", l.Bandwidth.L1, 3 * array, 1, 1.01},
		{"L2", l.Bandwidth.L2, 3 * array, 1, 1.10},     // and what constants and instructions take
		{"DRAM", l.Bandwidth.DRAM, 2 * array, 1, 1.02}, // what was written is in L2 still
	} {
		if ratio := c.perSecond * l.DeviceSeconds / c.bytes; ratio < c.least || ratio > c.most {
			t.Errorf("%s: %.0f bytes, not %.0f", c.name, c.perSecond*l.DeviceSeconds, c.bytes)
		}
	}
	if math.Abs(l.Bandwidth.L1Needed-1) > 0.01 {
		t.Errorf("%.3f of the sectors are needed", l.Bandwidth.L1Needed)
	}
}

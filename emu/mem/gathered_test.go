package mem

import "testing"

// TestGatheredRequests holds that SMs which ask for the same line while it is on its way from DRAM are answered one after the other, at
// the rate of the slice, and those that ask later as if nobody had asked before.
func TestGatheredRequests(t *testing.T) {
	cfg := NewConfig(v100(t), 0, false)
	const line, later = 7, 10_000
	d := NewDevice(cfg)
	first := ask(d, 0, line, 0)
	if least := cfg.l2Hit + cfg.dram - cfg.spread; first < least {
		t.Fatalf("the first SM is answered in cycle %d, DRAM takes %d at least", first, least)
	}
	each := sectorsPerLine * cfg.slicePerSector / tick
	for sm := 1; sm < cfg.SMs; sm++ {
		if got, want := ask(d, sm, line, 0), first+int64(sm)*each; got != want {
			t.Errorf("SM %d is answered in cycle %d, want %d", sm, got, want)
		}
	}
	if got, want := ask(d, 0, line, later)-later, cfg.l2Hit+sectorsPerLine-1; got != want {
		t.Errorf("a hit takes %d cycles, want %d", got, want)
	}
}

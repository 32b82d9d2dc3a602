package mem

import (
	"testing"

	"gpa/emu/arch"
)

// ask has an SM ask L2 for all sectors of a line and returns when they are there.
func ask(d *Device, sm int, line uint64, at int64) int64 {
	r := request{at: at, line: line, sectors: allSectors, kind: Read, sm: int32(sm)}
	d.serve(&r)
	return r.done
}

// linesOf returns lines with a home in a partition and with a place that is wanted there.
func linesOf(d *Device, home, n int, wanted func(set uint64) bool) (lines []uint64) {
	p := &d.parts[home]
	for line := uint64(0); len(lines) < n; line++ {
		if d.home(line) == home && wanted(p.set(line)) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestHeld holds that a hit of L2 waits with the misses before it for their bank, but not for the data, and those of other slices for
// neither.
func TestHeld(t *testing.T) {
	cfg := NewConfig(v100(t), 0, false)
	cfg.spread, cfg.inOrder = 0, true
	d := NewDevice(cfg)
	p := &d.parts[0]
	ofSlice := func(n int) func(uint64) bool {
		return func(set uint64) bool { return p.slice(set) == &p.slices[n] }
	}
	const later, misses = 10_000, 300
	lines, other := linesOf(d, 0, 1+misses, ofSlice(0)), linesOf(d, 0, 1, ofSlice(1))[0]
	ask(d, 0, lines[0], 0)
	ask(d, 0, other, 0)
	var last int64
	for _, line := range lines[1:] {
		last = ask(d, 1, line, later)
	}
	if alone := later + cfg.l2Hit + cfg.dram + sectorsPerLine; last < 2*alone-later {
		t.Fatalf("the last of %d misses is answered in cycle %d, the first in %d: DRAM is not full", misses, last, alone)
	}
	if got, want := ask(d, 0, lines[0], later), last-cfg.dram; got != want {
		t.Errorf("a hit behind misses is answered in cycle %d, want %d", got, want)
	}
	if got, want := ask(d, 0, other, later), later+cfg.l2Hit+sectorsPerLine-1; got != want {
		t.Errorf("a hit in another slice is answered in cycle %d, want %d", got, want)
	}
}

// a100 returns an A100 whose SMs have translated every page already.
func a100(t *testing.T) *Config {
	t.Helper()
	m, err := arch.ByName("a100")
	if err != nil {
		t.Fatal(err)
	}
	m.TLB.FirstMiss.Value = 0
	return NewConfig(m, 0, false)
}

// TestLink holds that what a slice has copied from another partition comes at the rate of its link, and at once when it is read again.
func TestLink(t *testing.T) {
	cfg := a100(t)
	d := NewDevice(cfg)
	near, far := 0, cfg.SMs-1
	const later, n = 100_000, 100
	slices := uint64(cfg.slices)
	lines := linesOf(d, d.near(int32(far)), n, func(set uint64) bool { return set%slices == 0 })
	for _, line := range lines {
		ask(d, far, line, 0)
	}
	var first, last int64
	for i, line := range lines {
		if last = ask(d, near, line, later); i == 0 {
			first = last
		}
	}
	if want := later + cfg.l2Hit + cfg.far + sectorsPerLine - 1; first != want {
		t.Errorf("the first copy is there in cycle %d, want %d", first, want)
	}
	if want := first + (n-1)*sectorsPerLine*cfg.linkPerSector/tick; last < want || last > want+1 {
		t.Errorf("the last of %d copies is there in cycle %d, want %d", n, last, want)
	}
	if got, want := ask(d, near, lines[0], 2*later), 2*later+cfg.l2Hit+sectorsPerLine-1; got != want {
		t.Errorf("a copy is read in cycle %d, want %d", got, want)
	}
}

// TestCopiesDoNotRenew holds that a line which another partition has copied is as old at home as before.
func TestCopiesDoNotRenew(t *testing.T) {
	cfg := a100(t)
	d := NewDevice(cfg)
	sm, other := cfg.SMs-1, 0
	home := d.near(int32(sm))
	lines := linesOf(d, home, cfg.l2Ways+2, func(set uint64) bool { return set == 0 })
	for i, line := range lines[:cfg.l2Ways] {
		ask(d, sm, line, int64(i)*1000)
	}
	ask(d, sm, lines[0], 100_000)
	ask(d, other, lines[1], 200_000)
	for i, line := range lines[cfg.l2Ways:] {
		ask(d, sm, line, 300_000+int64(i)*1000)
	}
	if !d.parts[home].has(lines[0]) {
		t.Error("a line that its own partition has read again makes way before others")
	}
	for _, line := range lines[1:3] {
		if d.parts[home].has(line) {
			t.Errorf("line %d is there still, though two have come that were read later", line)
		}
	}
	if !d.parts[1-home].has(lines[1]) {
		t.Error("the copy is gone too")
	}
}

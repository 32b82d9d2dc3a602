package arch

import "testing"

// TestGeometry holds that the figures of every GPU agree with each other.
func TestGeometry(t *testing.T) {
	for _, m := range models() {
		t.Run(m.Name, func(t *testing.T) {
			line := m.L1.Line.Int()
			parts := m.L2.Partitions.Int()
			lines := m.L2.Size.Int() / line / parts
			if lines%m.L2.Ways.Int() != 0 {
				t.Errorf("L2: %d lines in %d ways", lines, m.L2.Ways.Int())
			}
			if ways := m.L1.Ways.Int(); ways > 8 {
				t.Errorf("L1: %d ways, more than package mem keeps the order of", ways)
			}
			if m.L2.Slices.Int()%parts != 0 || m.L2.Slices.Int() < m.DRAM.Channels.Int() {
				t.Errorf("L2: %d slices, %d partitions, %d channels", m.L2.Slices.Int(), parts, m.DRAM.Channels.Int())
			}
			if parts > 1 && m.L2.Far.Value <= 0 {
				t.Error("L2: the far partition is as near as the near one")
			}
			l := &m.Latencies
			if l.L1.Value >= l.L2.Value || l.L2.Value >= l.DRAM.Value || l.L2.Value >= l.Global.Value {
				t.Errorf("latencies: L1 %g, L2 %g, DRAM %g, atomics %g", l.L1.Value, l.L2.Value, l.DRAM.Value, l.Global.Value)
			}
			if m.DRAM.Achieved.Value > m.DRAM.Peak.Value {
				t.Errorf("DRAM: %g of %g bytes a second", m.DRAM.Achieved.Value, m.DRAM.Peak.Value)
			}
			largest := m.Limits.SharedCarveouts[len(m.Limits.SharedCarveouts)-1].Int()
			if block := m.Limits.SharedBlock.Int() + m.Limits.SharedReserved.Int(); block > largest {
				t.Errorf("a block of %d bytes of shared memory does not fit %d", block, largest)
			}
			if largest >= m.L1.Unified.Int() {
				t.Errorf("shared memory takes all of %d bytes", m.L1.Unified.Int())
			}
			for p := range NumPipes {
				if iv := m.Pipes[p].Interval.Value; iv < 0 || iv == 0 && p != FMAHeavy {
					t.Errorf("%v: interval %g", p, iv)
				}
			}
		})
	}
}

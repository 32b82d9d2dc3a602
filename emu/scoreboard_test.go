package emu

import (
	"testing"

	"gpa/emu/mem"
)

func TestCounter(t *testing.T) {
	a, b, c := new(op), new(op), new(op)
	var n counter
	n.add(0, 30, a)
	first := n.next()
	n.add(1, mem.Never, b)
	n.add(2, 20, c)
	if n.clear != mem.Never {
		t.Errorf("clear in %d with one end unknown", n.clear)
	}
	if got := n.atMost(2); got != 30 {
		t.Errorf("at most 2 outstanding from %d on, want 30: the oldest goes first", got)
	}
	if got := n.atMost(1); got != mem.Never {
		t.Errorf("at most 1 outstanding from %d on, want it unknown", got)
	}
	n.settle(first, 50)
	if n.clear != 50 {
		t.Errorf("clear in %d, want 50", n.clear)
	}
	if got := n.atMost(3); got != 0 {
		t.Errorf("at most 3 outstanding from %d on, want 0", got)
	}
	n.add(60, 70, a)
	if len(n.events) != 1 || n.clear != 70 {
		t.Errorf("%d events, clear in %d; want those that are over forgotten", len(n.events), n.clear)
	}
}

// TestCounterForgets holds that a counter that never becomes zero does not grow with every event.
func TestCounterForgets(t *testing.T) {
	var n counter
	var numbers []uint32
	for now := int64(0); now < 10000; now++ {
		numbers = append(numbers, n.next())
		n.add(now, mem.Never, new(op))
		if now >= 100 {
			n.settle(numbers[now-100], now+1)
		}
	}
	if len(n.events) > 200 {
		t.Errorf("%d events are kept, about 100 are outstanding", len(n.events))
	}
	if n.next() != 10000 {
		t.Errorf("event numbers went to %d, want 10000", n.next())
	}
}

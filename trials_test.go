package gpa

import (
	"testing"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/profiler"
)

// TestEqualChangesShare holds that pieces of advice with the same change have one trial, whose outcome is said of each, and others do not.
func TestEqualChangesShare(t *testing.T) {
	about := func(optimizer string, launches int, c *advisor.Change) *advisor.Advice {
		return &advisor.Advice{Optimizer: optimizer, Match: &advisor.Match{Change: c, Launches: launches}}
	}
	wide := func(registers int) *advisor.Change {
		return &advisor.Change{Coalesced: []blamer.Node{{Code: 0, Inst: 3}}, Streams: &advisor.Streams{}, Registers: registers}
	}
	made := &making{change: wide(32), done: make(chan struct{}), outcome: outcome{try: profiler.Try{Optimizer: "first", Speedup: 1.5}, spent: 7}}
	close(made.done)
	x := &trials{trial: new(trial), begun: make(map[*advisor.Advice]*making), made: []*making{made}}
	o := x.of([]*advisor.Advice{about("second", 1, wide(32))}, "") // another trial would find no launch
	if o.try.Optimizer != "second" || o.try.Speedup != 1.5 || o.spent != 7 || len(x.made) != 1 || len(x.begun) != 0 {
		t.Errorf("%+v after %d trials", o, len(x.made))
	}
	compiled := &advisor.Change{Compiled: &advisor.Compiled{}}
	x.made = append(x.made, &making{change: compiled})
	for what, a := range map[string]*advisor.Advice{
		"another change": about("second", 1, wide(48)), "no change": about("second", 1, nil), "several launches": about("second", 2, wide(32)),
		"other parameters of the compiler": about("second", 1, compiled),
	} {
		if x.like(a) != nil {
			t.Errorf("%s: no trial of its own", what)
		}
	}
}

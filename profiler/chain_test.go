package profiler

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// TestChains holds which launches could be one: those that load what the ones before have stored, as far as nothing keeps them apart.
func TestChains(t *testing.T) {
	launch := func(repeats int, own int64, apart int) *Launch {
		return &Launch{Facts: Facts{Cycles: 10, Repeats: repeats}, Inherits: &Inheritance{Loaded: 100, Own: own, Apart: apart}}
	}
	other := launch(0, 100, 0)
	other.Kernel = "other"
	for _, c := range []struct {
		name     string
		launches []*Launch
		want     []int // first and number of launches of each chain
		alone    int64
	}{
		{"alone", []*Launch{launch(0, 0, 0)}, nil, 10},
		{"all three", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 50, 0)}, []int{0, 3}, 0},
		{"equal launches", []*Launch{launch(0, 0, 0), launch(2, 100, 0)}, []int{0, 4}, 0},
		{"the third is apart from the first", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 100, 2), launch(0, 100, 1)}, []int{0, 2}, 20},
		{"two chains", []*Launch{launch(0, 0, 0), launch(0, 100, 0), launch(0, 0, 0), launch(0, 100, 0), other}, []int{0, 2, 2, 3}, 0},
		{"chains of another kernel", []*Launch{launch(0, 0, 0), launch(0, 0, 1), other, other}, []int{1, 3}, 10},
		{"too little is inherited", []*Launch{launch(0, 0, 0), launch(0, 20, 0)}, nil, 20},
		{"of another module", []*Launch{launch(0, 0, 0), {Module: 1, Inherits: &Inheritance{Loaded: 1, Own: 1}}}, nil, 10},
		{"a fault", []*Launch{{Fault: &Fault{}}, launch(0, 100, 0)}, nil, 10},
		{"nothing is known", []*Launch{launch(0, 0, 0), {}}, nil, 10},
		{"no more than are followed", []*Launch{launch(63, 100, 0)}, []int{0, 32, 32, 32}, 0},
	} {
		p := Profile{Launches: c.launches}
		got := p.Chains(0)
		var list []int
		for _, x := range got.List {
			list = append(list, x.First, len(x.Launches))
		}
		if !slices.Equal(list, c.want) || got.Alone != c.alone {
			t.Errorf("%s: chains %v and %d cycles besides, want %v and %d", c.name, list, got.Alone, c.want, c.alone)
		}
	}
}

// TestChainsSpeedup holds what chains of different lengths gain, and what is alone does not.
func TestChainsSpeedup(t *testing.T) {
	l := &Launch{Facts: Facts{Cycles: 100}}
	c := Chains{List: []Chain{{Launches: []*Launch{l, l}}, {First: 2, Launches: []*Launch{l, l, l, l}}}, Alone: 200}
	// Of the four, the first takes 100 and each further one 20, so that two take 120.
	if got, want := c.Speedup(400.0/160), 800.0/(120+160+200); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestJoined holds which launches could be one by their threads.
func TestJoined(t *testing.T) {
	loadAt, storeAt, sharedAt, atomicAt := Place{PC: 0}, Place{PC: sass.InstSize}, Place{PC: 2 * sass.InstSize}, Place{PC: 3 * sass.InstSize}
	module := &cubin.File{Codes: []*cubin.Code{{Insts: make([]sass.Inst, 4)}}}
	for i, text := range []string{"LDG.E R2, [R2]", "STG.E [R2], R4", "STS [R2], R4", "RED.E.ADD.STRONG.GPU [R2], R4"} {
		in, err := sass.Parse(sass.SM80, 0, text, sass.Control{Stall: 4, WriteBarrier: -1, ReadBarrier: -1})
		if err != nil {
			t.Fatal(err)
		}
		module.Codes[0].Insts[i] = in
	}
	launch := func(kernel string, executed ...Place) *Launch {
		l := &Launch{Kernel: kernel, Grid: [3]int{100, 1, 1}, Block: [3]int{1, 1, 1}, Facts: Facts{Cycles: 1000, SMs: 100, SchedulersPerSM: 4, WarpInstructions: 4000}, Record: &Record{}, Inherits: &Inheritance{Loaded: 400}}
		for _, at := range executed {
			l.PCs = append(l.PCs, Counter{PC: at.PC, Executions: 10, ThreadExecutions: 100})
		}
		return l
	}
	from := func(l *Launch, back int, left int64, blocks int) *Launch {
		l.Inherits.Feeds = append(l.Inherits.Feeds, Feed{Back: back, Bytes: 400, Left: left, Blocks: blocks, Loads: []FeedLoad{{loadAt, 400, 400}}})
		return l
	}
	const product, maps = "product", "map"
	first := func() *Launch { return launch(maps, loadAt, storeAt) }
	second := func() *Launch { return from(launch(maps, loadAt, storeAt), 1, 400, 1) }
	working := func() *Launch { return launch(product, loadAt, storeAt, sharedAt) }
	overwriting := second()
	overwriting.Inherits.Overwrites = []int{1}
	inPlace := first()
	inPlace.Record.Loads = []LoadRecord{{Place: loadAt, Bytes: 400, Stored: 400}}
	small := working()
	small.Grid[0] = 2
	again := from(launch(maps, loadAt, storeAt), 1, 100, 1)
	again.Record.Loads = []LoadRecord{{Place: loadAt, Bytes: 400, Earlier: [NumParties]int64{SameThread: 300}}}
	twoEach := func() *Launch {
		l := from(launch(maps, loadAt, storeAt), 1, 800, 1)
		l.PCs[0].ThreadExecutions = 200
		return l
	}
	dear := first()
	dear.Facts.WarpInstructions *= 10
	steps := func() *Launch { // of a sort: half of the threads store two elements each
		l := from(launch(maps, loadAt, storeAt), 1, 400, 1)
		l.PCs[1].ThreadExecutions, l.Record.Loads = 50, inPlace.Record.Loads
		return l
	}
	scattering := second()
	scattering.Inherits.Feeds[0].Loads[0].Place = atomicAt
	idle := launch(maps, loadAt, storeAt, sharedAt)
	idle.PCs[2].ThreadExecutions = 0
	little := second()
	little.Inherits.Feeds[0].Bytes = 40
	for _, c := range []struct {
		name     string
		launches []*Launch
		want     string // the chains' launches, < for what is pulled and > for what is pushed, by joint
	}{
		{"maps", []*Launch{first(), second()}, "0<1"},
		{"shared memory that no thread accesses", []*Launch{idle, second()}, "0<1"},
		{"three maps", []*Launch{first(), second(), second()}, "0<1<2"},
		{"into a product", []*Launch{first(), from(working(), 1, 400, 7)}, "0<1"},
		{"behind a product", []*Launch{working(), second()}, "0>1"},
		{"around a product", []*Launch{first(), from(working(), 1, 400, 7), second()}, "0<1>2"},
		{"of several blocks", []*Launch{working(), from(launch(maps, loadAt, storeAt), 1, 400, 2)}, ""},
		{"of few blocks", []*Launch{small, second()}, ""},
		{"of one value", []*Launch{working(), from(launch(maps, loadAt, storeAt), 1, 4, 1)}, ""},
		{"both work together", []*Launch{working(), from(working(), 1, 400, 1)}, ""},
		{"atomic operations", []*Launch{launch("counts", loadAt, atomicAt), from(working(), 1, 400, 1)}, ""},
		{"computed four times", []*Launch{first(), from(launch("stencil", loadAt, storeAt), 1, 100, 2)}, "0<1"},
		{"loaded four times by each thread", []*Launch{first(), again}, "0<1"},
		{"two results of each thread", []*Launch{first(), twoEach(), second()}, "0>1>2"},
		{"steps of a sort", []*Launch{steps(), steps()}, "0>1"},
		{"added to", []*Launch{first(), scattering}, ""},
		{"computed too often", []*Launch{dear, from(launch("stencil", loadAt, storeAt), 1, 4, 2)}, ""},
		{"computed four times in place", []*Launch{inPlace, from(launch("stencil", loadAt, storeAt), 1, 100, 2)}, ""},
		{"in place", []*Launch{inPlace, second()}, "0<1"},
		{"overwritten", []*Launch{first(), overwriting}, "0<1"},
		{"little is loaded", []*Launch{first(), little}, ""},
		{"another between", []*Launch{first(), launch("other", loadAt, storeAt), from(launch(maps, loadAt, storeAt), 2, 400, 1)}, "0<2"},
		{"another between needs it too", []*Launch{first(), from(working(), 1, 400, 1), from(launch(maps, loadAt, storeAt), 2, 400, 1)}, "0<1"},
		{"beside", []*Launch{first(), from(launch("digest", loadAt, storeAt), 1, 400, 1)}, ""},
		{"a fault", []*Launch{first(), {Fault: &Fault{}, Inherits: second().Inherits}}, ""},
	} {
		p := Profile{Modules: []*cubin.File{module}, Launches: c.launches}
		got := ""
		for _, chain := range p.Joined("digest") {
			got += fmt.Sprint(chain.At[0])
			for i, j := range chain.Joints {
				sign := "<"
				if j.Push {
					sign = ">"
				}
				got += sign + fmt.Sprint(chain.At[i+1])
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for name, joint := range map[string]*Launch{"swapped": overwriting, "kept": second()} {
		p := Profile{Modules: []*cubin.File{module}, Launches: []*Launch{first(), joint, from(launch("stencil", loadAt, storeAt, sharedAt), 2, 400, 1)}}
		chains := p.JoinedOf(p.Joined(""), 0)
		if j := chains.List[0].Joints[0]; !j.Kept || j.Swapped != (name == "swapped") || chains.Alone != 0 || chains.Cycles() != 2000 {
			t.Errorf("%s: %+v, %d cycles, %d besides", name, j, chains.Cycles(), chains.Alone)
		}
	}
}

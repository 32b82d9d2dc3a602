package stream

import (
	"slices"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// A script is a launch whose blocks have one warp each, the lanes of which access a word each.
type script [][]rows

// rows are accesses of all lanes: the words of the first ones, and a word that all have.
type rows struct {
	kind uint8
	word []uint64 // by lane
}

const (
	opLoad = iota
	opStore
	opExit
	opMath
)

// otherArray is where words begin to which another instruction stores.
const otherArray = 30

// scriptOps are the instructions of scripts: the math waits for the loads.
type scriptOps struct{}

func (scriptOps) Inst(op int32) *sass.Inst {
	in := sass.Inst{Op: []sass.Op{sass.LDG, sass.STG, sass.EXIT, sass.FADD}[op%4]}
	in.Control.WriteBarrier, in.Control.ReadBarrier = -1, -1
	in.Guard.Reg = sass.PT
	switch op % 4 {
	case opLoad:
		in.Control.WriteBarrier = 0
	case opMath:
		in.Control.WaitMask = 1
	}
	return &in
}

// base tells the ops of the launches apart.
func (s script) launch(lanes int, base int32) Joinable {
	return Joinable{scriptSource{s, lanes, base}, Shape{Grid: [3]int{len(s), 1, 1}, Threads: 32}}
}

type scriptSource struct {
	script script
	lanes  int
	base   int32
}

// Block makes a block: each access, math behind it where it loads, and an EXIT.
func (s scriptSource) Block(n int) (*Block, error) {
	b := NewBlock(1)
	mask := uint32(1)<<s.lanes - 1
	lanes := b.LanesOf(Lanes{Active: mask, Mask: mask})
	add := func(e Event) { b.Warps[0].Events = append(b.Warps[0].Events, e) }
	for _, r := range s.script[n] {
		var addr [warpLanes]uint64
		for i, w := range r.word {
			addr[i] = 4 * w
		}
		ref := b.AddAccess(Access{Kind: r.kind, Space: global, Size: 4}, mask, &addr)
		op := s.base + opLoad
		if r.kind != load {
			op = s.base + opStore
			if r.word[0] >= otherArray {
				op += 8
			}
		}
		add(Event{Op: op, Lanes: lanes, Ref: ref, Kind: RefAccess})
		if r.kind == load {
			add(Event{Op: s.base + opMath, Lanes: lanes, Ref: -1})
		}
	}
	add(Event{Op: s.base + opExit, Lanes: lanes, Ref: -1})
	return b, nil
}

// TestJoin holds what a warp issues of launches that are one: by ops 0 to 3 of the first (load, store, exit, math) and 4 to 7 of the second,
// which are followed by the words of an access.
func TestJoin(t *testing.T) {
	in := func(words ...uint64) rows { return rows{load, words} }
	out := func(words ...uint64) rows { return rows{store, words} }
	for _, c := range []struct {
		name          string
		first, second script
		joint         Joint
		want          [][]uint64 // by block
		err           string
	}{
		// Two blocks, of lanes that swap their places in the second launch.
		{"pulled across blocks", script{{in(0, 1), out(10, 11)}, {in(2, 3), out(12, 13)}}, script{{in(11, 12), out(20, 21)}}, Joint{},
			[][]uint64{{0, 1, 2, 3, 7, 5, 20, 21, 6}}, ""},
		{"pulled and kept", script{{in(0, 1), out(10, 11)}}, script{{in(11, 10), out(20, 21)}}, Joint{Kept: true},
			[][]uint64{{0, 1, 0, 3, 1, 11, 10, 7, 5, 20, 21, 6}}, ""},
		{"computed by both neighbours", script{{in(0, 1), out(10, 11)}}, script{{in(10, 11), in(11, 10), out(20, 21)}}, Joint{},
			[][]uint64{{0, 0, 1, 3, 7, 0, 1, 0, 3, 7, 5, 20, 21, 6}}, ""},
		{"held", script{{in(0, 1), out(10, 11)}}, script{{in(10, 11), in(10, 11), out(20, 21)}}, Joint{},
			[][]uint64{{0, 0, 1, 3, 7, 7, 5, 20, 21, 6}}, ""},
		{"loaded where nobody stores", script{{in(0, 1), out(10, 11)}}, script{{in(11, 40), out(20, 21)}}, Joint{},
			[][]uint64{{4, 40, 0, 1, 3, 7, 5, 20, 21, 6}}, ""},
		{"another result is stored once", script{{in(0, 1), out(10, 11), out(30, 31)}}, script{{in(10, 11), out(20, 21)}, {in(10, 11), out(22, 23)}}, Joint{},
			[][]uint64{{0, 0, 1, 3, 9, 30, 31, 7, 5, 20, 21, 6}, {0, 0, 1, 3, 7, 5, 22, 23, 6}}, ""},
		{"several store it", script{{in(0, 1), out(10, 10)}}, script{{in(10, 10), out(20, 21)}}, Joint{}, nil, "several threads"},
		{"others load what is stored", script{{in(0, 10), out(10, 11)}}, script{{in(10, 11), out(20, 21)}}, Joint{}, nil, "load what others"},
		{"pushed", script{{in(0, 1), out(10, 11)}}, script{{in(10, 11), out(20, 21)}}, Joint{Way: Push}, [][]uint64{{0, 0, 1, 3, 7, 5, 20, 21, 2}}, ""},
		{"pushed into two blocks", script{{in(0, 1), out(10, 11)}, {in(2, 3), out(12, 13)}}, script{{in(13, 10), out(20, 21)}, {in(11, 12), out(22, 23)}}, Joint{Way: Push},
			[][]uint64{{0, 0, 1, 3, 7, 5, 21, 22, 2}, {0, 2, 3, 3, 7, 5, 23, 20, 2}}, ""},
		{"pushed and kept", script{{in(0, 1), out(10, 11)}}, script{{in(10, 11), out(20, 21)}}, Joint{Way: Push, Kept: true}, [][]uint64{{0, 0, 1, 3, 1, 10, 11, 7, 5, 20, 21, 2}}, ""},
		{"of several blocks", script{{in(0, 1), out(10, 11)}, {in(2, 3), out(12, 13)}}, script{{in(10, 11), in(12, 13), out(20, 21)}}, Joint{Way: Push}, nil, "several blocks"},
		{"all of one block", script{{out(10, 11)}, {}, {}, {}, {}, {}, {}, {}}, script{{in(10, 11)}, {in(10, 11)}, {in(10, 11)}, {in(10, 11)}, {in(10, 11)}, {in(10, 11)}}, Joint{Way: Push}, nil, "few blocks"},
	} {
		one, err := Join(scriptOps{}, []Joinable{c.first.launch(2, 0), c.second.launch(2, 4)}, []Joint{c.joint})
		var got [][]uint64
		for n := 0; err == nil && n < one.Shape.Grid[0]; n++ {
			var b *Block
			if b, err = one.Source.Block(n); err == nil {
				got = append(got, issued(b))
			}
		}
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want an error with %q", c.name, err, c.err)
			}
		case err != nil || !slices.EqualFunc(got, c.want, slices.Equal):
			t.Errorf("%s: %v (%v), want %v", c.name, got, err, c.want)
		}
	}
}

// issued lists what a block's warp issues.
func issued(b *Block) (list []uint64) {
	for i := range b.Warps[0].Events {
		e := &b.Warps[0].Events[i]
		if e.As == Gone {
			continue
		}
		list = append(list, uint64(e.Op))
		if e.Kind == RefAccess {
			eachWord(b, 0, &b.Access[e.Ref], func(addr uint64, _ thread) bool { list = append(list, addr/4); return true })
		}
	}
	return list
}

// TestJoinTogether holds that threads which work together stay where they are.
func TestJoinTogether(t *testing.T) {
	s := script{{{load, []uint64{0, 1}}}}.launch(2, 0)
	b, _ := s.Source.Block(0)
	b.Gates = append(b.Gates, Gate{All: true})
	b.Warps[0].Events[0].Kind, b.Warps[0].Events[0].Ref = RefSync, b.AddSync(Sync{})
	if err := eachForItself(scriptOps{}, []*Block{b}); err == nil {
		t.Error("a barrier is no obstacle")
	}
}

// TestAbreast holds that rounds are laid side by side.
func TestAbreast(t *testing.T) {
	events := func(ops ...int32) (list []Event) {
		for _, op := range ops {
			list = append(list, Event{Op: op})
		}
		return list
	}
	var got []int32
	for _, e := range abreast(nil, [][]Event{events(1, 2, 4), events(1, 3, 4)}) {
		got = append(got, e.Op)
	}
	if !slices.Equal(got, []int32{1, 1, 2, 3, 4, 4}) {
		t.Errorf("%v", got)
	}
}

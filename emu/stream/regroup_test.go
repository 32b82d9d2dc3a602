package stream

import (
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// A program of loads and shuffles: instruction 0 is LDG, 1 SHFL.
type loadsAndShuffles struct{}

func (loadsAndShuffles) Inst(op int32) *sass.Inst {
	return &sass.Inst{Op: [...]sass.Op{sass.LDG, sass.SHFL}[op]}
}

// columns is a block of 4 by 16 threads, of which thread (x, y) loads element 16 x + y: neighbours are 16 elements apart.
func columns() *Block {
	b := NewBlock(2)
	for w := range b.Warps {
		var addr [warpLanes]uint64
		for l := range addr {
			t := w*warpLanes + l
			addr[l] = uint64(4 * (16*(t%4) + t/4))
		}
		all := ^uint32(0)
		b.Warps[w].Events = []Event{{Op: 0, Kind: RefAccess, Lanes: b.LanesOf(Lanes{Active: all, Mask: all}), Ref: b.AddAccess(Access{Kind: load, Space: global, Size: 4}, all, &addr)}}
	}
	return b
}

func TestRegroup(t *testing.T) {
	blocks, err := (&Regroup{X: 4, Y: 16}).Apply(loadsAndShuffles{}, []*Block{columns()})
	if err != nil {
		t.Fatal(err)
	}
	b := blocks[0]
	for w := range b.Warps {
		e := b.Warps[w].Events[0]
		if a := &b.Access[e.Ref]; a.stride != 4 || a.base != uint64(4*warpLanes*w) || b.Lanes[e.Lanes].Mask != ^uint32(0) {
			t.Errorf("warp %d loads from %d, %d apart, want neighbours from %d", w, a.base, a.stride, 4*warpLanes*w)
		}
	}
}

func TestRegroupErrors(t *testing.T) {
	shuffles := columns()
	for w := range shuffles.Warps {
		e := shuffles.Warps[w].Events[0]
		e.Op, e.Kind, e.Ref = 1, RefNone, -1
		shuffles.Warps[w].Events = append(shuffles.Warps[w].Events, e)
	}
	uneven := columns()
	uneven.Warps[1].Events = append(uneven.Warps[1].Events, uneven.Warps[1].Events[0])
	for _, c := range []struct {
		block *Block
		x     int
		says  string
	}{
		{shuffles, 4, "pass values"},
		{uneven, 4, "different instructions"},
		{columns(), 3, "no whole warps"},
	} {
		_, err := (&Regroup{X: c.x, Y: 16}).Apply(loadsAndShuffles{}, []*Block{c.block})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

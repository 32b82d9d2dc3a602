package check

import "testing"

// What a block told early is not forgotten where it tells much: of a block's tellings the first ones count as one, so that more may
// count as known and never less.
func TestManyTellings(t *testing.T) {
	n := &notice{by: make(map[int32][]telling)}
	for i := range 10 * mostTold {
		w := &warp{}
		w.public.now = clock{uint32(i)}
		n.tell(3, w)
	}
	if len(n.by[3]) > mostTold {
		t.Errorf("%d tellings are kept", len(n.by[3]))
	}
	for upTo := 1; upTo <= n.told; upTo++ {
		k := knowledge{{n, upTo}}
		if !k.knows(&visit{block: 3, stamp: uint32(upTo - 1)}, 0) {
			t.Fatalf("telling %d is not known after %d", upTo-1, upTo)
		}
	}
	if last := (knowledge{{n, n.told}}); last.knows(&visit{block: 3, stamp: uint32(n.told)}, 0) || last.knows(&visit{block: 4}, 0) {
		t.Error("what nobody told is known")
	}
}

// A warp that has heard through more words than are kept apart counts as knowing all.
func TestManyNotices(t *testing.T) {
	var k knowledge
	for range mostHeard {
		k = k.and(heard{&notice{}, 1})
	}
	if old := (&visit{block: 1, stamp: 1}); k.knows(old, 0) || !k.and(heard{&notice{}, 1}).knows(old, 0) {
		t.Error("too much or too little is known")
	}
	if k = k.with(everything()); len(k) != 1 || !k.knows(&visit{}, 0) {
		t.Error("all that another warp knows is not known")
	}
}

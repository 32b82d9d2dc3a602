package stream

import "math"

// Relieve divides work that few warps of a block do between two barriers among all that come to the second one: of the executions of instructions of
// one group the first stays, and the next ones go to warps that have none of them, up to as many as there may be, in turns. What no barrier
// follows is divided among all warps of the block. Nothing is divided where most of the warps have such work, however many blocks have none.
type Relieve struct {
	single
	Ops map[int32]Relief
}

// A Relief says among how many warps at most the work of one may be divided, and with which other instructions: copies that the compiler has made
// of a round are one group.
type Relief struct {
	Among float64
	Group int
}

// mostRelieved is the share of the warps above which work counts as done by all of them.
const mostRelieved = .75

// A stretch is events of a warp between two barriers, [first, last), without these.
type stretch struct{ first, last int }

// Apply moves the events.
func (x *Relieve) Apply(_ Program, blocks []*Block) ([]*Block, error) {
	b := blocks[0]
	cuts, most := make([][]stretch, len(b.Warps)), 0
	for w := range b.Warps {
		cuts[w] = b.stretches(b.Warps[w].Events)
		most = max(most, len(cuts[w]))
	}
	lists := make([][]Event, len(b.Warps))
	changed := false
	for n := range most {
		var with, without []int
		for w := range b.Warps {
			if n >= len(cuts[w]) {
				continue
			}
			if x.works(b.Warps[w].Events[cuts[w][n].first:cuts[w][n].last]) {
				with = append(with, w)
			} else {
				without = append(without, w)
			}
		}
		all := len(with) + len(without)
		moved := make([][]Event, len(b.Warps))
		for k, w := range with {
			events := b.Warps[w].Events[cuts[w][n].first:cuts[w][n].last]
			if float64(len(with)) >= mostRelieved*float64(all) {
				lists[w] = append(lists[w], events...)
				continue
			}
			changed = true
			lists[w] = x.divide(lists[w], events, float64(all)/float64(len(with)), func(turn int, e Event) {
				to := without[(k+(turn-1)*len(with))%len(without)]
				moved[to] = append(moved[to], e)
			})
		}
		for _, w := range without {
			lists[w] = append(append(lists[w], b.Warps[w].Events[cuts[w][n].first:cuts[w][n].last]...), moved[w]...)
		}
		for w := range b.Warps {
			if n < len(cuts[w]) && cuts[w][n].last < len(b.Warps[w].Events) {
				lists[w] = append(lists[w], b.Warps[w].Events[cuts[w][n].last])
			}
		}
	}
	if changed {
		for w := range b.Warps {
			b.Warps[w].Events, b.Warps[w].Values = lists[w], nil
		}
	}
	return blocks, nil
}

// stretches cuts the events of a warp at the barriers that it waits at; what comes behind the last one is the last stretch.
func (b *Block) stretches(events []Event) (list []stretch) {
	first := 0
	for i := range events {
		if e := &events[i]; e.Kind == RefSync && b.Syncs[e.Ref].Waits >= 0 {
			list = append(list, stretch{first, i})
			first = i + 1
		}
	}
	return append(list, stretch{first, len(events)})
}

// works reports whether some of the events are to be divided.
func (x *Relieve) works(events []Event) bool {
	for i := range events {
		if x.Ops[events[i].Op].Among > 1 {
			return true
		}
	}
	return false
}

// divide adds to a list what a warp still does of its events, and hands on the others with the number of the warp, from 1 on, that does them.
// Executions of equal number, as those of a round, stay together.
func (x *Relieve) divide(list, events []Event, among float64, hand func(turn int, e Event)) []Event {
	met := make(map[int]int)
	for _, e := range events {
		r := x.Ops[e.Op]
		by := min(r.Among, among)
		if by <= 1 || e.Kind == RefSync || e.Kind == RefWork {
			list = append(list, e)
			continue
		}
		k := met[r.Group]
		met[r.Group]++
		if turn := turnOf(k, by); turn > 0 {
			hand(turn, e)
		} else {
			list = append(list, e)
		}
	}
	return list
}

// turnOf says which of so many warps, in the mean, does the k-th execution: 0 begins anew when each has had one.
func turnOf(k int, by float64) int {
	return k - int(math.Ceil(math.Floor(float64(k)/by)*by))
}

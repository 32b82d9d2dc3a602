package stream

import (
	"cmp"
	"errors"
	"math/bits"
	"slices"
)

// Roll undoes what a compiler did to a loop that it has unrolled: of the rounds that it put together, and of those that it left over in code
// of their own, it makes rounds of one loop again, ready to be shared out among so many threads as Width says: of what each of them then gets it
// has put as many together as the compiler had, with the instructions of the first copies. Rounds are told apart by how often a
// thread has come to copies of the same instruction: its k-th load of an element is that of its k-th round. What has fewer copies than the
// loop has rounds, as counting does, is done in the first rounds; what has several for each is shared out evenly.
//
// That copies are those of a loop's rounds, and not the members of a structure or the neighbours of an element, shows in their addresses: those
// of one of the accesses that each round makes are equally far apart. Where they are not, it is an error.
//
// The loop that there is afterwards has all copies as its body, and the first copy of First begins its rounds.
//
// A loop ends for a warp where an access that is no part of it, a barrier, or so many other instructions as mostBetweenCopies follow.
type Roll struct {
	single
	Copies [][]int32 // instructions that the source has once; of each, its copies in the order of the program
	Anchor int       // of these, an access that each round makes once
	First  int       // the one that begins a round
	Width  int
	// Unrolled is how many rounds the compiler has put together.
	Unrolled int
}

// mostBetweenCopies is how many instructions that are no copies of any the copies of a loop may have between them: moves and tests that the compiler
// has counted to other lines.
const mostBetweenCopies = 16

// Apply makes the rounds.
func (r *Roll) Apply(p Program, blocks []*Block) ([]*Block, error) {
	if err := blocks[0].withoutWork(p, "roll"); err != nil {
		return nil, err
	}
	x := roller{Roll: r, Block: blocks[0], kind: make(map[int32]int)}
	for k, c := range r.Copies {
		for _, op := range c {
			x.kind[op] = k
		}
	}
	for w := range x.Warps {
		if err := x.roll(&x.Warps[w]); err != nil {
			return nil, err
		}
	}
	return blocks, nil
}

// A roller rolls the loops of a block.
type roller struct {
	*Roll
	*Block
	kind map[int32]int // index in Copies, by instruction
	addr [warpLanes]uint64
}

// roll rolls the loops of a warp.
func (x *roller) roll(w *Warp) (err error) {
	var out []Event
	for first := 0; first < len(w.Events); {
		if _, found := x.kind[w.Events[first].Op]; !found {
			out = append(out, w.Events[first])
			first++
			continue
		}
		last := x.end(w.Events, first)
		if out, err = x.rounds(out, w.Events[first:last]); err != nil {
			return err
		}
		first = last
	}
	w.Events, w.Values = out, nil
	return nil
}

// end returns where the loop ends whose first instruction is an event.
func (x *roller) end(events []Event, first int) int {
	last := first
	for i := first; i < len(events) && i-last <= mostBetweenCopies; i++ {
		if _, found := x.kind[events[i].Op]; found {
			last = i + 1
		} else if events[i].Kind != RefNone {
			break
		}
	}
	return last
}

// A copyAt is a copy of an instruction as a thread came to it.
type copyAt struct {
	event       int
	kind, place int // index in Copies, and of how many in the same round
}

// rounds appends the rounds of a loop, and before them what is no part of it.
func (x *roller) rounds(out, events []Event) ([]Event, error) {
	var met [warpLanes][][]int // events, by lane and kind
	for i := range met {
		met[i] = make([][]int, len(x.Copies))
	}
	for i := range events {
		k, found := x.kind[events[i].Op]
		if !found {
			out = append(out, events[i])
			continue
		}
		for m := x.doing(&events[i]); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			met[lane][k] = append(met[lane][k], i)
		}
	}
	most := 1
	var steps [warpLanes][][]copyAt // by lane and round
	for lane := range met {
		if !x.regular(events, lane, met[lane]) {
			return nil, errors.New("roll: the copies are not those of a loop's rounds")
		}
		steps[lane] = shareOut(met[lane], max(1, len(met[lane][x.Anchor])))
		most = max(most, len(steps[lane]))
	}
	for first := 0; first < most; first += x.Width * x.Unrolled {
		for j := first; j < min(first+x.Width, most); j++ {
			out = x.round(out, events, &steps, func(rounds int) (int, int) {
				if j+x.Width*(x.Unrolled-1) < rounds {
					return j, x.Unrolled
				}
				return 0, 0
			})
		}
		for j := first; j < min(first+x.Width*x.Unrolled, most); j++ {
			out = x.round(out, events, &steps, func(rounds int) (int, int) {
				if begun := first + (j-first)%x.Width; j < rounds && begun+x.Width*(x.Unrolled-1) >= rounds {
					return j, 1
				}
				return 0, 0
			})
		}
	}
	return out, nil
}

// regular reports whether what a lane met is rounds of a loop, as far as addresses tell.
func (x *roller) regular(events []Event, lane int, met [][]int) bool {
	rounds := len(met[x.Anchor])
	return rounds < 3 || slices.ContainsFunc(met, func(list []int) bool { return len(list) == rounds && x.evenly(events, lane, list) })
}

// evenly reports whether events are loads from or stores to global addresses that are equally far apart.
func (x *roller) evenly(events []Event, lane int, list []int) bool {
	var all []uint64
	for _, i := range list {
		e := &events[i]
		if e.Kind != RefAccess || x.Access[e.Ref].Kind != load && x.Access[e.Ref].Kind != store || x.Access[e.Ref].Space != global {
			return false
		}
		all = append(all, x.address(&x.Access[e.Ref], lane))
	}
	slices.Sort(all)
	for n := 2; n < len(all); n++ {
		if all[n]-all[n-1] != all[1]-all[0] {
			return false
		}
	}
	return true
}

// doing returns the lanes that do what an event does: all that come to it but those whose access its guard prevents.
func (x *roller) doing(e *Event) uint32 {
	if e.Kind == RefAccess {
		return x.Access[e.Ref].Mask
	}
	return x.Lanes[e.Lanes].Active
}

// shareOut deals what a lane met out to so many rounds.
func shareOut(met [][]int, rounds int) [][]copyAt {
	list, all := make([][]copyAt, rounds), 0
	for _, events := range met {
		all += len(events)
	}
	room := make([]copyAt, 0, all)
	if rounds > 0 && all%rounds == 0 { // as many in each, nearly always
		for r := range list {
			first := r * (all / rounds)
			list[r] = room[first : first : first+all/rounds]
		}
	}
	for k, events := range met {
		each := max(len(events), rounds)
		for n, i := range events {
			r := n * rounds / each
			place := 0
			if at := list[r]; len(at) > 0 && at[len(at)-1].kind == k {
				place = at[len(at)-1].place + 1
			}
			list[r] = append(list[r], copyAt{i, k, place})
		}
	}
	return list
}

// round appends a round in which each lane that has so many rounds does some of them together, from the one that which returns: what begins it
// first, then the other instructions in the order of the program. What a thread has left that are not enough to be put together is done one by one.
func (x *roller) round(out, events []Event, steps *[warpLanes][][]copyAt, which func(rounds int) (first, together int)) []Event {
	m := merged{at: make(map[copyStep]int)}
	for lane := range steps {
		first, together := which(len(steps[lane]))
		m.next = 0
		for c := range together {
			for _, at := range steps[lane][first+c*x.Width] {
				m.add(copyStep{int(x.copy(at, c)), at.kind, c<<16 | at.place}, lane, at.event)
			}
		}
	}
	begins := int(x.Copies[x.First][0])
	slices.SortFunc(m.steps, func(a, b laneStep) int {
		return cmp.Or(-cmp.Compare(b2i(a.op == begins), b2i(b.op == begins)), cmp.Compare(a.op, b.op), cmp.Compare(a.place, b.place))
	})
	for i := range m.steps {
		out = append(out, x.event(int32(m.steps[i].op), events, &m.steps[i].events))
	}
	return out
}

// A copyStep is an instruction of a round, and which of its copies.
type copyStep struct{ op, kind, place int }

// A laneStep is a step with the event of each lane that makes it, from one on.
type laneStep struct {
	copyStep
	events [warpLanes]int
}

// merged are the steps of all lanes. Lanes nearly always make the same ones in the same order, so that each is looked for behind the one before.
type merged struct {
	steps []laneStep
	at    map[copyStep]int // index of each
	next  int
}

func (m *merged) add(s copyStep, lane, event int) {
	i := m.next
	if i >= len(m.steps) || m.steps[i].copyStep != s {
		var met bool
		if i, met = m.at[s]; !met {
			i = len(m.steps)
			m.at[s] = i
			m.steps = append(m.steps, laneStep{copyStep: s})
		}
	}
	m.steps[i].events[lane] = event + 1
	m.next = i + 1
}

// copy is the instruction of the n-th of the rounds that are done together.
func (x *roller) copy(at copyAt, n int) int32 {
	copies := x.Copies[at.kind]
	each := max(1, len(copies)/len(x.Copies[x.Anchor])) // of a round
	return copies[min(n*each+at.place, len(copies)-1)]
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// event is what lanes did in several events, as one.
func (x *roller) event(op int32, events []Event, from *[warpLanes]int) Event {
	var all Lanes
	var like *Access
	var mask uint32
	e := Event{Op: op, Ref: -1}
	for lane, i := range from {
		if i == 0 {
			continue
		}
		old := &events[i-1]
		l := x.Lanes[old.Lanes]
		all.Active |= 1 << lane
		all.Mask |= l.Mask & (1 << lane)
		all.Cost = max(all.Cost, l.Cost)
		e.As = old.As
		if old.Kind == RefAccess {
			a := x.Access[old.Ref]
			like = &a
			x.addr[lane] = x.address(&a, lane)
			mask |= 1 << lane
		}
	}
	e.Lanes = x.LanesOf(all)
	if like != nil {
		e.Kind, e.Ref = RefAccess, x.AddAccess(Access{Kind: like.Kind, Space: like.Space, Size: like.Size}, mask, &x.addr)
	}
	return e
}

package profiler

import (
	"cmp"
	"slices"
)

// A Record says what depended on what through memory in an emulated launch: what was read again, who had stored what was loaded,
// in which round of which loop, and what the barriers ordered. It is of some blocks of the launch, from their beginning on; only
// [LoadRecord.Stored] knows of all. Launches that ran on a real GPU have none.
//
// Rounds of a loop are counted from one entry to the next. Memory is told apart by bytes where narrow accesses touch it, else by
// words of 4 bytes. Asynchronous copies to shared memory count as stored when their warp has waited for them.
type Record struct {
	Blocks      []int // linear numbers of the blocks that were watched
	Complete    bool  // they were to their ends, else only as far as the first accesses of each
	Loads       []LoadRecord
	Stores      []StoreRecord
	Dependences []Dependence
	Barriers    []BarrierRecord
	// Together are sets of barriers that are not needed each by itself but of which one is: what they order between different warps
	// no other barrier orders.
	Together [][]Place
	// Beyond are the instructions in double precision whose results are beyond the numbers of single precision in some lane.
	Beyond []Place
}

// A Place is an instruction.
type Place struct {
	Code int // index in the module's Codes
	PC   uint64
}

// A Party says who has accessed memory before, from the view of who does now.
type Party uint8

// The parties, the nearest first.
const (
	SameThread Party = iota
	SameWarp         // another lane of the warp
	SameBlock        // another warp of the block
	NumParties
)

// String is the party in a saved profile.
func (p Party) String() string {
	return [...]string{"thread", "warp", "block", "?"}[min(p, NumParties)]
}

// A LoadRecord sums up what a load (or the reading half of an atomic) read. Bytes are counted lane by lane.
type LoadRecord struct {
	Place
	Bytes int64
	// Again are the bytes whose value had been read before, by who had done so last of the nearest party: in an earlier round of
	// the innermost loop around both reads in which they are not of the same round, and in the same round or outside of common loops.
	InEarlierRound, Earlier [NumParties]int64
	// Distances counts the bytes read again by the distance to the read before: at n those for which the block accessed less than 2^n
	// bytes in between, and not less than 2^(n-1).
	Distances []int64

	// Of global memory, in whole words. Distinct bytes are counted once a block.
	Distinct int64
	Shared   int64 // of Distinct: that another of the watched blocks reads as well
	Stored   int64 // of Distinct: in words to which any block of the launch stores at any time
	// Apart are the bytes of accesses whose lanes read from different addresses.
	Apart int64
	// Buffer is the size of the largest buffer that was read from, in bytes; 0 where that is not known.
	Buffer int64
}

// A StoreRecord sums up what a store (or an atomic) wrote, by lanes.
type StoreRecord struct {
	Place
	Bytes int64
}

// A DependenceKind is one of the kinds of data dependence.
type DependenceKind uint8

// The kinds: a load reads what a store has stored; a store overwrites what a load has read, or what a store has stored.
const (
	FlowDependence DependenceKind = iota
	AntiDependence
	OutputDependence
	numDependenceKinds
)

// String is the kind in a saved profile.
func (k DependenceKind) String() string {
	return [...]string{"flow", "anti", "output", "?"}[min(k, numDependenceKinds)]
}

// A Dependence is an access that had to come after another one. Those between two atomics are none.
type Dependence struct {
	Kind     DependenceKind
	From, To Place // the earlier access and the later one
	Party    Party // who made the earlier one
	Space    string
	// Carried: the accesses are of different rounds of a loop around both, the innermost such loop, whose header is Loop; Next: the
	// later one is of the next round.
	Carried bool
	Loop    Place
	Next    bool
	Bytes   int64 // by lanes
}

// A BarrierRecord says what a CTA barrier ordered.
type BarrierRecord struct {
	Place
	Episodes int64 // times that all threads had arrived
	// Between are the episodes that ordered two accesses to the same memory, one of them a store, by different warps of which no
	// other barrier is between; Within the same for different lanes of a warp.
	Between, Within int64
	// Partial: it was also for a part of the block's threads, did not wait, or met with another barrier. What that orders is not counted.
	Partial bool
}

// ComparePlaces orders places by section and pc.
func ComparePlaces(a, b Place) int { return comparePlace(a.Code, a.PC, b.Code, b.PC) }

// Load returns what is known of a load, nil where the watched blocks did not execute it.
func (r *Record) Load(at Place) *LoadRecord {
	return find(r.Loads, at, func(l *LoadRecord) Place { return l.Place })
}

// Store returns what is known of a store, nil where the watched blocks did not execute it.
func (r *Record) Store(at Place) *StoreRecord {
	return find(r.Stores, at, func(s *StoreRecord) Place { return s.Place })
}

// Barrier returns what is known of a barrier, nil where the watched blocks did not come to it.
func (r *Record) Barrier(at Place) *BarrierRecord {
	return find(r.Barriers, at, func(b *BarrierRecord) Place { return b.Place })
}

func find[T any](list []T, at Place, place func(*T) Place) *T {
	i, found := slices.BinarySearchFunc(list, at, func(x T, at Place) int { return ComparePlaces(place(&x), at) })
	if !found {
		return nil
	}
	return &list[i]
}

// CarriedBy returns the dependences between rounds of the loop with a header.
func (r *Record) CarriedBy(header Place) []Dependence {
	var list []Dependence
	for _, d := range r.Dependences {
		if d.Carried && d.Loop == header {
			list = append(list, d)
		}
	}
	return list
}

// compareDependences is the order of a record's dependences.
func compareDependences(a, b Dependence) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), ComparePlaces(a.From, b.From), ComparePlaces(a.To, b.To), cmp.Compare(a.Party, b.Party),
		cmp.Compare(a.Space, b.Space), compareBool(a.Carried, b.Carried), ComparePlaces(a.Loop, b.Loop), compareBool(a.Next, b.Next))
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// The orders of a record's lists.
func compareLoads(a, b LoadRecord) int       { return ComparePlaces(a.Place, b.Place) }
func compareStores(a, b StoreRecord) int     { return ComparePlaces(a.Place, b.Place) }
func compareBarriers(a, b BarrierRecord) int { return ComparePlaces(a.Place, b.Place) }
func compareSets(a, b []Place) int           { return slices.CompareFunc(a, b, ComparePlaces) }

// Sort brings the lists of a record into their order.
func (r *Record) Sort() {
	slices.SortFunc(r.Loads, compareLoads)
	slices.SortFunc(r.Stores, compareStores)
	slices.SortFunc(r.Dependences, compareDependences)
	slices.SortFunc(r.Barriers, compareBarriers)
	slices.SortFunc(r.Together, compareSets)
	slices.SortFunc(r.Beyond, ComparePlaces)
}

// sorted reports whether the lists are in order and name nothing twice.
func (r *Record) sorted() bool {
	return ascending(r.Loads, compareLoads) && ascending(r.Stores, compareStores) && ascending(r.Dependences, compareDependences) &&
		ascending(r.Barriers, compareBarriers) && ascending(r.Together, compareSets) && ascending(r.Beyond, ComparePlaces)
}

func ascending[T any](list []T, compare func(a, b T) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

package record

import (
	"maps"
	"math/bits"
	"slices"
	"sort"

	"gpa/cubin/sass"
	"gpa/profiler"
)

const instSize = sass.InstSize

// Record returns what has been seen of the launch. There is none where no block has begun.
func (r *Recorder) Record() *profiler.Record {
	list := r.watched()
	if len(list) == 0 {
		return nil
	}
	out := &profiler.Record{Complete: true}
	for _, b := range list {
		out.Blocks = append(out.Blocks, b.number)
		out.Complete = out.Complete && !b.done && !b.alone
		for _, l := range b.loads {
			l.flush()
		}
	}
	r.mergeLoads(list, out)
	r.mergeStores(list, out)
	r.mergePairs(list, out)
	r.mergeBarriers(out)
	r.mergeBeyond(list, out)
	out.Sort()
	return out
}

// watched returns the blocks that have begun.
func (r *Recorder) watched() []*block {
	return slices.DeleteFunc(slices.Clone(r.blocks), func(b *block) bool { return b == nil })
}

// mergeLoads adds up the loads of the blocks, and looks which of what they read others read or store.
func (r *Recorder) mergeLoads(list []*block, out *profiler.Record) {
	sums := map[int]*profiler.LoadRecord{}
	readers := readersOf(list)
	for _, b := range list {
		for site, l := range b.loads {
			s := sums[site]
			if s == nil {
				s = &profiler.LoadRecord{Place: r.placeOf(site)}
				sums[site] = s
			}
			s.Bytes += l.bytes
			s.Apart += l.apart
			for p := range l.rounds {
				s.InEarlierRound[p] += l.rounds[p]
				s.Earlier[p] += l.earlier[p]
			}
			for n, bytes := range l.distances {
				if bytes > 0 {
					s.Distances = append(s.Distances, make([]int64, max(0, n+1-len(s.Distances)))...)
					s.Distances[n] += bytes
				}
			}
			for number, words := range l.lines {
				s.Distinct += 4 * ones(words)
				s.Shared += 4 * ones(words&readers.others(b, number))
				s.Stored += 4 * ones(words&r.stored.words(number))
				s.Buffer = max(s.Buffer, r.facts.Allocation(number<<lineShift+4*uint64(bits.TrailingZeros32(words))))
			}
		}
	}
	for _, s := range sums {
		out.Loads = append(out.Loads, *s)
	}
}

func (r *Recorder) mergeStores(list []*block, out *profiler.Record) {
	sums := map[int]int64{}
	for _, b := range list {
		for site, bytes := range b.stores {
			sums[site] += bytes
		}
	}
	for site, bytes := range sums {
		out.Stores = append(out.Stores, profiler.StoreRecord{Place: r.placeOf(site), Bytes: bytes})
	}
}

func (r *Recorder) mergeBeyond(list []*block, out *profiler.Record) {
	all := map[int]bool{}
	for _, b := range list {
		maps.Copy(all, b.beyond)
	}
	for site := range all {
		out.Beyond = append(out.Beyond, r.placeOf(site))
	}
}

func (r *Recorder) mergePairs(list []*block, out *profiler.Record) {
	sums := map[pair]int64{}
	for _, b := range list {
		for key, bytes := range b.pairs {
			sums[key] += *bytes
		}
	}
	for key, bytes := range sums {
		d := profiler.Dependence{Kind: key.kind, From: r.placeOf(key.from), To: r.placeOf(key.to), Party: key.party,
			Space: key.space.String(), Bytes: bytes}
		if key.loop >= 0 {
			d.Carried, d.Next = true, key.next
			d.Loop = profiler.Place{Code: d.To.Code, PC: r.codes[d.To.Code].loops[key.loop].header}
		}
		out.Dependences = append(out.Dependences, d)
	}
}

// placeOf returns the place of an instruction by its number, 1 for the first of the module.
func (r *Recorder) placeOf(site int) profiler.Place {
	code := sort.Search(len(r.codes), func(i int) bool { return site <= r.codes[i].first+len(r.codes[i].code.Insts) })
	return r.place(place{code, site - 1 - r.codes[code].first})
}

func (r *Recorder) place(at place) profiler.Place {
	return profiler.Place{Code: at.code, PC: uint64(at.inst) * instSize}
}

// places returns the barriers of a set.
func (r *Recorder) places(b *barriers, set uint64) []profiler.Place {
	var list []profiler.Place
	for i := range b.sites[:min(len(b.sites), maxBarriers)] {
		if set>>i&1 != 0 {
			list = append(list, r.place(b.sites[i].at))
		}
	}
	return list
}

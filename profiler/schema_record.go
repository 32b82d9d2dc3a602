package profiler

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// The saved form of a launch's [Record] is the key "record" of the launch; files that are older than it have none.
//
//	{"blocks": [0, 1, 80], "complete": true,
//	 "loads":  [{"code": 0, "pc": 464, "bytes": 4096, "in_earlier_round": {"thread": 8, "warp": 0, "block": 0},
//	             "earlier": {…}, "distances": [0, 0, 8], "distinct": 4088, "shared": 0, "stored": 0}],
//	 "stores": [{"code": 0, "pc": 480, "bytes": 4096}],
//	 "dependences": [{"kind": "flow|anti|output", "from": {"code": 0, "pc": 480}, "to": {…}, "party": "thread|warp|block",
//	                  "space": "global|shared|local", "loop": {"code": 0, "pc": 400}, "next": true, "bytes": 128}],
//	 "barriers": [{"code": 0, "pc": 512, "episodes": 9, "between": 0, "within": 0, "partial": true}],
//	 "together": [[{"code": 0, "pc": 512}, {"code": 0, "pc": 640}]], "beyond": [{"code": 0, "pc": 768}]}
type savedRecord struct {
	Blocks      []int             `json:"blocks"`
	Complete    bool              `json:"complete,omitempty"`
	Loads       []savedLoad       `json:"loads,omitempty"`
	Stores      []savedStore      `json:"stores,omitempty"`
	Dependences []savedDependence `json:"dependences,omitempty"`
	Barriers    []savedBarrier    `json:"barriers,omitempty"`
	Together    [][]savedPlace    `json:"together,omitempty"`
	Beyond      []savedPlace      `json:"beyond,omitempty"`
}

type savedParties struct {
	Thread int64 `json:"thread,omitempty"`
	Warp   int64 `json:"warp,omitempty"`
	Block  int64 `json:"block,omitempty"`
}

type savedLoad struct {
	savedPlace
	Bytes          int64        `json:"bytes"`
	InEarlierRound savedParties `json:"in_earlier_round"`
	Earlier        savedParties `json:"earlier"`
	Distances      []int64      `json:"distances,omitempty"`
	Distinct       int64        `json:"distinct,omitempty"`
	Shared         int64        `json:"shared,omitempty"`
	Stored         int64        `json:"stored,omitempty"`
	Apart          int64        `json:"apart,omitempty"`
	Buffer         int64        `json:"buffer,omitempty"`
}

type savedStore struct {
	savedPlace
	Bytes int64 `json:"bytes"`
}

type savedDependence struct {
	Kind  string      `json:"kind"`
	From  savedPlace  `json:"from"`
	To    savedPlace  `json:"to"`
	Party string      `json:"party"`
	Space string      `json:"space"`
	Loop  *savedPlace `json:"loop,omitempty"`
	Next  bool        `json:"next,omitempty"`
	Bytes int64       `json:"bytes"`
}

type savedBarrier struct {
	savedPlace
	Episodes int64 `json:"episodes"`
	Between  int64 `json:"between,omitempty"`
	Within   int64 `json:"within,omitempty"`
	Partial  bool  `json:"partial,omitempty"`
}

func saveParties(n [NumParties]int64) savedParties {
	return savedParties{n[SameThread], n[SameWarp], n[SameBlock]}
}

func (s savedParties) restore() [NumParties]int64 {
	return [NumParties]int64{s.Thread, s.Warp, s.Block}
}

func saveRecord(r *Record) *savedRecord {
	out := &savedRecord{Blocks: r.Blocks, Complete: r.Complete}
	for _, l := range r.Loads {
		out.Loads = append(out.Loads, savedLoad{savedPlace(l.Place), l.Bytes, saveParties(l.InEarlierRound), saveParties(l.Earlier),
			l.Distances, l.Distinct, l.Shared, l.Stored, l.Apart, l.Buffer})
	}
	for _, s := range r.Stores {
		out.Stores = append(out.Stores, savedStore{savedPlace(s.Place), s.Bytes})
	}
	for _, d := range r.Dependences {
		saved := savedDependence{Kind: d.Kind.String(), From: savedPlace(d.From), To: savedPlace(d.To), Party: d.Party.String(),
			Space: d.Space, Next: d.Next, Bytes: d.Bytes}
		if d.Carried {
			loop := savedPlace(d.Loop)
			saved.Loop = &loop
		}
		out.Dependences = append(out.Dependences, saved)
	}
	for _, b := range r.Barriers {
		out.Barriers = append(out.Barriers, savedBarrier{savedPlace(b.Place), b.Episodes, b.Between, b.Within, b.Partial})
	}
	for _, set := range r.Together {
		var saved []savedPlace
		for _, at := range set {
			saved = append(saved, savedPlace(at))
		}
		out.Together = append(out.Together, saved)
	}
	for _, at := range r.Beyond {
		out.Beyond = append(out.Beyond, savedPlace(at))
	}
	return out
}

// loadRecord reads the record of a launch, which may have none. It holds the lists to their order at once: see addSample.
func loadRecord(text json.RawMessage) (*Record, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	if len(text) > maxRecord {
		return nil, fmt.Errorf("more than %d bytes", maxRecord)
	}
	var saved savedRecord
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, err
	}
	r, err := saved.restore()
	if err == nil && !r.sorted() {
		err = errors.New("out of order or there twice")
	}
	return r, err
}

func (s *savedRecord) restore() (*Record, error) {
	out := &Record{Blocks: s.Blocks, Complete: s.Complete}
	for _, l := range s.Loads {
		out.Loads = append(out.Loads, LoadRecord{Place(l.savedPlace), l.Bytes, l.InEarlierRound.restore(), l.Earlier.restore(),
			l.Distances, l.Distinct, l.Shared, l.Stored, l.Apart, l.Buffer})
	}
	for _, x := range s.Stores {
		out.Stores = append(out.Stores, StoreRecord{Place(x.savedPlace), x.Bytes})
	}
	for i := range s.Dependences {
		d, err := s.Dependences[i].restore()
		if err != nil {
			return nil, fmt.Errorf("dependence %d: %w", i, err)
		}
		out.Dependences = append(out.Dependences, d)
	}
	for _, b := range s.Barriers {
		out.Barriers = append(out.Barriers, BarrierRecord{Place(b.savedPlace), b.Episodes, b.Between, b.Within, b.Partial})
	}
	for _, saved := range s.Together {
		var set []Place
		for _, at := range saved {
			set = append(set, Place(at))
		}
		out.Together = append(out.Together, set)
	}
	for _, at := range s.Beyond {
		out.Beyond = append(out.Beyond, Place(at))
	}
	return out, nil
}

func (s *savedDependence) restore() (Dependence, error) {
	d := Dependence{From: Place(s.From), To: Place(s.To), Space: s.Space, Next: s.Next, Bytes: s.Bytes}
	for d.Kind = 0; d.Kind < numDependenceKinds && d.Kind.String() != s.Kind; d.Kind++ {
	}
	for d.Party = 0; d.Party < NumParties && d.Party.String() != s.Party; d.Party++ {
	}
	if d.Kind == numDependenceKinds || d.Party == NumParties {
		return d, fmt.Errorf("unknown kind %q or party %q", s.Kind, s.Party)
	}
	if s.Loop != nil {
		d.Carried, d.Loop = true, Place(*s.Loop)
	}
	return d, nil
}

// places are all places that the record names.
func (r *Record) places() []Place {
	var list []Place
	for _, l := range r.Loads {
		list = append(list, l.Place)
	}
	for _, s := range r.Stores {
		list = append(list, s.Place)
	}
	for _, d := range r.Dependences {
		list = append(list, d.From, d.To, d.Loop)
	}
	for _, b := range r.Barriers {
		list = append(list, b.Place)
	}
	return slices.Concat(append(r.Together, list, r.Beyond)...)
}

// counts are all numbers of the record that are not below 0.
func (r *Record) counts() []int64 {
	var list []int64
	for _, l := range r.Loads {
		list = append(list, l.Bytes, l.Distinct, l.Shared, l.Stored, l.Apart, l.Buffer)
		list = slices.Concat(list, l.InEarlierRound[:], l.Earlier[:], l.Distances)
	}
	for _, s := range r.Stores {
		list = append(list, s.Bytes)
	}
	for _, d := range r.Dependences {
		list = append(list, d.Bytes)
	}
	for _, b := range r.Barriers {
		list = append(list, b.Episodes, b.Between, b.Within)
	}
	return list
}

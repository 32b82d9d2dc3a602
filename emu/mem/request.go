package mem

import "math/bits"

// A Kind is what a request wants of L2.
type Kind uint8

// The kinds of requests.
const (
	Read   Kind = iota // a load
	Loaded             // code or constants: the launch has brought them to L2
	Write              // a store; the answer is its arrival in L2, see [Config.Ack]
	Atomic             // ATOM or RED; the answer is the old value, or that it has been done
)

// A request asks L2 for sectors of one line.
type request struct {
	at      int64 // cycle in which the LSU granted the access, once it is sent that in which the port took it
	line    uint64
	fill    int32 // in the SM's fills, see asks
	sm      int32
	sectors uint8
	words   uint32 // of writes: those of 32 bits that are written, eight of each sector
	turns   uint8  // of atomics: most lanes at one address
	float   bool   // an atomic of floating point
	local   bool   // of local memory
	copied  bool   // by another partition, which keeps what it reads
	kind    Kind
	sent    bool  // through the SM's port
	done    int64 // answer: the cycle in which data or acknowledgement are back
}

// asks stands in the place of a fill where only a ticket waits for the answer. It is negative.
func asks(ticket int32) (fill int32) { return ^ticket }

// whole returns the sectors of which all words are in a mask.
func whole(words uint32) (sectors uint8) {
	for i := range sectorsPerLine {
		if words>>(i*sectorWords)&allWords == allWords {
			sectors |= 1 << i
		}
	}
	return sectors
}

// wordsOf returns the words of some sectors.
func wordsOf(sectors uint8) (words uint32) {
	for i := range sectorsPerLine {
		if sectors>>i&1 != 0 {
			words |= allWords << (i * sectorWords)
		}
	}
	return words
}

// partial returns the sectors that a request writes in part.
func (r *request) partial() uint8 {
	if r.kind != Write {
		return 0
	}
	return r.sectors &^ whole(r.words)
}

// packets returns the sectors that a request carries from the SM to L2: lanes that add floating-point numbers to one address
// are sent apart.
func (r *request) packets() int {
	n := bits.OnesCount8(r.sectors)
	if r.kind == Atomic && r.float {
		n *= max(int(r.turns), 1)
	}
	return n
}

package mem

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
	at      int64 // cycle in which the LSU granted the access
	line    uint64
	fill    int32 // in the SM's fills
	sm      int32
	sectors uint8
	turns   uint8 // of atomics: most lanes at one address
	float   bool  // an atomic of floating point
	kind    Kind
	done    int64 // answer: the cycle in which data or acknowledgement are back
}

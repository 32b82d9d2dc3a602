// Package arch holds GPU models as data: limits, latencies, throughputs, caches and memory, each figure with the source
// it was read from or the word "fitted". Nothing about a particular GPU stands anywhere else.
package arch

// A Figure is one number of a model with where it comes from.
type Figure struct {
	Value  float64
	Unit   string // cycles, bytes, MHz, "warps", …
	Source string // publication, header file or measurement; "fitted: <to what>" where a value was chosen to match one
}

// Int returns the value as an integer.
func (f Figure) Int() int { return int(f.Value) }

// A LatencyClass groups instructions whose latencies are bounded alike, as in Table 5 of Jia et al. (2018) that the GPA
// tool uses for its latency rule.
type LatencyClass uint8

// The latency classes.
const (
	ClassInteger LatencyClass = iota
	ClassIMAD
	ClassPopc
	ClassPredicate // ISETP, PLOP3 and others that write predicates
	ClassConvert   // F2F, F2I, I2F, FRND
	ClassMUFU
	ClassFP16
	ClassFP32
	ClassFP64
	ClassShared // loads from shared memory
	ClassMemory // global, local, constant and atomic operations
	ClassOther  // control, S2R, SHFL, MOV, …
	NumLatencyClasses
)

// A Bound is the shortest and longest latency of a class, cycles.
type Bound struct{ Min, Max int }

// A Model is one GPU.
type Model struct {
	Name string // as in v100
	Arch int    // 70 for sm_70
}

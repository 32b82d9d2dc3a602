package arch

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
type Bound struct {
	Min, Max int
	Source   string
}

// Latency returns the bounds of a class. They serve the latency rule of GPA's pruning, not the timing of the emulator.
func (m *Model) Latency(c LatencyClass) Bound {
	if c < NumLatencyClasses {
		return m.Bounds[c]
	}
	return m.Bounds[ClassOther]
}

package advisor

import (
	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
	"gpa/profiler"
)

// Input is what optimizers see: the blamed launch and sums over it.
type Input struct {
	Blame  *blamer.Result
	Launch *profiler.Launch
	Module *cubin.File
	Model  *arch.Model

	Total    float64                   // T, all samples
	Active   float64                   // A, active samples
	Latency  float64                   // L, latency samples; T = A + L
	ByReason [stall.NumReasons]float64 // all samples

	language language
	codes    []*codeSamples // by code index; nil for sections without a graph
	byUse    map[blamer.Node][]*blamer.Blame
	running  map[blamer.Node]bool // see runningStores
	chains   profiler.Chains      // see Options.Chains
	joined   profiler.Chains      // see Options.Joined
	precise  bool                 // see Options.Precise

	functions   map[[2]int]*callEffect      // by code and function, those that calls have asked for; nil for what is not known
	powersFound *wholePowers                // nil until they are looked for
	accurates   []map[cubin.Frame]*accurate // by code; nil until they are looked for
	sequencesOf []sequence                  // by code; nil until they are looked for
	arrayOf     map[blamer.Node]uint64      // see arrays, once they are found
	arraysFound bool
}

// codeSamples are the samples of one section.
type codeSamples struct {
	graph      *cfg.Graph
	active     []float64 // by instruction
	total      []float64 // by instruction
	issued     []float64 // by instruction: samples of the cycle in which it issues
	executions []float64 // by instruction: warps, from the source counters; nil without them
	counters   []counts  // by instruction; nil without source counters
}

// counts are the source counters of an instruction.
type counts struct {
	executions, threads         float64
	sectors, sectorsIdeal       float64
	wavefronts, wavefrontsIdeal float64
}

// excess is the share of what was used that an ideal access pattern would not need.
func excess(used, ideal float64) float64 {
	if used <= 0 || ideal >= used {
		return 0
	}
	return (used - ideal) / used
}

// counts returns the source counters of an instruction, zero where there are none.
func (in *Input) counts(n blamer.Node) counts {
	if c := in.codes[n.Code]; c != nil && c.counters != nil {
		return c.counters[n.Inst]
	}
	return counts{}
}

// NewInput sums up a blamed launch.
func NewInput(r *blamer.Result) *Input {
	in := &Input{
		Blame:     r,
		Launch:    r.Launch,
		Module:    r.Module,
		Model:     r.Model,
		codes:     make([]*codeSamples, len(r.Graphs)),
		accurates: make([]map[cubin.Frame]*accurate, len(r.Graphs)),

		sequencesOf: make([]sequence, len(r.Graphs)),
	}
	for code, g := range r.Graphs {
		if g != nil {
			in.codes[code] = newCodeSamples(g, len(r.Module.Codes[code].Insts))
		}
	}
	for i := range r.Launch.Samples {
		in.add(&r.Launch.Samples[i])
	}
	for _, c := range r.Launch.PCs {
		in.count(c)
	}
	in.byUse = make(map[blamer.Node][]*blamer.Blame)
	for i := range r.Blames {
		b := &r.Blames[i]
		in.byUse[b.Use] = append(in.byUse[b.Use], b)
	}
	in.language = languageOf(r.Module, r.Launch.Kernel)
	in.running = in.runningStores()
	return in
}

func newCodeSamples(g *cfg.Graph, insts int) *codeSamples {
	return &codeSamples{graph: g, active: make([]float64, insts), total: make([]float64, insts), issued: make([]float64, insts)}
}

func (in *Input) add(s *profiler.Sample) {
	active := float64(s.Count - s.Latency)
	in.Total += float64(s.Count)
	in.Latency += float64(s.Latency)
	in.Active += active
	in.ByReason[s.Reason] += float64(s.Count)
	c := in.codes[s.Code]
	c.active[s.PC/sass.InstSize] += active
	c.total[s.PC/sass.InstSize] += float64(s.Count)
	if s.Reason == stall.Selected {
		c.issued[s.PC/sass.InstSize] += float64(s.Count)
	}
}

func (in *Input) count(k profiler.Counter) {
	if k.Code < 0 || k.Code >= len(in.codes) || in.codes[k.Code] == nil {
		return
	}
	c := in.codes[k.Code]
	if c.executions == nil {
		c.executions = make([]float64, len(c.active))
		c.counters = make([]counts, len(c.active))
	}
	i := k.PC / sass.InstSize
	if i >= uint64(len(c.executions)) {
		return
	}
	c.executions[i] += float64(k.Executions)
	n := &c.counters[i]
	n.executions += float64(k.Executions)
	n.threads += float64(k.ThreadExecutions)
	n.sectors += float64(k.GlobalSectors)
	n.sectorsIdeal += float64(k.GlobalSectorsIdeal)
	n.wavefronts += float64(k.SharedWavefronts)
	n.wavefrontsIdeal += float64(k.SharedWavefrontsIdeal)
}

// Inst returns the instruction of a node.
func (in *Input) Inst(n blamer.Node) *sass.Inst {
	return &in.Module.Codes[n.Code].Insts[n.Inst]
}

// Block returns the block of an instruction, nil where the graph has none.
func (in *Input) Block(n blamer.Node) *cfg.Block {
	if c := in.codes[n.Code]; c != nil {
		return c.graph.Block(n.Inst)
	}
	return nil
}

// Loop returns the innermost loop around an instruction, nil outside loops.
func (in *Input) Loop(n blamer.Node) *cfg.Loop {
	if b := in.Block(n); b != nil {
		return b.Loop
	}
	return nil
}

// CommonLoop returns the innermost loop around both instructions, nil where there is none.
func (in *Input) CommonLoop(x, y blamer.Node) *cfg.Loop {
	if x.Code != y.Code {
		return nil
	}
	around := map[*cfg.Loop]bool{}
	for l := in.Loop(x); l != nil; l = l.Parent {
		around[l] = true
	}
	for l := in.Loop(y); l != nil; l = l.Parent {
		if around[l] {
			return l
		}
	}
	return nil
}

// Func returns the function of an instruction, nil where the graph has none.
func (in *Input) Func(n blamer.Node) *cfg.Func {
	b := in.Block(n)
	if b == nil {
		return nil
	}
	return in.codes[n.Code].graph.Funcs[b.Func]
}

// blocksOf returns the blocks of a scope with the sums of its instructions.
func (in *Input) blocksOf(s Scope) []int {
	switch {
	case s.Loop != nil:
		return s.Loop.Blocks
	case s.Func != nil:
		return s.Func.Blocks
	}
	return nil
}

// activeIn returns the active samples of a scope, nested loops included.
func (in *Input) activeIn(s Scope) float64 {
	if s.Kind == KernelScope {
		return in.Active
	}
	c, sum := in.codes[s.Code], 0.0
	for _, id := range in.blocksOf(s) {
		for i := c.graph.Blocks[id].First; i <= c.graph.Blocks[id].Last; i++ {
			sum += c.active[i]
		}
	}
	return sum
}

// instructionsIn returns the number of instructions of a loop or function scope.
func (in *Input) instructionsIn(s Scope) int {
	c, n := in.codes[s.Code], 0
	for _, id := range in.blocksOf(s) {
		n += c.graph.Blocks[id].Last - c.graph.Blocks[id].First + 1
	}
	return n
}

// TripCount returns the mean number of iterations of a loop each time it is entered, and whether the source counters
// tell: executions of the header by those of the blocks that lead to it from outside. Where these lead elsewhere too the
// result is a lower bound.
func (in *Input) TripCount(code int, l *cfg.Loop) (float64, bool) {
	c := in.codes[code]
	if c == nil || c.executions == nil {
		return 0, false
	}
	header := c.graph.Blocks[l.Header]
	entries := 0.0
	for _, p := range header.Preds {
		if !l.Contains(p) {
			entries += c.takenTo(p, l.Header)
		}
	}
	iterations := c.executions[header.First]
	if entries == 0 || iterations == 0 {
		return 0, false
	}
	return iterations / entries, true
}

// takenTo returns how often control went from a block to one of its successors, as far as the counters tell: its
// executions less those of successors that nothing else leads to.
func (c *codeSamples) takenTo(block, succ int) float64 {
	b := c.graph.Blocks[block]
	n := c.executions[b.Last]
	for _, s := range b.Succs {
		if s != succ && len(c.graph.Blocks[s].Preds) == 1 {
			n -= c.executions[c.graph.Blocks[s].First]
		}
	}
	return max(0, n)
}

package advisor

import (
	"fmt"
	"math"

	"gpa/blamer"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
)

// tensorCores matches loops that multiply matrices by multiply-adds of the ordinary pipes, on GPUs whose tensor cores do so for the
// type: products of values from memory, each of which meets several partners.
type tensorCores struct{}

func (tensorCores) Name() string { return "tensor-core-underuse" }
func (tensorCores) Class() Class { return StallElimination }

func (tensorCores) Match(in *Input) []*Match {
	c := newCollector(in)
	said, changes := map[*cfg.Loop][]string{}, map[*cfg.Loop]*Change{}
	for code, s := range in.codes {
		if s == nil {
			continue
		}
		for _, l := range s.graph.Loops {
			for _, k := range matrixKinds {
				p := in.matrixProduct(code, l, k.op)
				if p == nil || in.tensorRate(k) == 0 {
					continue
				}
				scope := in.loopScope(code, l)
				if change := in.addProduct(c, scope, p, k); k.op != sass.FFMA { // TF32 gives other results, and is not to rank above what does not
					changes[l] = change
				}
				said[l] = in.tensorSuggestions(scope, p, k)
			}
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Suggestions, m.Change = said[m.Scope.Loop], changes[m.Scope.Loop]
	}
	return matches
}

// A matrixKind is a multiply-add that tensor cores do as well.
type matrixKind struct {
	op       sass.Op
	products float64 // of a thread's instruction
	bytes    float64 // of a factor in a fragment
	factors  string
	caveat   string
}

var matrixKinds = []matrixKind{
	{sass.HFMA2, 2, 2, "half precision", "Sums in single precision (the f32 accumulators) cost little there and are more accurate."},
	{sass.FFMA, 1, 4, "TF32", "TF32 keeps 10 bits of each factor's fraction, sums stay in single precision: only where the result may have that error, or with each factor split into two (three products)."},
	{sass.DFMA, 1, 8, "double precision", "The precision is the same, the order of the sums another."},
}

// tensorRate is the number of multiply-adds that the tensor cores of a sub-core do in a cycle for a kind, 0 for none.
func (in *Input) tensorRate(k matrixKind) float64 {
	if in.Model.Limits.TensorCores.Value == 0 {
		return 0
	}
	half := in.matrixStep() / in.pipeInterval(arch.Tensor)
	switch a := in.Model.Arch; {
	case k.op == sass.HFMA2:
		return half
	case k.op == sass.FFMA && a >= int(sass.SM80):
		return half / 2 // NVIDIA's whitepapers on A100, GA102 and H100
	case k.op == sass.DFMA && (a == int(sass.SM80) || a == int(sass.SM90)):
		return 2 * warpSize / in.pipeInterval(arch.FP64) // the same
	}
	return 0
}

// matrixStep is the number of multiply-adds of one HMMA on halves: a step of four of HMMA.884 by the four quarters of a warp, HMMA.1688,
// HMMA.16816.
func (in *Input) matrixStep() float64 {
	switch a := in.Model.Arch; {
	case a < int(sass.SM75):
		return 8 * 8 * 4 * 4 / 4
	case a < int(sass.SM80):
		return 16 * 8 * 8
	}
	return 16 * 8 * 16
}

// A product is what a loop multiplies.
type product struct {
	adds  []int   // instructions that multiply and add
	loads []int   // that bring factors from memory
	tile  float64 // elements of the result of a thread
}

// matrixProduct finds the outer products of an innermost loop: sets of factors from memory of which each of one side meets each of the
// other, two or more of both. In a scalar product each factor has one partner, and in a convolution not each meets each. nil where most
// multiply-adds of the loop are something else.
func (in *Input) matrixProduct(code int, l *cfg.Loop, op sass.Op) *product {
	f := &factors{in: in, code: code, loop: l, partners: map[factor][]factor{}, adds: map[factor][]int{}, loads: map[factor][]int{}}
	all := 0
	for _, id := range l.Blocks {
		b := in.codes[code].graph.Blocks[id]
		if b.Loop != l {
			continue
		}
		all += f.scan(b, op)
	}
	p := f.outer()
	if all == 0 || 2*len(p.adds) < all || in.codes[code].issues(p.adds[0]) == 0 {
		return nil
	}
	return p
}

// addProduct enters what tensor cores would save: of the multiply-adds by the rates of the pipes, and of the loads and the waits for them
// by the passes through shared memory that fragments of as many elements take.
func (in *Input) addProduct(c *collector, s Scope, p *product, k matrixKind) *Change {
	pipe, _ := in.pipe(&in.Module.Codes[s.Code].Insts[p.adds[0]])
	add := max(0, 1-k.products*warpSize/in.pipeInterval(pipe)/in.tensorRate(k))
	load, lines := in.fragmentSaving(s.Code, p, k), lineHead{}
	change := new(Change)
	for _, i := range p.adds {
		n := blamer.Node{Code: s.Code, Inst: i}
		change.thin(n, add)
		c.addAt(s, n, lines, add, stall.Selected, stall.NotSelected, stall.Wait, stall.MathPipeThrottle, stall.DispatchStall)
		c.addAt(s, n, lines, load, stall.ShortScoreboard)
	}
	for _, i := range p.loads {
		n := blamer.Node{Code: s.Code, Inst: i}
		change.thin(n, load)
		c.addAt(s, n, lines, load, stall.Selected, stall.NotSelected, stall.Wait, stall.MathPipeThrottle, stall.MioThrottle, stall.ShortScoreboard)
	}
	return change
}

// thin leaves out a share of an instruction's executions.
func (c *Change) thin(n blamer.Node, share float64) {
	if share > 0 {
		c.Thinned = append(c.Thinned, Thinned{n, min(warpSize, 1/(1-min(share, 1-1./warpSize)))})
	}
}

// addAt enters a share of the samples of an instruction that have certain reasons, at its line.
func (c *collector) addAt(s Scope, n blamer.Node, lines lineHead, share float64, reasons ...stall.Reason) {
	if count := c.in.samplesAt(n, reasons...); count > 0 {
		head := lines.of(c.in, n)
		c.addShare(s, &blamer.Blame{Def: head, Use: head, Detail: blamer.PipeBusy, Count: count, Latency: count}, share)
	}
}

// fragmentSaving is the share of the passes through shared memory that fragments do without: a warp holds a square tile of as many
// elements as its threads together, and loads its rows and columns once. Those of sm_70 have every factor twice.
func (in *Input) fragmentSaving(code int, p *product, k matrixKind) float64 {
	now, adds := 0.0, 0.0
	for _, i := range p.loads {
		now += in.counts(blamer.Node{Code: code, Inst: i}).wavefronts
	}
	for _, i := range p.adds {
		adds += in.counts(blamer.Node{Code: code, Inst: i}).executions
	}
	if now == 0 || adds == 0 {
		return 0
	}
	bytes := k.bytes
	if in.Model.Arch < int(sass.SM75) {
		bytes *= 2
	}
	tile := warpSize * p.tile * k.products
	passes := 2 * math.Sqrt(tile) * bytes / (in.Model.Shared.Banks.Value * in.Model.Shared.BankSize.Value) // for all products of a column and a row
	return max(0, 1-passes/tile*warpSize*k.products*adds/now)
}

// tensorSuggestions are the words of a match.
func (in *Input) tensorSuggestions(s Scope, p *product, k matrixKind) []string {
	s.Frame = in.scopeFrame(s)
	pipe, _ := in.pipe(&in.Module.Codes[s.Code].Insts[p.adds[0]])
	return []string{
		fmt.Sprintf("The loop at %s multiplies matrices by %s, %.0f multiply-adds a cycle and scheduler. Tensor cores do %.0f in %s: use nvcuda::wmma or mma.sync (CUTLASS), or call cuBLAS. %s",
			in.scopePlace(s), in.mnemonic(blamer.Node{Code: s.Code, Inst: p.adds[0]}), k.products*warpSize/in.pipeInterval(pipe), in.tensorRate(k), k.factors, k.caveat),
		"Tiles are 16 x 16 or so: leave it where matrices are much smaller. A loop that fills tiles goes on having its loads under way together: all of a round in registers before the first goes to shared memory, or cp.async. Behind a store by a pointer of which the compiler does not know that it is to shared memory each load waits for the one before.",
	}
}

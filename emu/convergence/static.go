package convergence

import (
	"fmt"
	"time"

	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/cubin/cfg"
	"gpa/cubin/rewrite"
	"gpa/cubin/sass"
)

// A Frontier has the static figures of a kernel's thread frontiers, over the blocks of the kernel and of all that it
// calls, as Figure 5 of Thread Frontiers has them.
type Frontier struct {
	Blocks    int
	Min       int // blocks in the frontier of a block
	Mean      float64
	Max       int
	Checks    int // edges at which hardware looks for lanes that wait
	TFJoins   int // blocks at which lanes come together again under thread frontiers
	PDOMJoins int // and at immediate post-dominators
}

// A Structure says what it takes to make the functions of a kernel structured.
type Structure struct {
	Unstructured bool
	Err          string // why it cannot be, if so
	rewrite.Counts
	Before, After int           // instructions of the functions of the kernel
	Took          time.Duration // by the transformation of the module, on the host
	// Endless says that no transformation makes the control flow structured: it never comes to an end, or takes too many
	// copies.
	Endless bool
}

// StaticExpansion is the growth of the code, 0.5 for half as much again.
func (s *Structure) StaticExpansion() float64 {
	if s.Before == 0 {
		return 0
	}
	return float64(s.After-s.Before) / float64(s.Before)
}

// An analysis is what is known of a module without running it.
type analysis struct {
	module    *cubin.File
	graphs    []*cfg.Graph
	rewritten *rewrite.Rewritten // nil where there is nothing to restructure, or where it cannot be
	refused   error              // why the module cannot be restructured
	took      time.Duration
	placed    *rewrite.Rewritten // with barriers at the joins of thread frontiers; nil before place, and where there cannot be any
	unplaced  error              // why there cannot
	rules     []branch.Rule
	kernels   map[*cubin.Kernel]*kernelFacts
}

// kernelFacts are what is known of a kernel.
type kernelFacts struct {
	frontier  Frontier
	structure Structure
	branches  []branch.Branch
	regions   []region
	copied    [][]bool // by section and instruction: the transformation duplicates it, or cuts its loop; nil for no instruction
	unplaced  string   // why there are no barriers at the joins of thread frontiers
}

// refusal says why a row's code cannot be made of the kernel's, empty where it can.
func (k *kernelFacts) refusal(row string) string {
	switch row {
	case Struct:
		return k.structure.Err
	case Placed:
		return k.unplaced
	}
	return ""
}

func analyse(module *cubin.File, rules []branch.Rule) (*analysis, error) {
	a := &analysis{module: module, rules: rules, kernels: make(map[*cubin.Kernel]*kernelFacts)}
	unstructured := false
	for _, code := range module.Codes {
		g, err := cfg.Build(module, code)
		if err != nil {
			return nil, fmt.Errorf("section .text.%s: %w", code.Name, err)
		}
		a.graphs = append(a.graphs, g)
		for _, f := range g.Funcs {
			unstructured = unstructured || !g.Shape(f).Structure().Structured()
		}
	}
	if unstructured {
		a.rewritten, a.took, a.refused = transform(module)
	}
	if a.refused != nil {
		a.rewritten = nil
	}
	return a, nil
}

// of returns what is known of a kernel.
func (a *analysis) of(k *cubin.Kernel) (*kernelFacts, error) {
	if known := a.kernels[k]; known != nil {
		return known, nil
	}
	super, err := cfg.NewSupergraph(a.graphs, k.Code.Index, int(k.Entry/sass.InstSize))
	if err != nil {
		return nil, err
	}
	facts := &kernelFacts{}
	if facts.frontier, err = frontierOf(super.Shape); err != nil {
		return nil, err
	}
	if facts.branches, err = branch.Find(a.module, a.graphs, k); err != nil {
		return nil, err
	}
	branch.Apply(a.module, facts.branches, a.rules)
	functions := a.functions(super)
	facts.regions = regions(k.Demangled, functions)
	facts.structure = a.structureOf(functions)
	facts.copied, facts.structure.Endless = a.copied(functions)
	facts.unplaced = a.unplacedIn(functions)
	a.kernels[k] = facts
	return facts, nil
}

// copied marks the instructions of blocks that the transformation of functions duplicates, of the loops that it cuts, and of
// called functions: threads may be in one by several calls. endless says that a function cannot be made structured.
func (a *analysis) copied(functions []function) (marks [][]bool, endless bool) {
	for _, f := range functions {
		blocks, ok := copiedBlocks(f)
		if endless = endless || !ok; len(blocks) == 0 {
			continue
		}
		if marks == nil {
			marks = a.noMarks()
		}
		for _, i := range blocks {
			for _, at := range appendBlock(nil, f, f.fn.Blocks[i]) {
				marks[at.code][at.inst] = true
			}
		}
	}
	return marks, endless
}

// copiedBlocks returns the places of such blocks in a function; ok is false if it cannot be made structured.
func copiedBlocks(f function) (blocks []int, ok bool) {
	shape := f.graph.Shape(f.fn)
	if f.fn.Function.Kind != cubin.KernelFunction {
		for i := range f.fn.Blocks {
			blocks = append(blocks, i)
		}
	}
	if shape.Structure().Structured() {
		return blocks, true
	}
	s, err := rewrite.Structurize(shape)
	if err != nil || len(blocks) > 0 {
		return blocks, err == nil
	}
	blocks = s.CutBlocks()
	for i, n := range s.Copies() {
		if n > 1 && i != shape.Exit {
			blocks = append(blocks, i)
		}
	}
	return blocks, true
}

// transform restructures a module; a variable clock would make results differ, so that the time is apart.
func transform(module *cubin.File) (*rewrite.Rewritten, time.Duration, error) {
	start := time.Now()
	r, err := rewrite.Restructure(module)
	return r, time.Since(start), err
}

// place places convergence barriers anew.
func (a *analysis) place() {
	if a.placed, a.unplaced = rewrite.Reconverge(a.module); a.unplaced != nil {
		a.placed = nil
	}
}

// unplacedIn says why barriers could not be placed in functions, empty where they could or where nobody asked.
func (a *analysis) unplacedIn(functions []function) string {
	if a.unplaced != nil {
		return a.unplaced.Error()
	}
	if a.placed == nil {
		return ""
	}
	for _, f := range functions {
		for _, c := range a.placed.Changes {
			if c.Function == f.fn.Function.Demangled && c.Err != nil {
				return fmt.Sprintf("%s: %v", c.Function, c.Err)
			}
		}
	}
	return ""
}

func (a *analysis) noMarks() [][]bool {
	marks := make([][]bool, len(a.graphs))
	for i, g := range a.graphs {
		marks[i] = make([]bool, len(g.Code.Insts))
	}
	return marks
}

func frontierOf(s *cfg.Shape) (Frontier, error) {
	f, err := s.Frontiers(s.Order())
	if err != nil {
		return Frontier{}, err
	}
	x := Frontier{Checks: len(f.Checks()), TFJoins: len(f.Joins()), PDOMJoins: len(s.PDOMJoins())}
	x.Min, x.Mean, x.Max = f.Sizes()
	for node, reachable := range s.Reachable() {
		if reachable && node != s.Exit {
			x.Blocks++
		}
	}
	return x, nil
}

// A function is one of a graph.
type function struct {
	graph *cfg.Graph
	fn    *cfg.Func
}

// functions lists the functions that the nodes of a supergraph belong to, those that its entry reaches.
func (a *analysis) functions(super *cfg.Supergraph) []function {
	var list []function
	seen := make(map[*cfg.Func]bool)
	for node, reachable := range super.Shape.Reachable() {
		if !reachable || node == super.Shape.Exit {
			continue
		}
		n := super.Nodes[node]
		g := a.graphs[n.Graph]
		if f := g.Func(n.First); f != nil && !seen[f] {
			seen[f] = true
			list = append(list, function{g, f})
		}
	}
	return list
}

// structureOf adds up what it takes to make functions structured.
func (a *analysis) structureOf(list []function) Structure {
	s := Structure{Took: a.took}
	for _, f := range list {
		size := int(f.fn.Function.Size / sass.InstSize)
		s.Before += size
		s.After += size
		if f.graph.Shape(f.fn).Structure().Structured() {
			continue
		}
		s.Unstructured = true
		if a.refused != nil {
			s.Err = a.refused.Error()
			continue
		}
		for _, c := range a.rewritten.Changes {
			if c.Function != f.fn.Function.Demangled {
				continue
			}
			if c.Err != nil {
				s.Err = fmt.Sprintf("%s: %v", c.Function, c.Err)
				break
			}
			s.Counts.Add(c.Counts)
			s.After += c.After - c.Before
			break
		}
	}
	return s
}

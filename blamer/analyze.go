package blamer

import (
	"cmp"
	"fmt"
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/emu/arch"
	"gpa/emu/stall"
	"gpa/profiler"
)

// Options choose the rules. The zero value is the default.
type Options struct {
	// Exact blames dependency stalls on the true producer where the profile knows it.
	Exact bool
	// Plain uses the rules of the paper and nothing else.
	Plain bool
	// Without leaves rules out, to see what each of them is worth.
	Without []Rule
}

// Analyze blames the stalls of a launch. The module is the one that the launch's samples refer to. It fails where the
// samples do not fit the module.
func Analyze(l *profiler.Launch, module *cubin.File, opt Options) (*Result, error) {
	model, err := arch.ByName(l.GPU)
	if err != nil {
		return nil, fmt.Errorf("blaming %s: %w", l.Kernel, err)
	}
	l = profiler.Settle(l, module, &model.Issue)
	r := &Result{Launch: l, Module: module, Model: model, Graphs: make([]*cfg.Graph, len(module.Codes)), Exact: opt.Exact}
	groups, err := groupSamples(l, module)
	if err != nil {
		return nil, fmt.Errorf("blaming %s: %w", l.Kernel, err)
	}
	units, err := linkUnits(module, r.Graphs, executedSections(l, len(module.Codes)))
	if err != nil {
		return nil, fmt.Errorf("blaming %s: %w", l.Kernel, err)
	}
	var cov coverageTotal
	var agree Agreement
	for _, u := range units {
		a := newAnalysis(r, u, opt)
		a.agreement = &agree
		for rest := u.groups(groups); len(rest) > 0; {
			rest = rest[a.instruction(rest):]
		}
		cov.add(a.coverage)
	}
	r.Blames = merge(r.Blames)
	r.SingleDependencyBefore, r.SingleDependencyAfter = cov.shares()
	r.setAgreement(agree)
	return r, nil
}

// An analysis blames the stalls of a unit of code.
type analysis struct {
	*section
	unit    *unit
	opt     Options
	plain   bool // the rules in use: those of the options, or the paper's while these are measured
	result  *Result
	model   *arch.Model
	slicer  *slicer
	paths   *pathFinder
	counted bool      // the profile has source counters
	issues  []float64 // by instruction: warps that executed it, from the source counters
	warps   []float64 // by instruction: warps that reached it, whatever its guard
	sectors []float64 // by instruction: sectors of a request to global or local memory

	idealSectors []float64             // by instruction: sectors that the bytes of such a request would fill
	footprints   map[place]footprint   // of what instructions compute, where that was asked for
	rounds       map[place]bool        // of these, what is made of itself in each round of a loop
	accesses     map[int]*access       // of loads from global memory, where they were asked for
	reached      map[place][]int       // definitions that reach a use, where they were asked for
	edgeCounts   map[blockEdge]float64 // warps that went along each edge of the graph; nil until asked for
	issued       []float64             // by instruction: samples in which it issued

	residence []float64      // by instruction: cycles that warps spend before it on average, once it is their next
	elapsed   measuredCycles // the same summed up
	spread    float64        // cycles over which the warps of the launch begin

	deps      []dependency    // of the instruction at hand, unpruned
	plainDeps []dependency    // the same by the paper's rules
	shares    map[int]float64 // by source: cycles that orderRule expects it to cost, nil where it had no say
	rule      Rule            // that decided on the stall at hand
	coverage  *coverage
	agreement *Agreement // of all units
}

func newAnalysis(r *Result, u *unit, opt Options) *analysis {
	s := newSection(u.graph.Code, u.graph)
	a := &analysis{
		section: s,
		unit:    u,
		opt:     opt,
		plain:   opt.Plain,
		result:  r,
		model:   r.Model,
		slicer:  newSlicer(s),
		paths:   newPathFinder(s),
		issued:  make([]float64, len(s.code.Insts)),
		issues:  make([]float64, len(s.code.Insts)),
		warps:   make([]float64, len(s.code.Insts)),
		sectors: make([]float64, len(s.code.Insts)),

		idealSectors: make([]float64, len(s.code.Insts)),
		footprints:   map[place]footprint{},
		rounds:       map[place]bool{},
		accesses:     map[int]*access{},
		reached:      map[place][]int{},

		coverage: &coverage{node: make([]bool, len(s.code.Insts))},
	}
	for i := range r.Launch.Samples {
		sm := &r.Launch.Samples[i]
		if inst, ok := u.inst(sm.Code, sm.PC); ok && sm.Reason == stall.Selected {
			a.issued[inst] += float64(sm.Count)
		}
	}
	a.count(r.Launch)
	a.measureResidence(r.Launch)
	return a
}

// count reads the source counters. Where threads were counted, a warp counts by the share of its lanes whose guard was
// true.
func (a *analysis) count(l *profiler.Launch) {
	const lanes = 32
	threads := slices.ContainsFunc(l.PCs, func(c profiler.Counter) bool { return c.ThreadExecutions > 0 })
	for _, c := range l.PCs {
		i, ok := a.unit.inst(c.Code, c.PC)
		if !ok {
			continue
		}
		a.counted = true
		a.warps[i] += float64(c.Executions)
		if c.Executions > 0 {
			a.sectors[i] = float64(c.GlobalSectors) / float64(c.Executions)
			a.idealSectors[i] = idealSectorsOf(&c)
		}
		if threads {
			a.issues[i] += float64(c.ThreadExecutions) / lanes
		} else {
			a.issues[i] += float64(c.Executions)
		}
	}
}

// A group is all samples of one reason at one instruction, which is one of its section, or of the unit where that is at hand.
type group struct {
	code, inst     int
	reason         stall.Reason
	count, latency int64
	producers      []*profiler.Sample // the samples with a known producer
}

// groupSamples sorts the samples of a launch by instruction and reason.
func groupSamples(l *profiler.Launch, module *cubin.File) ([]group, error) {
	samples := make([]*profiler.Sample, 0, len(l.Samples))
	for i := range l.Samples {
		s := &l.Samples[i]
		if err := checkSample(s, module); err != nil {
			return nil, err
		}
		samples = append(samples, s)
	}
	slices.SortStableFunc(samples, func(x, y *profiler.Sample) int {
		return cmp.Or(cmp.Compare(x.Code, y.Code), cmp.Compare(instOf(x), instOf(y)), cmp.Compare(x.Reason, y.Reason))
	})
	var groups []group
	for _, s := range samples {
		g := group{code: s.Code, inst: instOf(s), reason: s.Reason}
		if n := len(groups); n == 0 || groups[n-1].code != g.code || groups[n-1].inst != g.inst || groups[n-1].reason != g.reason {
			groups = append(groups, g)
		}
		last := &groups[len(groups)-1]
		last.count += s.Count
		last.latency += s.Latency
		if s.Producer.Known {
			last.producers = append(last.producers, s)
		}
	}
	return groups, nil
}

// instOf is the instruction that a sample is of.
func instOf(s *profiler.Sample) int { return int(s.PC / sass.InstSize) }

// checkSample reports what keeps a sample from being one of the module's.
func checkSample(s *profiler.Sample, module *cubin.File) error {
	if err := checkPC(s.Code, s.PC, module); err != nil {
		return fmt.Errorf("sample: %w", err)
	}
	if s.Reason >= stall.NumReasons {
		return fmt.Errorf("sample at pc %#x: unknown stall reason %d", s.PC, s.Reason)
	}
	if s.Count < 0 || s.Latency < 0 || s.Latency > s.Count {
		return fmt.Errorf("sample at pc %#x: %d samples with %d latency samples among them", s.PC, s.Count, s.Latency)
	}
	if s.Producer.Known {
		if err := checkPC(s.Producer.Code, s.Producer.PC, module); err != nil {
			return fmt.Errorf("producer of the sample at pc %#x: %w", s.PC, err)
		}
	}
	return nil
}

func checkPC(code int, pc uint64, module *cubin.File) error {
	if code < 0 || code >= len(module.Codes) {
		return fmt.Errorf("code section %d of %s, which has %d", code, module.Name, len(module.Codes))
	}
	c := module.Codes[code]
	if pc%sass.InstSize != 0 || pc/sass.InstSize >= uint64(len(c.Insts)) {
		return fmt.Errorf("pc %#x is not an instruction of %s in %s", pc, c.Name, module.Name)
	}
	return nil
}

// instruction blames the groups of the first instruction in the list and returns their number.
func (a *analysis) instruction(groups []group) int {
	use := groups[0].inst
	n := 1
	for n < len(groups) && groups[n].inst == use {
		n++
	}
	a.slicer.plain = true
	a.plainDeps = a.slicer.dependencies(use, a.plainDeps[:0])
	a.slicer.plain = a.opt.Plain
	a.deps = a.slicer.dependencies(use, a.deps[:0])
	single := true
	for i := range groups[:n] {
		if !a.blame(&groups[i]) {
			single = false
		}
	}
	a.coverage.add(use, a.deps, single)
	return n
}

// blame distributes the samples of a group and reports whether it needed no apportioning.
func (a *analysis) blame(g *group) bool {
	switch g.reason.Class() {
	case stall.None:
	case stall.MemoryDependency, stall.ExecutionDependency:
		return a.blameDependency(g)
	case stall.Synchronization:
		a.record(g, edge{def: a.syncSource(g), detail: SynchronizationStall, share: 1})
	default:
		a.record(g, edge{def: g.inst, detail: selfDetails[g.reason.Class()], share: 1})
	}
	return true
}

// selfDetails are the detailed reasons of the classes that an instruction is itself to blame for.
var selfDetails = [stall.NumClasses]DetailedReason{
	stall.InstructionFetch:         InstructionFetch,
	stall.Texture:                  TextureMemory,
	stall.ConstantMemoryDependency: ConstantMemory,
	stall.PipeBusy:                 PipeBusy,
	stall.MemoryThrottle:           MemoryThrottle,
	stall.NotSelectedClass:         NotSelected,
	stall.Other:                    OtherStall,
	stall.SleepingClass:            Sleeping,
}

// blameDependency blames a dependency stall on the instructions whose results are late.
func (a *analysis) blameDependency(g *group) bool {
	edges := a.edges(g)
	rule := a.rule
	if len(g.producers) > 0 {
		plain := edges
		if !a.plain {
			a.plain = true
			plain = a.edges(g)
			a.plain = false
		}
		a.agree(g, rule, edges, plain)
	}
	if a.opt.Exact {
		a.blameProducers(g, edges)
	} else {
		for _, e := range edges {
			a.record(g, e)
		}
	}
	return dependencies(edges) <= 1
}

// dependencies counts the edges that are dependencies: what waits for a stall count alone depends on nothing.
func dependencies(edges []edge) int {
	n := 0
	for _, e := range edges {
		if e.detail != Scheduling {
			n++
		}
	}
	return n
}

// record enters the edge's share of the samples of a group.
func (a *analysis) record(g *group, e edge) {
	if g.count == 0 {
		return
	}
	a.result.Blames = append(a.result.Blames, Blame{
		Def:      a.unit.node(e.def),
		Use:      a.unit.node(g.inst),
		Class:    g.reason.Class(),
		Detail:   e.detail,
		Count:    e.share * float64(g.count),
		Latency:  e.share * float64(g.latency),
		Distance: e.distance,
	})
}

// merge sorts blames and adds up those that differ in nothing but counts.
func merge(blames []Blame) []Blame {
	slices.SortStableFunc(blames, func(x, y Blame) int {
		return cmp.Or(x.Def.compare(y.Def), x.Use.compare(y.Use), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Detail, y.Detail))
	})
	merged := blames[:0]
	for _, b := range blames {
		if n := len(merged); n > 0 {
			last := &merged[n-1]
			if last.Def == b.Def && last.Use == b.Use && last.Class == b.Class && last.Detail == b.Detail {
				last.Count += b.Count
				last.Latency += b.Latency
				last.Distance = max(last.Distance, b.Distance)
				continue
			}
		}
		merged = append(merged, b)
	}
	return merged
}

func (n Node) compare(m Node) int {
	return cmp.Or(cmp.Compare(n.Code, m.Code), cmp.Compare(n.Inst, m.Inst))
}

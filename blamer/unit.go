package blamer

import (
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
	"gpa/cubin/sass"
	"gpa/profiler"
)

// A unit is the code that slices go through together: a section, or several that call each other. Linked device code has a section
// for each function. The instructions of a unit are numbered through, section after section.
type unit struct {
	graph *cfg.Graph
	codes []int // indices of the sections in the module, ascending
	first []int // by section: its first instruction in the unit
}

// linkUnits builds the graphs of the given sections and of all that they call, and returns the units that these form, by their
// first sections.
func linkUnits(module *cubin.File, graphs []*cfg.Graph, sections []int) ([]*unit, error) {
	leader := make([]int, len(module.Codes)) // of the sections linked with a section
	for i := range leader {
		leader[i] = i
	}
	find := func(code int) int {
		for leader[code] != code {
			code = leader[code]
		}
		return code
	}
	for work := slices.Clone(sections); len(work) > 0; {
		code := work[len(work)-1]
		work = work[:len(work)-1]
		if graphs[code] != nil {
			continue
		}
		var err error
		if graphs[code], err = cfg.Build(module, module.Codes[code]); err != nil {
			return nil, err
		}
		for _, callee := range remoteCallees(graphs[code]) {
			x, y := find(code), find(callee)
			leader[max(x, y)] = min(x, y)
			work = append(work, callee)
		}
	}
	var units []*unit
	byLeader := map[int]*unit{}
	for code, g := range graphs {
		if g == nil {
			continue
		}
		u := byLeader[find(code)]
		if u == nil {
			u = new(unit)
			byLeader[find(code)] = u
			units = append(units, u)
		}
		u.codes = append(u.codes, code)
	}
	for _, u := range units {
		u.join(graphs)
	}
	return units, nil
}

// remoteCallees lists the sections that the functions of a section call, but for itself, in order.
func remoteCallees(g *cfg.Graph) []int {
	var list []int
	for _, f := range g.Funcs {
		for _, c := range f.Calls {
			for _, callee := range c.Remote {
				list = append(list, callee.Code)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// join makes one graph of those of the unit's sections.
func (u *unit) join(graphs []*cfg.Graph) {
	var list []*cfg.Graph
	next := 0
	for _, code := range u.codes {
		u.first = append(u.first, next)
		next += len(graphs[code].Code.Insts)
		list = append(list, graphs[code])
	}
	u.graph = list[0]
	if len(list) > 1 {
		u.graph = cfg.Join(list)
	}
}

// node returns the section and the place in it of an instruction of the unit.
func (u *unit) node(inst int) Node {
	i, found := slices.BinarySearch(u.first, inst)
	if !found {
		i--
	}
	return Node{u.codes[i], inst - u.first[i]}
}

// inst returns an instruction of the unit by its pc in a section. ok is false where the unit does not have it.
func (u *unit) inst(code int, pc uint64) (inst int, ok bool) {
	i, ok := slices.BinarySearch(u.codes, code)
	if !ok {
		return 0, false
	}
	end := len(u.graph.Code.Insts)
	if i+1 < len(u.first) {
		end = u.first[i+1]
	}
	inst = u.first[i] + int(pc/sass.InstSize)
	return inst, pc%sass.InstSize == 0 && inst < end
}

// groups returns those of the groups that are of the unit's sections, with their places in the unit.
func (u *unit) groups(all []group) []group {
	var list []group
	for _, g := range all {
		if i, ok := slices.BinarySearch(u.codes, g.code); ok {
			g.inst += u.first[i]
			list = append(list, g)
		}
	}
	return list
}

// executedSections lists the sections that a launch has samples or executions of, in order.
func executedSections(l *profiler.Launch, sections int) []int {
	executed := make([]bool, sections)
	for i := range l.Samples {
		executed[l.Samples[i].Code] = true
	}
	for _, c := range l.PCs {
		if c.Code >= 0 && c.Code < sections && c.Executions > 0 {
			executed[c.Code] = true
		}
	}
	var list []int
	for code, is := range executed {
		if is {
			list = append(list, code)
		}
	}
	return list
}

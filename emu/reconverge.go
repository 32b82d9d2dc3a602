package emu

import (
	"fmt"

	"gpa/cubin/cfg"
	"gpa/emu/reconv"
)

// reconvergence makes the re-convergence model ready for a program, once for each entry.
func (m *Machine) reconvergence(p *program, entry int32) (reconv.Plan, error) {
	if plan, ok := m.plans[entry]; ok {
		return plan, nil
	}
	plan, err := m.options.Reconvergence.Prepare(&reconv.Program{Entry: entry, Bases: p.bases, Size: int32(len(p.ops)), Graphs: m.graphs})
	if err != nil {
		return nil, fmt.Errorf("re-convergence %s: %w", m.options.Reconvergence.Name(), err)
	}
	m.plans[entry] = plan
	return plan, nil
}

// graphs finds the control flow of all sections of the module.
func (m *Machine) graphs() ([]*cfg.Graph, error) {
	var list []*cfg.Graph
	for _, code := range m.module.Codes {
		g, err := cfg.Build(m.module, code)
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

// arriveAt makes the instructions before those that are marked tell the re-convergence state where control falls through
// to a marked one.
func (p *program) arriveAt(marked []bool) {
	for i := 1; i < len(marked); i++ {
		if !marked[i] {
			continue
		}
		o := &p.ops[i-1]
		run := o.run
		o.run = func(w *warp, o *op) error {
			w.regrouped = false
			if err := run(w, o); err != nil {
				return err
			}
			if !w.regrouped {
				w.state.Arrive(w.pc)
				w.group()
			}
			return nil
		}
	}
}

package advisor

import (
	"fmt"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/cubin/cfg"
)

// A Warning is about synchronisation that may hang or that works by chance. It promises no speedup.
type Warning struct {
	Kind   branch.WarningKind
	At     blamer.Node // the barrier, or the read that a loop waits for
	Branch blamer.Node // where threads part; At where that is the guard of the instruction itself
	Text   string      // what is wrong, and what to do
}

// Warnings returns what the code of a kernel, given by its symbol, and of all that it calls is to be warned of, by address.
// A kernel that the module does not have has none.
func Warnings(module *cubin.File, kernel string) ([]Warning, error) {
	for _, k := range module.Kernels {
		if k.Name != kernel {
			continue
		}
		graphs, err := calledGraphs(module, k)
		if err != nil {
			return nil, err
		}
		found, err := branch.Warnings(module, graphs, k)
		if err != nil {
			return nil, err
		}
		list := make([]Warning, len(found))
		for i, w := range found {
			list[i] = Warning{Kind: w.Kind, At: blamer.Node{Code: w.Code, Inst: w.Inst}, Branch: blamer.Node{Code: w.Branch.Code, Inst: w.Branch.Inst}}
			list[i].Text = list[i].text(module)
		}
		return list, nil
	}
	return nil, nil
}

// calledGraphs makes the graphs of the sections that a kernel's calls lead to; those of the others are empty.
func calledGraphs(module *cubin.File, k *cubin.Kernel) ([]*cfg.Graph, error) {
	graphs := make([]*cfg.Graph, len(module.Codes))
	for work := []int{k.Code.Index}; len(work) > 0; {
		code := work[len(work)-1]
		work = work[:len(work)-1]
		if graphs[code] != nil {
			continue
		}
		g, err := cfg.Build(module, module.Codes[code])
		if err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.Demangled, err)
		}
		graphs[code] = g
		for _, f := range g.Funcs {
			for _, c := range f.Calls {
				for _, callee := range c.Remote {
					work = append(work, callee.Code)
				}
			}
		}
	}
	for code := range graphs {
		if graphs[code] == nil {
			graphs[code] = &cfg.Graph{Code: &cubin.Code{Index: code, Name: module.Codes[code].Name}}
		}
	}
	return graphs, nil
}

// text says what is wrong, and what to do.
func (w *Warning) text(module *cubin.File) string {
	in := Input{Module: module}
	at, parted := in.place(w.At), in.place(w.Branch)
	switch w.Kind {
	case branch.WarpBarrier:
		return fmt.Sprintf("A warp may hang at the barrier at %s: its lanes wait for each other before it (WARPSYNC), while those that went another way at %s "+
			"wait for them where the two ways meet. Move __syncthreads() to where all threads of the block go.", at, parted)
	case branch.SpinLoop:
		return fmt.Sprintf("The loop at %s waits for what another thread does behind its own loop. Where that is a thread of the same warp, it ends only on a GPU "+
			"that lets parted threads take turns (sm_70 and later). In place of a loop that only waits, take the lock, do the work and release the lock "+
			"in the same round of one loop, that a thread leaves when it has done so.", at)
	}
	if w.At == w.Branch {
		parted = "a condition of their own"
	}
	return fmt.Sprintf("Not all threads of a block come to the barrier at %s: they part by %s. CUDA leaves undefined what happens then. Move __syncthreads() "+
		"to where all threads of the block go, or name the number of threads that come (bar.sync ID, COUNT).", at, parted)
}

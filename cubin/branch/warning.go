package branch

import (
	"cmp"
	"slices"

	"gpa/cubin"
	"gpa/cubin/cfg"
)

// A WarningKind is a shape of synchronisation that may hang, or that works on some GPUs alone.
type WarningKind uint8

// The kinds.
const (
	// DivergentBarrier is a block barrier that threads of a block may come to while others come to another one, or to none.
	// CUDA leaves undefined what happens then.
	DivergentBarrier WarningKind = iota
	// WarpBarrier is a DivergentBarrier behind a WARPSYNC: all lanes of a warp wait for each other before it, so that a warp
	// whose lanes part hangs where the other lanes wait for these to come together again (Diamos et al. 2011, Figure 2a).
	WarpBarrier
	// SpinLoop is a loop in which threads of a warp wait for what one of them does behind it. It never ends where threads
	// that leave a loop wait for the others, as on GPUs before Volta (ElTantawy and Aamodt, "MIMD synchronization on SIMT
	// architectures", MICRO 2016).
	SpinLoop
)

// String is the name that reports have for the kind.
func (k WarningKind) String() string {
	return [...]string{"barrier-under-divergent-control", "warpsync-before-barrier", "spin-loop"}[k]
}

// A Warning is a place with such a shape.
type Warning struct {
	Kind   WarningKind
	Code   int // section
	Inst   int // the barrier; the atomic or load that a spin loop waits for
	Branch Place
}

// A Place is an instruction: that at which threads part.
type Place struct{ Code, Inst int }

// Warnings returns what a kernel has of such shapes, calls included, by section and address. They follow from the code
// alone: a condition that depends on thread numbers or data counts as one that may part threads, although a launch may
// have none that do.
func Warnings(module *cubin.File, graphs []*cfg.Graph, k *cubin.Kernel) ([]Warning, error) {
	s, err := analyze(graphs, k)
	if err != nil {
		return nil, err
	}
	varying := s.varying()
	list := append(s.barrierWarnings(module, varying), s.spinWarnings(varying)...)
	slices.SortStableFunc(list, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Inst, b.Inst), cmp.Compare(a.Branch.Code, b.Branch.Code), cmp.Compare(a.Branch.Inst, b.Branch.Inst))
	})
	return list, nil
}

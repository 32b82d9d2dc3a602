package blamer

import "gpa/cubin/sass"

// A condSet is a set of predicate conditions, the P of section 4: bit 2n is the condition Pn, bit 2n+1 the condition
// !Pn, for the predicates P0 to P6 and, above them, UP0 to UP6. The condition _ of unpredicated instructions is not a
// bit; covers handles it.
type condSet uint32

const (
	predConds = 7  // predicates of each file that are registers
	staleUse  = 28 // bit: the predicate of the use has another value here than at the use
)

// condOf returns the condition of a guard as a one-element set; the empty set for unpredicated instructions.
func condOf(g sass.Guard) condSet {
	if g.Reg >= predConds {
		return 0
	}
	bit := 2 * uint(g.Reg)
	if g.Uniform {
		bit += 2 * predConds
	}
	if g.Neg {
		bit++
	}
	return 1 << bit
}

// predOf returns both conditions on the predicate that a resource is; the empty set for other resources.
func predOf(r sass.Resource) condSet {
	switch {
	case r >= sass.ResPred && r < sass.ResPred+predConds:
		return 3 << (2 * uint(r-sass.ResPred))
	case r >= sass.ResUPred && r < sass.ResUPred+predConds:
		return 3 << (2*predConds + 2*uint(r-sass.ResUPred))
	}
	return 0
}

// covers reports whether the conditions of the definitions on a path contain the condition of the use ("P contains
// p'"): use is the condition of the use, empty where it is unpredicated.
func (p condSet) covers(use condSet) bool {
	const even condSet = 0x5555555 // the conditions Pn and UPn
	if p&(p>>1)&even != 0 {        // {Pn, !Pn} = _
		return true
	}
	return use != 0 && p&use == use && p&(1<<staleUse) == 0
}

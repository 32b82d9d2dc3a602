package advisor

import (
	"fmt"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/cubin/sass"
)

// fastMath matches the stalls of IEEE-accurate single-precision division, square root and argument reduction: in the
// functions that compilers add for them, and in the sequences around FCHK that they inline for the common case.
type fastMath struct{}

func (fastMath) Name() string { return "fast-math" }
func (fastMath) Class() Class { return StallElimination }

func (fastMath) Match(in *Input) []*Match {
	c := newCollector(in)
	lines := in.divisionLines()
	for i := range in.Blame.Blames {
		b := &in.Blame.Blames[i]
		if isStall(b) && (in.inMathHelper(b.Use) || in.inDivision(b, lines)) {
			c.add(in.kernelScope(), b)
		}
	}
	matches := c.finish()
	for _, m := range matches {
		m.Suggestions = []string{
			fmt.Sprintf("Accurate single-precision functions cost most at %s. Compile with -use_fast_math, or write __fdividef(x, y), __frsqrt_rn(x), __sinf(x) where the last bits do not matter.",
				in.places(in.userNodes(m.uses()), 3)),
			"For division alone -prec-div=false, for square roots -prec-sqrt=false. Check the results: errors grow from half a unit in the last place to about two.",
		}
	}
	return matches
}

// inMathHelper reports whether an instruction belongs to a single-precision function that the compiler added.
func (in *Input) inMathHelper(n blamer.Node) bool {
	f := in.Func(n)
	if f == nil || f.Function.Kind != cubin.InternalFunction {
		return false
	}
	return strings.Contains(f.Function.Name, "f32") || strings.Contains(f.Function.Name, "trig_reduction")
}

// divisionLines returns the source lines with an inlined division: those of FCHK, by section.
func (in *Input) divisionLines() map[int]map[cubin.Frame]bool {
	lines := map[int]map[cubin.Frame]bool{}
	for code, c := range in.codes {
		if c == nil {
			continue
		}
		lines[code] = map[cubin.Frame]bool{}
		for i := range in.Module.Codes[code].Insts {
			if in.Module.Codes[code].Insts[i].Op != sass.FCHK {
				continue
			}
			if f := in.frame(blamer.Node{Code: code, Inst: i}); f.Line > 0 {
				lines[code][f] = true
			}
		}
	}
	return lines
}

// inDivision reports whether a stall lies between two instructions of one inlined division.
func (in *Input) inDivision(b *blamer.Blame, lines map[int]map[cubin.Frame]bool) bool {
	if b.Detail != blamer.Arithmetic || b.Def.Code != b.Use.Code || len(lines[b.Use.Code]) == 0 {
		return false
	}
	use := in.frame(b.Use)
	return lines[b.Use.Code][use] && in.frame(b.Def) == use
}

// userNodes replaces instructions of compiler-added functions by the calls of these.
func (in *Input) userNodes(nodes []blamer.Node) []blamer.Node {
	var out []blamer.Node
	for _, n := range nodes {
		if f := in.Func(n); f != nil && f.Function.Kind == cubin.InternalFunction {
			if sites := in.callSites(n); len(sites) > 0 {
				out = append(out, sites...)
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

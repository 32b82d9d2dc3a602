package advisor

import (
	"fmt"
	"maps"
	"strings"

	"gpa/blamer"
	"gpa/cubin"
)

// fastMath matches what IEEE-accurate single-precision division, square root, logarithm, exponential and argument reduction take:
// the functions that compilers add for them, and the sequences that they inline for the common case.
type fastMath struct{}

func (fastMath) Name() string { return "fast-math" }
func (fastMath) Class() Class { return StallElimination }

func (fastMath) Match(in *Input) []*Match {
	c := newCollector(in)
	found := make([]sequence, len(in.codes))
	powers := in.wholePowers()
	for code := range in.codes {
		found[code] = in.accurateShares(code)
		maps.DeleteFunc(found[code], func(i int, _ float64) bool { return powers.lines[in.frame(blamer.Node{Code: code, Inst: i})] }) // these are to be products
		c.addSequence(in.kernelScope(), code, found[code])
	}
	matches := c.finish()
	for _, m := range matches {
		m.Spares = IssueSlots
		m.Change = in.change(found)
		m.Suggestions = []string{
			fmt.Sprintf("Accurate single-precision functions cost most at %s. Where the last bits do not matter, write __fdividef(x, y) or, for a constant divisor, x * (1.0f / c); rsqrtf(x) for 1 / sqrtf(x); __sinf(x); __expf(x); __logf(x).",
				in.places(in.userNodes(m.uses()), 3)),
			"-use_fast_math does so for the whole file, for division alone -prec-div=false, for square roots -prec-sqrt=false: compare the time, as expressions with a double constant (x / 3.0), which compilers narrow without it, may become double-precision ones, and powf of a negative number is NaN with it. Check the results: errors grow from half a unit in the last place to about two, and denormal numbers become zero. Not where results have to be IEEE's.",
		}
	}
	return matches
}

// inMathHelper reports whether an instruction belongs to a single-precision function that the compiler added.
func (in *Input) inMathHelper(n blamer.Node) bool {
	if !in.inInternal(n) {
		return false
	}
	name := in.Func(n).Function.Name
	return strings.Contains(name, "f32") || strings.Contains(name, "trig_reduction")
}

// inInternal reports whether an instruction belongs to a function that the compiler added.
func (in *Input) inInternal(n blamer.Node) bool {
	f := in.Func(n)
	return f != nil && f.Function.Kind == cubin.InternalFunction
}

// userNodes replaces instructions of compiler-added functions by the calls of these.
func (in *Input) userNodes(nodes []blamer.Node) []blamer.Node {
	var out []blamer.Node
	for _, n := range nodes {
		if in.inInternal(n) {
			if sites := in.callSites(n); len(sites) > 0 {
				out = append(out, sites...)
				continue
			}
		}
		out = append(out, n)
	}
	return out
}

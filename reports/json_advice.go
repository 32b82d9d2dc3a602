package reports

import (
	"strconv"

	"gpa/advisor"
	"gpa/blamer"
	"gpa/cubin"
	"gpa/profiler"
)

// A BlameReport is the blame of a launch in numbers. Ratios go from 0 to 1.
type BlameReport struct {
	SingleDependencyBefore float64            `json:"single_dependency_before"`
	SingleDependencyAfter  float64            `json:"single_dependency_after"`
	Agreement              *float64           `json:"agreement,omitempty"`       // share of the samples blamed on the true producer
	AgreementPlain         *float64           `json:"agreement_plain,omitempty"` // the same by the paper's plain rules
	ByClass                map[string]float64 `json:"by_class"`                  // samples by detailed reason
	Chains                 []ChainReport      `json:"chains,omitempty"`          // the costliest
}

// A ChainReport says how stalls follow from one another: each hop waits for the next.
type ChainReport struct {
	Samples float64    `json:"samples"`
	Share   float64    `json:"share"` // of all samples of the launch
	Hops    []Location `json:"hops"`
}

// An AdviceReport is one advice. Samples are apportioned and so not whole numbers.
type AdviceReport struct {
	Optimizer             string          `json:"optimizer"`
	Class                 string          `json:"class"`
	EstimatedSpeedup      float64         `json:"estimated_speedup"`
	TriedSpeedup          float64         `json:"tried_speedup,omitempty"` // by a what-if run
	NotTried              string          `json:"not_tried,omitempty"`     // why no what-if run was made
	Interval              []float64       `json:"interval,omitempty"`      // low and high speedup between which nine in ten what-if runs of such estimates come out
	HotspotShare          float64         `json:"hotspot_share,omitempty"` // of the matched samples, what the hotspots hold
	Diffuse               bool            `json:"diffuse,omitempty"`       // the hotspots hold less than a tenth of the samples
	Overlaps              []string        `json:"overlaps,omitempty"`      // optimizers that count mostly the same samples
	SameAs                string          `json:"same_as,omitempty"`       // the optimizer of a piece above that came out alike when tried
	MatchedSamples        float64         `json:"matched_samples"`
	MatchedLatencySamples float64         `json:"matched_latency_samples"`
	Scope                 ScopeReport     `json:"scope"`
	Suggestions           []string        `json:"suggestions"`
	Assumed               []string        `json:"assumed,omitempty"` // what neither the code nor the launch's record tells
	Hotspots              []HotspotReport `json:"hotspots"`
}

// A LimitReport is a unit of the GPU that a launch keeps busy nearly all the time.
type LimitReport struct {
	Unit    string  `json:"unit"`
	Busy    float64 `json:"busy"`    // share of the cycles, at the unit's peak rate
	Ceiling float64 `json:"ceiling"` // speedup of a change that leaves the unit as much to do, at most
	Text    string  `json:"text"`
}

func reportLimits(limits []advisor.Limit) (out []LimitReport) {
	for i := range limits {
		l := &limits[i]
		out = append(out, LimitReport{Unit: l.Unit.String(), Busy: round(l.Busy, 6), Ceiling: round(l.Ceiling, 6), Text: l.Text()})
	}
	return out
}

// A ScopeReport is the code that an advice is about.
type ScopeReport struct {
	Kind     string `json:"kind"`
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// A HotspotReport is a pair of instructions that an advice is about: one that others wait for and the one that waits.
type HotspotReport struct {
	Def      Location `json:"def"`
	Use      Location `json:"use"`
	Distance int      `json:"distance"` // instructions from def to use
	Samples  float64  `json:"samples"`
	Share    float64  `json:"share"` // of all samples of the launch
}

func reportFault(module *cubin.File, f *profiler.Fault) *Fault {
	if f == nil {
		return nil
	}
	out := &Fault{
		Kind: f.Kind, At: Locate(module, f.Code, f.PC), Block: f.Block, Thread: f.Thread, Buffer: f.Buffer,
		Message: f.Message,
	}
	if f.HasAddress {
		out.Address = &f.Address
	}
	return out
}

func archName(module *cubin.File) string { return "sm_" + strconv.Itoa(int(module.Arch)) }

func reportBlame(b *blamer.Result) *BlameReport {
	if b == nil {
		return nil
	}
	out := &BlameReport{
		SingleDependencyBefore: round(b.SingleDependencyBefore, 6),
		SingleDependencyAfter:  round(b.SingleDependencyAfter, 6),
		ByClass:                make(map[string]float64),
	}
	if b.HasAgreement {
		exact, plain := round(b.Agreement, 6), round(b.AgreementPlain, 6)
		out.Agreement, out.AgreementPlain = &exact, &plain
	}
	for _, blame := range b.Blames {
		out.ByClass[blame.Detail.String()] += blame.Count
	}
	for name, n := range out.ByClass {
		out.ByClass[name] = round(n, 3)
	}
	out.Chains = reportChains(b)
	return out
}

// maxChains is the number of chains that a report holds.
const maxChains = 5

func reportChains(b *blamer.Result) []ChainReport {
	totals := b.Launch.Totals()
	var out []ChainReport
	for _, c := range b.Chains(maxChains) {
		report := ChainReport{Samples: round(c.Total, 3), Share: round(c.Total/float64(max(1, totals.Samples)), 6)}
		for _, hop := range c.Hops {
			report.Hops = append(report.Hops, locateNode(b.Module, hop))
		}
		out = append(out, report)
	}
	return out
}

func reportAdvice(module *cubin.File, l *profiler.Launch, found *LaunchResult) []AdviceReport {
	if found.Blame == nil {
		return nil
	}
	out := []AdviceReport{}
	for i := range found.Advice {
		a := &found.Advice[i]
		report := AdviceReport{
			Optimizer:             a.Optimizer,
			Class:                 string(a.Class),
			EstimatedSpeedup:      round(a.Speedup, 6),
			TriedSpeedup:          round(a.Tried, 6),
			NotTried:              a.Untried,
			HotspotShare:          round(a.Listed, 6),
			Diffuse:               a.Diffuse,
			Overlaps:              a.Overlaps,
			SameAs:                a.Same,
			MatchedSamples:        round(a.Match.Samples, 3),
			MatchedLatencySamples: round(a.Match.Latency, 3),
			Scope:                 reportScope(module, l, &a.Match.Scope),
			Suggestions:           append([]string{}, a.Match.Suggestions...),
			Assumed:               a.Match.Assumed,
			Hotspots:              []HotspotReport{},
		}
		if a.Interval[1] > 0 {
			report.Interval = []float64{round(a.Interval[0], 6), round(a.Interval[1], 6)}
		}
		for _, h := range a.Match.Hotspots {
			report.Hotspots = append(report.Hotspots, reportHotspot(module, &h))
		}
		out = append(out, report)
	}
	return out
}

func reportHotspot(module *cubin.File, h *advisor.Hotspot) HotspotReport {
	return HotspotReport{
		Def: locateNode(module, h.Def), Use: locateNode(module, h.Use), Distance: h.Distance,
		Samples: round(h.Samples, 3), Share: round(h.Share, 6),
	}
}

// locateNode describes a node of the blame graph.
func locateNode(module *cubin.File, n blamer.Node) Location {
	if n.Code < 0 || n.Code >= len(module.Codes) || n.Inst < 0 || n.Inst >= len(module.Codes[n.Code].Insts) {
		return Location{}
	}
	return Locate(module, n.Code, module.Codes[n.Code].Insts[n.Inst].PC)
}

// reportScope names the scope by the place where it begins.
func reportScope(module *cubin.File, l *profiler.Launch, s *advisor.Scope) ScopeReport {
	out := ScopeReport{
		Kind: string(s.Kind), Function: scopeFunction(s), File: s.Frame.File, Line: s.Frame.Line,
	}
	if s.Kind == advisor.KernelScope || out.Function == "" {
		out.Function = KernelName(module, l.Kernel)
	}
	return out
}

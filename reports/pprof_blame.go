package reports

import (
	"fmt"
	"math"

	"github.com/google/pprof/profile"

	"gpa/blamer"
)

// The values of a sample of a blame profile.
const (
	blamedSamples = iota
	blamedLatency // of them, those taken while the scheduler issued nothing
	blamedCycles  // samples times the period
	numBlamed
)

var blamedNames = [numBlamed]string{blamedSamples: "blamed", blamedLatency: "latency", blamedCycles: "cycles"}

// blameKey tells the samples of a blame profile apart.
type blameKey struct {
	module   int
	def, use blamer.Node
	detail   blamer.DetailedReason
	kernel   string
}

// PprofBlame returns the blame as a profile in the form of pprof: who waits for whom. The leaf of a sample is the instruction
// that is to blame, its caller the one that stalls; an instruction to blame for its own stalls stands alone. Its labels are
// class, detail (Figure 5 of the GPA paper) and kernel. It is a profile of its own, as its sums are other quantities than those
// of [Pprof]. Shares are rounded to whole samples.
func PprofBlame(r *Result, version string) (*profile.Profile, error) {
	b := newPprofBuilder(r.Profile)
	b.out.SampleType = nil
	for _, name := range blamedNames {
		b.out.SampleType = append(b.out.SampleType, &profile.ValueType{Type: name, Unit: "count"})
	}
	b.out.DefaultSampleType = blamedNames[blamedCycles]
	sums := make(map[blameKey]*[numBlamed]float64)
	var order []blameKey
	for i := range r.Profile.Launches {
		l, found, _ := r.launch(i)
		b.seconds += float64(l.Facts.Count()) * l.Facts.Seconds()
		b.out.Period = max(b.out.Period, int64(l.Period))
		if found.Blame != nil {
			order = sumBlames(sums, order, found.Blame)
		}
	}
	for _, key := range order {
		b.addBlame(key, sums[key])
	}
	b.setFirstLines()
	b.comment(version)
	if err := b.out.CheckValid(); err != nil {
		return nil, fmt.Errorf("building the pprof profile of the blame: %w", err)
	}
	return b.out, nil
}

// sumBlames adds up equal blames of several launches, and keeps the order in which they were met.
func sumBlames(sums map[blameKey]*[numBlamed]float64, order []blameKey, r *blamer.Result) []blameKey {
	l := r.Launch
	n := float64(l.Facts.Count())
	for _, x := range r.Blames {
		key := blameKey{l.Module, x.Def, x.Use, x.Detail, l.Kernel}
		sum := sums[key]
		if sum == nil {
			sum = new([numBlamed]float64)
			sums[key] = sum
			order = append(order, key)
		}
		sum[blamedSamples] += n * x.Count
		sum[blamedLatency] += n * x.Latency
		sum[blamedCycles] += n * x.Count * float64(l.Period)
	}
	return order
}

func (b *pprofBuilder) addBlame(key blameKey, sum *[numBlamed]float64) {
	m := b.modules[key.module]
	at := func(n blamer.Node) *profile.Location {
		return b.location(m, n.Code, m.file.Codes[n.Code].Insts[n.Inst].PC)
	}
	s := &profile.Sample{Location: []*profile.Location{at(key.def)}, Label: map[string][]string{
		"detail": {key.detail.String()},
		"kernel": {KernelName(m.file, key.kernel)},
	}}
	if key.use != key.def {
		s.Location = append(s.Location, at(key.use))
	}
	for _, v := range sum {
		s.Value = append(s.Value, int64(math.Round(v)))
	}
	b.out.Sample = append(b.out.Sample, s)
}

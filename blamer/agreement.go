package blamer

import "gpa/profiler"

// agree compares the edges of a group, by the rules in use and by the paper's, with the producers of its samples.
func (a *analysis) agree(g *group, rule Rule, edges, plain []edge) {
	samples := map[profiler.Producer]float64{}
	known, most := 0.0, 0.0
	for _, s := range g.producers {
		samples[s.Producer] += float64(s.Count)
		known += float64(s.Count)
		most = max(most, samples[s.Producer])
	}
	for _, s := range g.producers {
		n := samples[s.Producer]
		if n == 0 {
			continue // entered already
		}
		delete(samples, s.Producer)
		share := a.shareOf(edges, s.Producer)
		one := Agreement{Known: n, Agreed: n * share, Plain: n * a.shareOf(plain, s.Producer), Overlap: min(n, known*share)}
		if n == most {
			one.Best, most = n, -1
		}
		a.result.ByProducer[a.producerDetail(g, s.Producer)].Merge(one)
		a.result.ByRule[rule].Merge(one)
		a.agreement.Merge(one)
	}
}

// shareOf returns the share of the stalls that the edges blame on a producer.
func (a *analysis) shareOf(edges []edge, p profiler.Producer) float64 {
	share := 0.0
	def, ok := a.unit.inst(p.Code, p.PC)
	for _, e := range edges {
		if ok && e.def == def {
			share += e.share
		}
	}
	return share
}

// setAgreement enters the shares of all samples with a known producer.
func (r *Result) setAgreement(all Agreement) {
	if all.Known == 0 {
		return
	}
	r.HasAgreement = true
	r.Agreement, r.AgreementPlain = all.Agreed/all.Known, all.Plain/all.Known
}

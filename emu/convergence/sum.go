package convergence

// Sum adds up the launches of the same kernel, in the order of their first launches. A model under which one of them did
// not end has its status.
func Sum(list []Launch) []Launch {
	var sums []Launch
	places := make(map[string]int)
	for i := range list {
		l := &list[i]
		at, seen := places[l.Kernel.Name]
		if !seen {
			places[l.Kernel.Name] = len(sums)
			sum := *l
			sum.Runs = append([]Run(nil), l.Runs...)
			if l.Activity != nil {
				sum.Activity = l.Activity.clone()
			}
			sums = append(sums, sum)
			continue
		}
		sums[at].Times += l.Times
		sums[at].Repeated += l.Repeated
		if l.Activity == nil {
			sums[at].Activity = nil
		} else if sums[at].Activity != nil {
			sums[at].Activity.add(l.Activity)
		}
		for k := range l.Runs {
			sums[at].Runs[k].add(&l.Runs[k])
		}
	}
	return sums
}

// add adds a run of another launch under the same model.
func (r *Run) add(o *Run) {
	if r.Status == OK {
		r.Status, r.Fault = o.Status, o.Fault
	}
	r.Activity.Add(o.Activity)
	r.MaxStack = max(r.MaxStack, o.MaxStack)
	r.Forced += o.Forced
	r.Cycles += o.Cycles
	r.OutputsEqual = r.OutputsEqual && o.OutputsEqual
}

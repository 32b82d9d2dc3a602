package emu

import "gpa/emu/mem"

// A copyGroup is the copies to shared memory that an LDGDEPBAR has taken up and of which not all have arrived when it
// issues. Its dependence counter is released with the last of them.
type copyGroup struct {
	counter int8   // that LDGDEPBAR increments
	number  uint32 // of that event
	copies  uint32 // the group's copies and all before have lower numbers
}

// closeGroup returns when the copies that a warp has issued have arrived, mem.Never where that is not known yet.
func (v *resident) closeGroup(o *op, t int64) int64 {
	copies := &v.counters[copyCount]
	done := max(t+1, copies.before(copies.next()))
	if done == mem.Never && o.t.write >= 0 {
		v.groups = append(v.groups, copyGroup{o.t.write, v.number(o.t.write), copies.next()})
	}
	return done
}

// lastCopy returns the copy that completes last of those that a group has taken up: who waits for the group waits for it.
func (v *resident) lastCopy(group event) *op {
	last := event{op: group.op}
	for _, e := range v.counters[copyCount].events {
		if e.issued <= group.issued && (last.op == group.op || e.after(last)) {
			last = e
		}
	}
	return last.op
}

// copied releases the counters of the groups that are complete.
func (v *resident) copied() {
	for len(v.groups) > 0 {
		g := v.groups[0]
		done := v.counters[copyCount].before(g.copies)
		if done == mem.Never {
			return
		}
		v.groups = v.groups[:copy(v.groups, v.groups[1:])]
		v.counters[g.counter].settle(g.number, done)
	}
}

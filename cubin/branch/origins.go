package branch

// origins returns for each value all origins in its backward slice. Values that depend on themselves are found as strongly
// connected components (Tarjan 1972), which come out operands first.
func (s *slicer) origins() []Origins {
	f := &componentFinder{slicer: s, index: make([]int32, len(s.values)), low: make([]int32, len(s.values)),
		on: make([]bool, len(s.values)), origins: make([]Origins, len(s.values))}
	for v := range s.values {
		if f.index[v] == 0 {
			f.search(int32(v))
		}
	}
	return f.origins
}

// A componentFinder is a depth-first search over values.
type componentFinder struct {
	*slicer
	index, low []int32
	on         []bool
	stack      []int32
	last       int32
	origins    []Origins
}

// A visit is a value on the way of the search, and the operand that comes next.
type visit struct {
	value int32
	next  int
}

func (f *componentFinder) search(root int32) {
	calls := []visit{f.enter(root)}
	for len(calls) > 0 {
		at := &calls[len(calls)-1]
		v := at.value
		if at.next < len(f.values[v].operands) {
			to := f.values[v].operands[at.next]
			at.next++
			if f.index[to] == 0 {
				calls = append(calls, f.enter(to))
			} else if f.on[to] {
				f.low[v] = min(f.low[v], f.index[to])
			}
			continue
		}
		calls = calls[:len(calls)-1]
		if len(calls) > 0 {
			up := calls[len(calls)-1].value
			f.low[up] = min(f.low[up], f.low[v])
		}
		if f.low[v] == f.index[v] {
			f.leave(v)
		}
	}
}

func (f *componentFinder) enter(v int32) visit {
	f.last++
	f.index[v], f.low[v], f.on[v] = f.last, f.last, true
	f.stack = append(f.stack, v)
	return visit{value: v}
}

// leave takes a component off the stack. Its values have the origins of all of them and of their operands; those of a
// cycle with an instruction in it, and not only of joins, depend on themselves.
func (f *componentFinder) leave(root int32) {
	at := len(f.stack) - 1
	for f.stack[at] != root {
		at--
	}
	component := f.stack[at:]
	f.stack = f.stack[:at]
	var all Origins
	cyclic, computed := len(component) > 1, false
	for _, v := range component {
		x := &f.values[v]
		all |= x.own
		computed = computed || x.inst != nil
		for _, to := range x.operands {
			all |= f.origins[to]
			cyclic = cyclic || to == v
		}
	}
	if cyclic && computed {
		all |= Loop
	}
	for _, v := range component {
		f.on[v], f.origins[v] = false, all
	}
}

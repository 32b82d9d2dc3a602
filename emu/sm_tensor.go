package emu

// tensor sends a product or a copy that ends in tensor memory to the tensor cores in cycle t, or has transaction barriers told of those
// before. The tensor cores work for one after the other: a product takes as long as its multiplications, or as shared memory needs to read
// its matrices ([arch.TensorMemory]).
func (s *sm) tensor(v *resident, o *op, t int64) (read, done int64) {
	l, b := &s.run.latency.tensor, v.block
	if o.t.closes {
		for _, told := range v.warp.bulk.barriers {
			to := told.block.resident
			if to == nil {
				continue
			}
			x, at := to.transferOf(told.at), max(t, b.products)
			if to != b {
				at += s.run.latency.remote
			}
			if x.done = max(x.done, at); b.product != nil {
				x.op = b.product
			} else if x.op == nil {
				x.op = o
			}
		}
		return t + 1, t + 1
	}
	work := &v.warp.tensor
	if work.columns == 0 && work.bytes == 0 {
		return t + 1, t + 1
	}
	start := max(t, s.tensorFree)
	s.tensorFree = start + max(int64(float64(work.columns)/l.columns), int64(float64(work.bytes)/l.operands), 1)
	complete := l.complete
	if work.inTensor {
		complete = l.fromTensor
	}
	b.products, b.product = max(b.products, s.tensorFree+complete), o
	return t + 1, t + 1
}

// tensorAccess times a load or a store of tensor memory, of which each sub-core reaches a part.
func (s *sm) tensorAccess(c *subcore, v *resident, o *op, t int64) (read, done int64) {
	l := &s.run.latency.tensor
	rate := l.load
	if o.t.stores {
		rate = l.store
	}
	start := max(t, c.tensor)
	c.tensor = start + max(int64(float64(o.t.words)*4*32/rate), 1)
	done = c.tensor + o.t.latency
	if o.t.stores {
		v.tensorStored = max(v.tensorStored, done)
	}
	return c.tensor, done
}

// viewTensor is sass.FenceView of the fence behind stores to tensor memory (PTX ISA, tcgen05.wait::st).
const viewTensor = 2

// tensorLatencies are the figures of tensor memory that an SM uses at every issue.
type tensorLatencies struct {
	columns, operands, load, store float64 // in a cycle; the last two of a sub-core
	complete, fromTensor           int64
}

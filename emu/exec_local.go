package emu

import "math/bits"

// localBytes returns size bytes of a thread's local memory, and the address that the caches see: words of the 32 threads
// lie next to each other.
func (w *warp) localBytes(o *op, lane int, addr uint64, size int) (data []byte, behind uint64, err error) {
	behind = w.localBase() + addr/uint64(size)*32*uint64(size) + uint64(lane*size)
	if addr&uint64(size-1) != 0 {
		data, err = w.missing(size, w.addressFault(o, lane, Misaligned, addr, "in local memory"))
	} else if data = w.local.bytes(lane, addr, size); data == nil {
		data, err = w.missing(size, w.addressFault(o, lane, OutOfBounds, addr, w.localDetail()))
	}
	return data, behind, err
}

func loadLocal(w *warp, o *op) error {
	w.access(o, accessLoad)
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		from, behind, err := w.localBytes(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.acc.addr[i] = behind
		w.take(o, i, from)
	}
	return nil
}

func storeLocal(w *warp, o *op) error {
	w.access(o, accessStore)
	size := int(w.acc.size)
	for m := w.mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		to, behind, err := w.localBytes(o, i, w.acc.addr[i], size)
		if err != nil {
			return err
		}
		w.acc.addr[i] = behind
		w.give(o, i, to)
	}
	return nil
}

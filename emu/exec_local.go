package emu

import "math/bits"

// localBytes returns size bytes of a thread's local memory, and the address that the caches see: words of the 32 threads
// lie next to each other.
func (w *warp) localBytes(o *op, lane int, addr uint64, size int) (data []byte, behind uint64, err error) {
	behind = w.localBase() + addr/uint64(size)*32*uint64(size) + uint64(lane*size)
	if addr&uint64(size-1) != 0 {
		data, err = w.missing(size, w.addressFault(o, lane, Misaligned, addr, "in local memory"))
	} else if data = w.local.bytes(lane, addr, size); data == nil {
		f := w.addressFault(o, lane, OutOfBounds, addr, w.localDetail())
		if w.overflowed(lane) {
			f.Kind = StackOverflow
			w.lost |= 1 << lane
		}
		data, err = w.missing(size, f)
	}
	return data, behind, err
}

// stackPointer is the register that CUDA's calling convention keeps the stack pointer in. The stack grows down from the
// end of a thread's local memory.
const stackPointer = 1

// overflowed reports whether a thread's stack pointer has left its local memory.
func (w *warp) overflowed(lane int) bool {
	return uint64(w.regs[stackPointer][lane]) > uint64(w.local.size)
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

package emu

// Cooperative groups call the device runtime (libcudadevrt) to synchronise a grid: cudaCGGetIntrinsicHandle and cudaCGSynchronize
// (cuda_device_runtime_api.h), which make the two system calls here.

// gridHandle is what cudaCGScopeGrid gives a cooperative launch; it only is not null, which says that the grid cannot be synchronised.
const gridHandle = 1

// A gridBarrier is where the threads of a cooperative launch wait for each other.
type gridBarrier struct {
	arrived    int
	generation int
	waiting    map[gridThread]int // generation in which a thread arrived
}

// A gridThread is a lane of a warp of a block.
type gridThread struct{ block, warp, lane int }

// callGridHandle is __cuda_syscall_CGS_get_intrinsic_handle(scope).
func callGridHandle(w *warp, _ *op, lane int) error {
	const scopeGrid = 1
	handle := uint32(0)
	if w.block.run.launch.Cooperative && w.regs[abiArgument][lane] == scopeGrid {
		handle = gridHandle
	}
	w.regs[abiResult][lane], w.regs[abiResult+1][lane] = handle, 0
	return nil
}

// callGridSync is __cuda_syscall_CGS_sync(handle, mode), when all have arrived.
func callGridSync(w *warp, _ *op, lane int) error {
	w.regs[abiResult][lane] = 0 // success
	return nil
}

// gridReady notes that a lane has arrived, and says whether all threads of the grid have.
func gridReady(w *warp, lane int) bool {
	r := w.block.run
	b, me := &r.grid, gridThread{w.block.number, w.id, lane}
	if arrived, waits := b.waiting[me]; waits {
		if arrived == b.generation {
			return false
		}
		delete(b.waiting, me)
		return true
	}
	w.block.domain.changes++
	if b.arrived++; b.arrived == r.blocks*r.launch.Block[0]*r.launch.Block[1]*r.launch.Block[2] {
		b.arrived = 0
		b.generation++
		return true
	}
	if b.waiting == nil {
		b.waiting = make(map[gridThread]int)
	}
	b.waiting[me] = b.generation
	return false
}

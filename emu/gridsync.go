package emu

import "fmt"

// Cooperative groups synchronise a grid in two ways: by the device runtime (libcudadevrt), cudaCGGetIntrinsicHandle and cudaCGSynchronize
// (cuda_device_runtime_api.h), which make the two system calls here; and by a word of memory that the driver provides, whose address the
// kernel reads in %envreg1 and %envreg2 (cooperative_groups/details/driver_abi.h).

// gridWorkspace is where a cooperative launch has that memory: its size, then the word that blocks count themselves in.
const (
	gridWorkspace     = heapEnd
	gridWorkspaceSize = 8
)

// openGrid gives a cooperative launch its memory, which is there until the function that it returns is called.
func (m *Machine) openGrid(l *Launch) (func(), error) {
	if !l.Cooperative {
		return func() {}, nil
	}
	b, err := newBuffer("the grid's workspace", gridWorkspace, gridWorkspaceSize)
	if err != nil {
		return nil, fmt.Errorf("the grid's workspace: %w", err)
	}
	bank(b.own).word(0, gridWorkspaceSize)
	m.memory.insert(b)
	return func() { m.memory.remove(b) }, nil
}

// gridHandle is what cudaCGScopeGrid gives a cooperative launch; it only is not null, which says that the grid cannot be synchronised.
const gridHandle = 1

// A gridBarrier is where the threads of a cooperative launch wait for each other. As at a barrier of a block, those that have exited are not
// waited for, as long as some of their block have not.
type gridBarrier struct {
	arrived    map[int]int // threads, by block, where some are missing
	blocks     int         // of which none is missing
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
	r, number := w.block.run, w.block.number
	b, me := &r.grid, gridThread{number, w.id, lane}
	arrived, waits := b.waiting[me]
	if waits && arrived != b.generation {
		delete(b.waiting, me)
		return true
	}
	if !waits {
		w.block.domain.changes++
		if b.waiting == nil {
			b.waiting, b.arrived = make(map[gridThread]int), make(map[int]int)
		}
		b.waiting[me] = b.generation
		b.arrived[number]++
	}
	if n, missing := b.arrived[number]; !missing || n < w.block.live { // the others may have exited since this one arrived
		return false
	}
	delete(b.arrived, number)
	if b.blocks++; b.blocks < r.blocks {
		return false
	}
	w.block.domain.changes++
	b.blocks = 0
	b.generation++
	delete(b.waiting, me)
	return true
}

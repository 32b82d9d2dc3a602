package emu

// A Recorder is told what blocks of its choice do, in launches with timing and without. It changes nothing.
type Recorder interface {
	// Begin is called once, before the first instruction.
	Begin(*LaunchFacts)
	// Block is called when a block begins and returns who is told of what it does, nil for nobody. Calls may come from several
	// goroutines at a time.
	Block(number, sharedBytes int) BlockRecorder
	// Stored is called with what a warp of a block, watched or not, stores to global memory, atomics included: size bytes at the address of each
	// lane of the mask. Calls may come from several goroutines at a time.
	Stored(block int, addr *[32]uint64, size int, lanes uint32)
}

// A BlockRecorder is told of what a block does, in the order in which its warps do it. All calls come from one goroutine at a
// time; those for other blocks may come at the same time.
type BlockRecorder interface {
	// Step is called when an instruction has taken effect. The step is valid during the call only.
	Step(*Step)
	// Arrive is called when lanes of a warp arrive at a CTA barrier, before the Step of the barrier, and Release when all for whom
	// the barrier waits have arrived.
	Arrive(*Arrival)
	Release(barrier int)
	// Done reports that the recorder wants to know no more of the block.
	Done() bool
}

// stepRecorded executes one instruction and tells the recorder.
func (w *warp) stepRecorded() error {
	o, active := w.next(), w.active
	live := uint32(0)
	if w.block.recorder != nil {
		live = w.state.Live()
	}
	if err := w.step(); err != nil {
		return err
	}
	if w.acc.kind != accessNone || w.block.recorder != nil {
		w.record(o, active, live)
	}
	return nil
}

// record tells the launch's recorder of the instruction that the warp has executed; active and live are its lanes before it.
func (w *warp) record(o *op, active, live uint32) {
	b, acc := w.block, &w.acc
	if acc.kind >= accessStore && acc.mask != 0 {
		w.recordStore(o)
	}
	if b.recorder == nil {
		return
	}
	b.step = Step{Block: b.number, Warp: w.id, Code: int(o.code), Inst: o.inst, Active: active, Live: live, Mask: w.mask, Spans: w.spans, warp: w, op: o}
	b.recorder.Step(&b.step)
	w.spans = w.spans[:0]
	if b.recorder.Done() {
		b.recorder = nil
	}
}

// recordStore tells the recorder of a store to global memory.
func (w *warp) recordStore(o *op) {
	acc := &w.acc
	lanes := acc.mask
	if s := (Step{Inst: o.inst, warp: w, op: o}); acc.space != spaceGlobal || s.generic() {
		for lane := range acc.addr {
			if lanes>>lane&1 != 0 {
				if space, _ := s.Lane(lane); space != Global {
					lanes &^= 1 << lane
				}
			}
		}
	}
	if lanes != 0 {
		w.block.run.launch.Recorder.Stored(w.block.number, &acc.addr, int(acc.size), lanes)
	}
}

package sass

// Control is the scheduling information in bits 105 to 125 of an instruction word: what the compiler tells the warp
// scheduler about dependences. The hardware checks nothing else (Jia et al. 2018; Huerta et al. 2025, section 3).
type Control struct {
	Stall        uint8 // cycles before the warp may issue its next instruction
	Yield        bool  // another warp is preferred in the next cycle
	WriteBarrier int8  // dependence counter released when the result is written, -1 for none
	ReadBarrier  int8  // dependence counter released when the operands have been read, -1 for none
	WaitMask     uint8 // bit i: wait until dependence counter i is zero before issuing
	Reuse        uint8 // bit i: operand slot i (A, B, C) is kept in the register-file cache
	opex         uint16
}

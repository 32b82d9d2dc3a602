package emu

import (
	"testing"

	"gpa/cubin/sass"
)

// TestProperties asks every opcode that is executed for what the instruction table says of it beside its forms, and holds that the two
// agree.
func TestProperties(t *testing.T) {
	for op := range sass.NumOps {
		if compilers[op] != nil && op.Properties().Class == sass.ClassUnknown {
			t.Errorf("%v is executed but has no latency class", op)
		}
	}
	for i := range sass.Forms() {
		checkForm(t, &sass.Forms()[i])
	}
}

func checkForm(t *testing.T, f *sass.Form) {
	t.Helper()
	if compilers[f.Op] == nil {
		return
	}
	p := f.Op.Properties()
	writes, address, target, special, constant := false, false, false, false, false
	for _, o := range f.Operands {
		register := o.Kind == sass.KindReg || o.Kind == sass.KindPred || o.Kind == sass.KindUReg || o.Kind == sass.KindUPred
		writes = writes || register && o.Access&sass.Writes != 0
		address = address || o.Kind == sass.KindMem
		target = target || o.Kind == sass.KindTarget
		special = special || o.Kind == sass.KindSReg
		constant = constant || o.Kind == sass.KindConst
	}
	memory := p.Accesses(^(sass.SpaceConstant | sass.SpaceTexture | sass.SpaceTensor))
	group := p.Async == sass.AsyncMatrix || p.Async == sass.AsyncTensor
	switch {
	case address && !p.Accesses(^sass.NoSpace) && p.Sync != sass.SyncMemory && f.Op != sass.QSPC && p.Async == sass.Synchronous:
		t.Errorf("%v %#03x has an address but accesses no memory", f.Op, f.Opcode)
	case memory && !address && !group && p.Class != sass.ClassTransfer:
		t.Errorf("%v %#03x accesses memory but has no address", f.Op, f.Opcode)
	case p.Reads&sass.SpaceConstant != 0 && !constant && !address:
		t.Errorf("%v %#03x loads constants but names none", f.Op, f.Opcode)
	case target && p.Flow == sass.FlowNext && p.Sync == sass.SyncNone && f.Op != sass.LEPC:
		t.Errorf("%v %#03x has a target but goes nowhere", f.Op, f.Opcode)
	case p.Redirects() && f.Pipe != sass.PipeCBU:
		t.Errorf("%v %#03x redirects but is no branch of the CBU", f.Op, f.Opcode)
	case special && p.Class != sass.ClassSpecial && p.Class != sass.ClassALU:
		t.Errorf("%v %#03x reads a special register and is of class %v", f.Op, f.Opcode, p.Class)
	case memory && p.Reads != sass.NoSpace && p.Writes == sass.NoSpace && !writes:
		t.Errorf("%v %#03x loads but writes no register", f.Op, f.Opcode)
	case !f.Variable && varies(p.Class) && f.Pipe != sass.PipeUniform && f.Pipe != sass.PipeXU && p.Sync == sass.SyncNone:
		t.Errorf("%v %#03x is of class %v, whose latency varies, but the form's does not", f.Op, f.Opcode, p.Class)
	case f.Variable && fixed(p.Class):
		t.Errorf("%v %#03x is of class %v, whose latency is fixed, but the form's is not", f.Op, f.Opcode, p.Class)
	}
}

// varies reports whether the latency of a class varies on all architectures, fixed whether it does on none.
func varies(c sass.LatencyClass) bool { return c >= sass.ClassMUFU && c <= sass.ClassTransfer }
func fixed(c sass.LatencyClass) bool {
	return c < sass.ClassMatrix && c != sass.ClassDouble
}

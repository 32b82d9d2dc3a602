package emu

import (
	"bytes"

	"gpa/cubin"
)

// A compiled program is kept for the next launch: programs launch the same kernel with the same arguments again and again, and making small
// ones ready takes longer than running them. Operands in constant banks are part of a program; 0 and 3 are those that differ between launches.
type compiled struct {
	kernel           *cubin.Kernel
	bank0, constants []byte
	program          *program
}

// programOf returns the program of a launch: that of the launch before where nothing differs that it is made of, or else a fresh one, which
// does not know yet where threads re-converge. Nothing changes a program once its launch runs; what a what-if run supposes does before.
func (m *Machine) programOf(l *Launch, banks [32][]byte) (p *program, fresh bool) {
	c := &m.compiled
	if l.WhatIf != nil {
		return compile(m.module, banks, m.gpu, m.relocated), true
	}
	if c.kernel != l.Kernel || !bytes.Equal(c.bank0, banks[0]) || !bytes.Equal(c.constants, banks[constantBank]) {
		fresh = true
		*c = compiled{l.Kernel, banks[0], bytes.Clone(banks[constantBank]), compile(m.module, banks, m.gpu, m.relocated)}
	}
	return c.program, fresh
}

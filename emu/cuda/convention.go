package cuda

import (
	"strings"

	"gpa/emu/cuda/wire"
)

// A convention is how C programs pass arguments. Integers, pointers and structures of at most 16 bytes, which have no floating-point numbers
// in what CUDA declares, fill the registers for arguments and then the stack, on every architecture; conventions differ in larger structures.
type convention struct {
	registers int  // for arguments
	copies    bool // the address of a copy is passed in place of a larger structure, and where one goes that is returned in a register of its own
}

// conventions are those of the architectures by their names in Go.
var conventions = map[string]convention{
	"amd64": {registers: 6},               // System V ABI, class MEMORY: on the stack, and the first argument is where one goes
	"arm64": {registers: 8, copies: true}, // AAPCS64, parameter passing, stage B, and result return
}

// structures puts the words of larger structures among the arguments, so that each letter of the function's has its own.
func (c *call) structures() Result {
	letters := c.function.args
	if !strings.ContainsAny(letters, "rs") {
		return Success
	}
	v, passed := c.server.calling, c.a
	register, stacked := 0, v.registers
	next := func() (word uint64) {
		place := &register
		if register == v.registers {
			place = &stacked
		}
		word = passed[*place]
		*place++
		return word
	}
	c.a = [wire.MaxArgs]uint64{}
	for i := 0; i < len(letters); i++ {
		switch {
		case letters[i] == 'r' && v.copies:
			c.a[i] = c.result
		case letters[i] != 's':
			c.a[i] = next()
		default:
			words := 1 + len(letters[i+1:]) - len(strings.TrimLeft(letters[i+1:], "."))
			if !v.copies {
				stacked += copy(c.a[i:i+words], passed[stacked:])
			} else if list, r := c.words(next(), words); r == Success {
				copy(c.a[i:], list)
			} else {
				return r
			}
			i += words - 1
		}
	}
	return Success
}

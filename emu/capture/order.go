package capture

import (
	"bytes"
	"context"
	"maps"
	"strconv"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/launch"
)

// What atomic operations leave in memory may depend on the order in which threads come to them: sums of floating-point numbers are rounded
// otherwise, and what is given out by a counter goes to others. A launch with timing has another order than one without, and each
// GPU has its own. An expectation to the bit would be wrong there.

const (
	// mostApart is the share of the largest of them that numbers may be apart which count as the same sum in another order.
	mostApart = 1. / 64
	// allowed is how many times as far apart they may be in a third order.
	allowed = 8
)

// Loosen runs a capture that ended well once more, with its threads in the opposite order, where its kernel has atomic operations on global
// memory. Buffers whose numbers are then a little different get a type and a tolerance. What is different otherwise is not expected
// any more; Loosen returns the names.
func (c *Capture) Loosen(ctx context.Context, o emu.Options) (unexpected []string, err error) {
	types, atomic := atomicsOf(c.Module, c.File.Launches[0].Kernel)
	if !atomic || len(c.source.Expect) == 0 {
		return nil, nil
	}
	s, err := c.session(ctx, o)
	if err != nil {
		return nil, err
	}
	if _, err := s.Vary(ctx, 0, launch.Variation{Backwards: true}); err != nil {
		return nil, ctx.Err() // it may wait for blocks before it, and depends on the order as a whole
	}
	kept := c.source.Expect[:0:0]
	changed := false
	for i, x := range c.source.Expect {
		_, want, got, err := s.Expected(&c.File.Expect[i])
		if err != nil {
			return nil, err
		}
		if bytes.Equal(got, want) {
			kept = append(kept, x)
			continue
		}
		changed = true
		if c.retype(&x, types, got, want) {
			kept = append(kept, x)
		} else {
			unexpected = append(unexpected, x.Name)
		}
	}
	if c.source.Expect = kept; !changed {
		return nil, nil
	}
	err = c.write()
	maps.DeleteFunc(c.files, func(name string, _ []byte) bool { return !bytes.Contains(c.Text, []byte(name)) }) // what it named before
	return unexpected, err
}

// session is the capture on a GPU of its own, without timing.
func (c *Capture) session(ctx context.Context, o emu.Options) (*launch.Session, error) {
	o.Timing, o.Memory, o.Stdout, o.Heap = emu.TimingNone, nil, nil, c.File.Heap
	machine, err := emu.New(c.Model, c.Module, o)
	if err != nil {
		return nil, err
	}
	return launch.NewSession(ctx, c.File, machine)
}

// retype makes a buffer one of numbers, of a type of the kernel's atomic operations, with a tolerance as the order of threads asks for, if there is
// such a type.
func (c *Capture) retype(x *launch.Expectation, types []launch.Elem, got, want []byte) bool {
	b := c.buffer(x.Name)
	if b == nil {
		return false
	}
	for _, e := range types {
		difference, largest, ok := e.Apart(got, want)
		if !ok || difference > mostApart*largest {
			continue
		}
		if b.Init.Kind == launch.InitFile {
			before, err := launch.ReadNpy(c.files[b.Init.File])
			if err != nil {
				return false
			}
			b.Init.File = c.files.array(e, before.Data)
		}
		b.Type, b.Shape = e, []int{len(want) / e.Size()}
		x.File, x.Atol = c.files.array(e, want), upTo(allowed*difference)
		return true
	}
	return false
}

// buffer is a buffer of the launch file by name, nil for a symbol.
func (c *Capture) buffer(name string) *launch.Buffer {
	for i := range c.source.Buffers {
		if b := &c.source.Buffers[i]; b.Name == name {
			return b
		}
	}
	return nil
}

// upTo is a number of two digits that is not smaller, and not much larger.
func upTo(v float64) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(1.1*v, 'e', 1, 64), 64) // what FormatFloat writes can be read
	return rounded
}

// sums are the types of floating point that atomic operations have.
var sums = map[uint16]launch.Elem{
	sass.TypeF32: launch.F32, sass.TypeF32RN: launch.F32, sass.TypeF64: launch.F64, sass.TypeF16x2: launch.F16, sass.TypeBF16x2: launch.BF16,
}

// atomicsOf tells whether a kernel, or a function that it may call, has atomic operations on memory that other blocks see, and of which
// types of floating point. A loop around a compare-and-swap may sum up what is as wide.
func atomicsOf(module *cubin.File, kernel string) (types []launch.Elem, atomic bool) {
	k, err := module.Kernel(kernel)
	if err != nil {
		return nil, false
	}
	found := make(map[launch.Elem]bool)
	others := make(map[*cubin.Code]bool)
	for _, other := range module.Kernels {
		others[other.Code] = other.Code != k.Code
	}
	for _, code := range module.Codes {
		if others[code] {
			continue
		}
		for i := range code.Insts {
			in := &code.Insts[i]
			if !in.Known() || !in.Op.Properties().Atomic(sass.SpaceGlobal|sass.SpaceGeneric) {
				continue
			}
			atomic = true
			e, ok := sums[in.Mod(sass.AtomType)]
			if op := in.Mod(sass.AtomOp); op == sass.AtomCAS || op == sass.AtomCASTSPIN {
				e, ok = launch.F32, true
				if t := in.Mod(sass.AtomType); t == sass.TypeU64 || t == sass.TypeS64 {
					e = launch.F64
				}
			}
			if ok {
				found[e] = true
			}
		}
	}
	for _, e := range []launch.Elem{launch.F32, launch.F64, launch.F16, launch.BF16} {
		if found[e] {
			types = append(types, e)
		}
	}
	return types, atomic
}

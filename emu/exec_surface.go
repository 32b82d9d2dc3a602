package emu

import (
	"fmt"
	"math/bits"

	"gpa/cubin/sass"
)

// surfaceCompilers are loads and stores of surfaces whose coordinate x counts bytes (PTX ISA, suld.b and sust.b).
var surfaceCompilers = map[sass.Op]compiler{
	sass.SULD: compileSurface,
	sass.SUST: compileSurface,
}

// A surfaceAccess is an access to a surface made ready. In its op a is the first register of the coordinates, b the data of a store, mode
// the size.
type surfaceAccess struct {
	object
	dimensions int // coordinates beside that of the layer
	layered    bool
	outside    uint16 // what an access outside is, as sass.SurfClamp has it
	store      bool
}

// What sass.SurfClamp says of an access outside the surface.
const (
	surfaceIgnores uint16 = iota // a load is 0, a store is lost
	surfaceClamps
	surfaceTraps
)

// surfaceShapes are the dimensions by the value of sass.SurfDim.
var surfaceShapes = [...]surfaceAccess{{dimensions: 1}, {dimensions: 1}, {dimensions: 1, layered: true}, {dimensions: 2}, {dimensions: 2, layered: true}, {dimensions: 3}}

func compileSurface(p *program, o *op) (err error) {
	in := o.inst
	at, dim := findOperand(in, sass.KindMem), in.Mod(sass.SurfDim)
	if o.mode = in.Mod(sass.Size); in.Mod(sass.SurfRaw) == 0 || in.Mod(sass.SurfBA) == 0 || at < 0 || int(dim) >= len(surfaceShapes) || int(o.mode) >= len(sizes) || o.mode == sass.Size256 {
		return unsupported(o)
	}
	a := surfaceShapes[dim]
	a.outside, a.store = in.Mod(sass.SurfClamp), in.Op == sass.SUST
	address := &in.Operands[at]
	if o.a, err = p.source(&sass.Operand{Kind: sass.KindReg, Reg: address.Reg, Width: address.Width}, rawValue); err != nil {
		return err
	}
	o.dst = sinkRegister
	if a.store {
		o.b, err = p.source(&in.Operands[at+1], rawValue)
	} else {
		o.dst = p.dest(&in.Operands[at-1])
		o.pd = destPredicate(&in.Operands[0])
	}
	if err != nil {
		return err
	}
	o.run = a.run
	if header := &in.Operands[len(in.Operands)-1]; header.Kind == sass.KindReg {
		o.c, err = p.source(header, rawValue)
		return err
	}
	return a.resolve(p, o)
}

// surface returns the surface that a lane accesses.
func (a *surfaceAccess) surface(w *warp, o *op, lane int) (*header, error) {
	handle := a.handle
	if !a.known {
		handle = w.raw(&o.c)[lane]
	}
	i := w.block.run.machine.objects.image(handle)
	switch {
	case i == nil:
		return nil, w.fault(o, lane, InvalidObject, fmt.Sprintf("%#x is no handle of a surface object", handle))
	case !i.surface:
		return nil, w.fault(o, lane, InvalidObject, fmt.Sprintf("%#x is the handle of a texture object, not of a surface", handle))
	case a.layered != (i.Layers > 0) || a.dimensions != i.dimensions():
		return nil, w.fault(o, lane, InvalidObject, fmt.Sprintf("the surface has %d dimensions and %d layers", i.dimensions(), i.Layers))
	}
	if n := w.block.run.launch.Snapshot; n != nil {
		n.objects[handle] = Object{Image: i.Image}
	}
	return i, nil
}

func (a *surfaceAccess) run(w *warp, o *op) error {
	acc, size := &w.acc, int(sizes[o.mode].bytes)
	acc.space, acc.size, acc.mask = spaceGlobal, uint8(size), 0
	var zeros [16]byte
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		i, err := a.surface(w, o, lane)
		if err != nil {
			return err
		}
		addr, inside, err := a.address(w, o, lane, i, int64(size))
		if err != nil {
			return err
		}
		if !inside {
			if !a.store {
				w.take(o, lane, zeros[:size])
			}
			continue
		}
		acc.addr[lane] = addr
		acc.mask |= 1 << lane
		if err = a.access(w, o, lane, addr, size); err != nil {
			return err
		}
	}
	switch {
	case acc.mask == 0:
	case a.store:
		acc.kind = accessStore
		w.block.domain.changes++
	default:
		acc.kind = accessLoad
	}
	w.set(o.pd, 0) // no texel is missing
	return nil
}

// access loads or stores the bytes of a lane.
func (a *surfaceAccess) access(w *warp, o *op, lane int, addr uint64, size int) error {
	d := w.block.domain
	if !a.store {
		from, err := w.global(o, lane, addr, size)
		if err == nil {
			if d.ahead && !d.stores.empty() {
				from = d.stores.read(addr, from)
			}
			w.take(o, lane, from)
		}
		return err
	}
	to, err := w.stored(o, lane, addr, size)
	if err != nil {
		return err
	}
	if d.ahead {
		to = d.stores.at(d.last, addr, uint64(size))
	}
	w.give(o, lane, to)
	return nil
}

// address returns where a lane's access is. The coordinate x, of bytes, is a multiple of the size.
func (a *surfaceAccess) address(w *warp, o *op, lane int, i *header, size int64) (addr uint64, inside bool, err error) {
	coordinate := func(k int) int64 { return int64(int32(w.word(&o.a, k)[lane])) }
	x := coordinate(0)
	if x%size != 0 {
		return 0, false, w.addressFault(o, lane, Misaligned, uint64(x), "of bytes in a row of a surface")
	}
	limits := [4]int64{int64(i.Size[0]*i.TexelBytes()) - size + 1, int64(i.Size[1]), int64(i.Size[2]), int64(i.Layers)}
	c := [4]int64{x}
	for k := 1; k < a.dimensions; k++ {
		c[k] = coordinate(k)
	}
	if a.layered {
		c[3] = coordinate(a.dimensions)
	}
	inside = true
	for k, limit := range limits {
		switch {
		case k > 0 && limit == 0, c[k] >= 0 && c[k] < limit:
		case a.outside == surfaceClamps:
			c[k] = min(max(c[k], 0), limit-1)
		case a.outside == surfaceTraps:
			what := [4]string{"byte", "row", "plane", "layer"}[k]
			return 0, false, w.fault(o, lane, OutOfBounds, fmt.Sprintf("%s %d of a surface of %v texels of %d bytes and %d layers", what, c[k], i.Size, i.TexelBytes(), i.Layers))
		default:
			inside = false
		}
	}
	return i.Address + uint64(c[0]) + uint64(c[1])*i.Pitch + uint64(c[2]+c[3])*i.Slice, inside, nil
}

package emu

import (
	"fmt"
	"math"
	"math/bits"

	"gpa/cubin/sass"
)

// textureCompilers are the texture fetches (PTX ISA, tex, tld4 and txq; CUDA C++ Programming Guide, texture fetching).
var textureCompilers = map[sass.Op]compiler{
	sass.TEX:  compileFetch,
	sass.TLD:  compileFetch,
	sass.TLD4: compileFetch,
	sass.TXD:  compileFetch,
	sass.TXQ:  compileFetch,
}

// A fetch is a texture instruction made ready.
type fetch struct {
	object
	words      [sass.FetchDerivative + 1]operandWord // of derivatives the first
	offsets    bool
	dimensions int // coordinates beside that of the layer
	layered    bool
	cube       bool
	integers   bool // coordinates count texels
	channel    int  // that is gathered
	detail     detail
	components uint64
	dst        [4]int // rows of the results, by component; -1 for none
}

// A detail is where a fetch has its level of detail from.
type detail uint8

const (
	detailNone  detail = iota // the first level
	detailLevel               // a word of its operands
	detailSlope               // derivatives
	detailOther               // what is only known of textures without mipmaps: differences between the coordinates of lanes
)

// detailOf returns the detail of an instruction.
func detailOf(in *sass.Inst) detail {
	const zero, level = 1, 3
	switch {
	case in.Op == sass.TXD:
		return detailSlope
	case in.Op == sass.TLD, in.Op == sass.TLD4, in.Mod(sass.TexLevel) == zero:
		return detailNone
	case in.Op == sass.TXQ, in.Mod(sass.TexLevel) == level:
		return detailLevel
	}
	return detailOther
}

// An operandWord is a register of the operands A and B of an instruction.
type operandWord struct {
	inB bool
	k   int
}

// An object is where an instruction has the handle of a texture or a surface: known when the program is made ready, or in registers.
type object struct {
	handle uint32
	known  bool
	among  bool // the words of the operands A and B
}

func compileFetch(p *program, o *op) error {
	in := o.inst
	for _, m := range []sass.ModKind{sass.TexF16, sass.TexDC, sass.TexMS, sass.TexPTP} {
		if in.Mod(m) != 0 {
			return unsupported(o)
		}
	}
	if in.Op == sass.TLD && in.Mod(sass.TexLevel) == 3 && in.Mod(sass.TexCL) == 0 {
		return unsupported(o) // a level that there is not
	}
	f := &fetch{components: in.FetchComponents(), integers: in.Op == sass.TLD, channel: int(in.Mod(sass.TexChannel)), detail: detailOf(in)}
	if in.Op == sass.TXQ {
		if in.Operands[3].Imm != 0 {
			return unsupported(o)
		}
		f.components &= 0xf
		o.run = f.query
	} else {
		f.shape(in.FetchDimensions())
		o.run = f.run
		if in.Op == sass.TLD4 {
			o.run = f.gather
		}
	}
	words, inA := in.FetchWords()
	for k, word := range words {
		if word == sass.FetchDerivative && k > inA {
			continue
		}
		f.words[word] = operandWord{k >= inA, k}
		if k >= inA {
			f.words[word].k -= inA
		}
		f.offsets = f.offsets || word == sass.FetchOffset
	}
	return f.operands(p, o)
}

// shape takes the dimensions of the texture apart.
func (f *fetch) shape(dimensions uint64) {
	f.layered = dimensions >= sass.TexArray1D
	f.cube = dimensions == sass.TexCube || dimensions == sass.TexArrayCube
	switch dimensions {
	case sass.Tex1D, sass.TexArray1D:
		f.dimensions = 1
	case sass.Tex2D, sass.TexArray2D:
		f.dimensions = 2
	default:
		f.dimensions = 3
	}
}

// operands resolves the registers. Those of the results are behind a predicate that tells of texels that are not in memory, where there is one.
func (f *fetch) operands(p *program, o *op) (err error) {
	in := o.inst
	results := in.Operands
	if results[0].Kind == sass.KindPred {
		o.pd = destPredicate(&results[0])
		results = results[1:]
	}
	upper, lower := &results[0], &results[1]
	o.dst = p.dest(lower)
	p.dest(upper)
	n := 0
	for c := range f.dst {
		f.dst[c] = -1
		if f.components>>c&1 == 0 {
			continue
		}
		to := lower
		if n >= 2 {
			to = upper
		}
		if to.Reg != sass.RZ {
			f.dst[c] = int(to.Reg) + n&1
		}
		n++
	}
	if o.a, err = p.source(&results[2], rawValue); err != nil {
		return err
	}
	o.b = source{value: &zeroLanes, high: &zeroLanes}
	if in.Op != sass.TXQ {
		if o.b, err = p.source(&results[3], rawValue); err != nil {
			return err
		}
	}
	return f.object.resolve(p, o)
}

// resolve finds the handle: a word of a constant bank, in a uniform register, which is the op's c, or in registers of another operand. A
// uniform register would name a bank where the word in it is not 0.
func (b *object) resolve(p *program, o *op) (err error) {
	in := o.inst
	for i := range in.Operands {
		if in.Form.Operands[i].Name != "bank" {
			continue
		}
		word := in.Operands[i+1].Imm
		if bank := &in.Operands[i]; bank.Kind == sass.KindUReg {
			if word != 0 {
				return unsupported(o)
			}
			o.c, err = p.source(bank, rawValue)
			return err
		}
		b.known = true
		b.handle, _, err = p.bankWords(uint8(in.Operands[i].Imm), uint32(4*word))
		return err
	}
	b.among = true
	return nil
}

// word returns the value of a register of the operands in a lane.
func (f *fetch) word(w *warp, o *op, word sass.FetchWord, lane int) uint32 {
	at := f.words[word]
	if at.inB {
		return w.word(&o.b, at.k)[lane]
	}
	return w.word(&o.a, at.k)[lane]
}

// handleOf returns the handle in a lane.
func (f *fetch) handleOf(w *warp, o *op, lane int) uint32 {
	switch {
	case f.known:
		return f.handle
	case f.among:
		return f.word(w, o, sass.FetchHandle, lane)
	}
	return w.raw(&o.c)[lane]
}

// texture returns the texture that a handle names and its sampler.
func (f *fetch) texture(w *warp, o *op, lane int) (*header, *Sampler, error) {
	handle := f.handleOf(w, o, lane)
	h := w.block.run.machine.objects
	i, s := h.image(handle), h.samplerOf(handle)
	switch {
	case i == nil || i.texture && s == nil:
		return nil, nil, w.fault(o, lane, InvalidObject, fmt.Sprintf("%#x is no handle of a texture object", handle))
	case !i.texture:
		return nil, nil, w.fault(o, lane, InvalidObject, fmt.Sprintf("%#x is the handle of a surface object, not of a texture", handle))
	}
	if n := w.block.run.launch.Snapshot; n != nil {
		n.objects[handle] = Object{Image: i.Image, Mipmaps: i.mipmaps, Sampler: s}
	}
	return i, s, nil
}

// fits reports why the instruction cannot fetch from an image. Compilers fetch from textures of one dimension as from the first row of one
// with two.
func (f *fetch) fits(i *header) error {
	n := f.dimensions
	if f.cube {
		n = 2
	}
	switch have := i.dimensions(); {
	case f.cube != i.Cube, f.layered != (i.Layers > 0) && !f.cube, f.cube && f.layered != (i.Layers > 6), have != n && !(have == 1 && n == 2 && !f.cube):
		what := ""
		if i.Layers > 0 {
			what = fmt.Sprintf(" and %d layers", i.Layers)
		}
		if i.Cube {
			what += " of cubes"
		}
		return fmt.Errorf("the texture has %d dimensions%s", have, what)
	}
	return nil
}

// each calls visit for each lane, with its texture.
func (f *fetch) each(w *warp, o *op, visit func(lane int, i *header, s *Sampler) error) error {
	var last uint32
	var i *header
	var s *Sampler
	for m := w.mask; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		if handle := f.handleOf(w, o, lane); i == nil || handle != last {
			var err error
			if i, s, err = f.texture(w, o, lane); err != nil {
				return err
			}
			if err = f.fits(i); o.inst.Op != sass.TXQ && err != nil {
				return w.fault(o, lane, InvalidObject, err.Error())
			}
			last = handle
		}
		if err := visit(lane, i, s); err != nil {
			return err
		}
	}
	w.set(o.pd, 0) // no texel is missing
	w.touched(o)
	return nil
}

// put writes the components that are asked for.
func (f *fetch) put(w *warp, lane int, channels [4]uint32) {
	for c, row := range f.dst {
		if row >= 0 {
			w.regs[row][lane] = channels[c]
		}
	}
}

// query is TXQ: width, height, depth or layers of a level, and the number of levels.
func (f *fetch) query(w *warp, o *op) error {
	return f.each(w, o, func(lane int, i *header, _ *Sampler) error {
		n := f.word(w, o, sass.FetchLevel, lane)
		if int64(n) >= int64(i.levels()) {
			f.put(w, lane, [4]uint32{3: uint32(i.levels())})
			return nil
		}
		m := i.level(int(n))
		layers := m.Layers
		if m.Cube {
			layers /= 6
		}
		f.put(w, lane, [4]uint32{uint32(m.Size[0]), uint32(max(m.Size[1], 1)), uint32(max(m.Size[2], layers, 1)), uint32(i.levels())})
		return nil
	})
}

// run is TEX, TLD and TXD.
func (f *fetch) run(w *warp, o *op) error {
	return f.each(w, o, func(lane int, i *header, s *Sampler) error {
		n, share, err := f.level(w, o, lane, i, s)
		if err != nil {
			return err
		}
		channels, err := f.sample(w, o, lane, i.level(n), s, 0)
		if err == nil && share > 0 {
			var next [4]uint32
			next, err = f.sample(w, o, lane, i.level(n+1), s, nextLevel)
			for c := range channels {
				a, b := float64(math.Float32frombits(channels[c])), float64(math.Float32frombits(next[c]))
				channels[c] = math.Float32bits(float32(a + share*(b-a)))
			}
		}
		f.put(w, lane, channels)
		return err
	})
}

// level returns the level of detail that a lane fetches from, and how much of the next there is in the result, in 256ths as filters have them
// (CUDA driver API, cuTexObjectCreate; PTX ISA, tex).
func (f *fetch) level(w *warp, o *op, lane int, i *header, s *Sampler) (n int, share float64, err error) {
	if len(i.mipmaps) == 0 {
		return 0, 0, nil
	}
	detail := 0.0
	switch f.detail {
	case detailLevel:
		detail = float64(math.Float32frombits(f.word(w, o, sass.FetchLevel, lane)))
	case detailSlope:
		detail = f.slope(w, o, lane, i)
	case detailOther:
		return 0, 0, w.fault(o, lane, Unsupported, "a level of detail of a texture with mipmaps from the coordinates of neighbouring lanes")
	}
	m := &s.Mipmaps
	detail = min(max(detail+float64(m.Bias), float64(m.Least)), float64(m.Most))
	detail = min(max(detail, 0), float64(len(i.mipmaps)))
	if math.IsNaN(detail) {
		detail = 0
	}
	if !m.Linear {
		return int(math.Floor(detail + 0.5)), 0, nil
	}
	n = int(detail)
	return n, math.Round((detail-float64(n))*256) / 256, nil
}

// slope returns the level of detail of derivatives: the logarithm of how many texels the longer of the two steps goes. The operands have
// of each coordinate the derivative by x, then that by y.
func (f *fetch) slope(w *warp, o *op, lane int, i *header) float64 {
	var steps [2]float64 // squared
	at := f.words[sass.FetchDerivative].k
	for k := range f.dimensions {
		for by := range steps {
			d := float64(math.Float32frombits(w.word(&o.b, at+2*k+by)[lane])) * float64(max(i.Size[k], 1))
			steps[by] += d * d
		}
	}
	return math.Log2(math.Sqrt(max(steps[0], steps[1])))
}

// A footprint is the texels of a fetch: in each dimension the first, and how much of the second there is in the result.
type footprint struct {
	first [3]int64
	share [3]float64
	layer int64
}

// footprint finds the texels that a lane fetches. linear asks for those between which there is filtering.
func (f *fetch) footprint(w *warp, o *op, lane int, i *Image, s *Sampler, linear bool) (p footprint) {
	var c [3]float64
	n := f.dimensions
	for k := range n {
		v := f.word(w, o, sass.FetchX+sass.FetchWord(k), lane)
		if f.integers {
			p.first[k] = int64(int32(v))
			continue
		}
		c[k] = coordinate(v)
	}
	face := int64(0)
	if f.cube {
		face, c[0], c[1] = faceOf(c[0], c[1], c[2])
	}
	for k := range i.dimensions() {
		if f.integers {
			break
		}
		v := c[k]
		if s.Normalized {
			v *= float64(i.Size[k])
		}
		if linear {
			v -= 0.5
		}
		at := math.Floor(min(max(v, -mostTexels), mostTexels))
		p.first[k] = int64(at)
		if linear {
			p.share[k] = math.Round((v-at)*256) / 256
		}
	}
	if f.offsets {
		v := f.word(w, o, sass.FetchOffset, lane)
		for k := range i.dimensions() {
			p.first[k] += int64(int32(v<<(28-4*k)) >> 28)
		}
	}
	number := uint32(0)
	if f.layered {
		number = f.word(w, o, sass.FetchLayer, lane) & 0xffff
	}
	p.layer = i.layer(number, face)
	return p
}

// mostTexels bounds coordinates, which lie outside any texture there.
const mostTexels = 1 << 40

// coordinate reads a coordinate. One that is no number is 0.
func coordinate(v uint32) float64 {
	c := float64(math.Float32frombits(v))
	if math.IsNaN(c) {
		return 0
	}
	return min(max(c, -mostTexels), mostTexels)
}

// sample is a fetch: a texel, or the mean of two to eight with weights of which 8 bits are behind the point.
// from is the corner that the first of its texels counts as.
func (f *fetch) sample(w *warp, o *op, lane int, i *Image, s *Sampler, from int) (channels [4]uint32, err error) {
	linear := s.Linear && !f.integers
	p := f.footprint(w, o, lane, i, s, linear)
	if !linear {
		return f.texel(w, o, lane, i, s, &p, from)
	}
	var sum [4]float64
	for corner := range 1 << i.dimensions() {
		weight := 1.0
		for k := range i.dimensions() {
			if corner>>k&1 != 0 {
				weight *= p.share[k]
			} else {
				weight *= 1 - p.share[k]
			}
		}
		if weight == 0 {
			continue
		}
		texel, err := f.texel(w, o, lane, i, s, &p, from+corner)
		if err != nil {
			return channels, err
		}
		for c := range sum {
			sum[c] += weight * float64(math.Float32frombits(texel[c]))
		}
	}
	for c := range sum {
		channels[c] = math.Float32bits(float32(sum[c]))
	}
	return channels, nil
}

// texel reads the texel at a corner of a footprint: of the second texel of each dimension whose bit is set.
func (f *fetch) texel(w *warp, o *op, lane int, i *Image, s *Sampler, p *footprint, corner int) (channels [4]uint32, err error) {
	at := texelPlace{layer: p.layer}
	for k := range i.dimensions() {
		mode, inside := s.Address[k], false
		switch {
		case f.integers:
			mode = AddressBorder
		case f.cube:
			mode = AddressClamp
		}
		if at.at[k], inside = mode.wrapped(p.first[k]+int64(corner>>k&1), int64(i.Size[k])); !inside {
			if f.integers {
				return channels, nil
			}
			return s.border(), nil
		}
	}
	addr, size := i.address(at), i.TexelBytes()
	from, err := w.global(o, lane, addr, size)
	if err != nil {
		return channels, err
	}
	if d := w.block.domain; d.ahead && !d.stores.empty() {
		from = d.stores.read(addr, from)
	}
	w.texels.add(corner, lane, size, addr)
	return i.decode(from, s), nil
}

// gather is TLD4: one component of the four texels between which there would be filtering, from the lower left one to the right and up
// (PTX ISA, tld4).
func (f *fetch) gather(w *warp, o *op) error {
	return f.each(w, o, func(lane int, i *header, s *Sampler) error {
		p := f.footprint(w, o, lane, &i.Image, s, true)
		var channels [4]uint32
		for k, corner := range [4]int{2, 3, 1, 0} {
			texel, err := f.texel(w, o, lane, &i.Image, s, &p, corner)
			if err != nil {
				return err
			}
			channels[k] = texel[f.channel]
		}
		f.put(w, lane, channels)
		return nil
	})
}

// nextLevel is added to the corners of the second of two levels of detail.
const nextLevel = 8

// A texels is what a fetch has touched: of each corner of the footprints, the lanes and their addresses.
type texels struct {
	n       int // corners up to the last that was touched
	size    int
	corners [2 * nextLevel]touchedTexels
}

type touchedTexels struct {
	mask uint32
	addr [32]uint64
}

// add notes that a lane has read a texel.
func (t *texels) add(corner, lane, size int, addr uint64) {
	for ; t.n <= corner; t.n++ {
		t.corners[t.n].mask = 0
	}
	c := &t.corners[corner]
	c.mask |= 1 << lane
	c.addr[lane] = addr
	t.size = size
}

// touched makes the first corner that was touched the warp's access, and tells of the others.
func (w *warp) touched(o *op) {
	t := &w.texels
	for k := range t.n {
		c := &t.corners[k]
		if c.mask == 0 {
			continue
		}
		if acc := &w.acc; acc.kind == accessNone {
			acc.kind, acc.space, acc.size, acc.mask, acc.addr = accessLoad, spaceGlobal, uint8(t.size), c.mask, c.addr
			continue
		}
		for m := c.mask; m != 0; m &= m - 1 {
			w.accessed(Span{Kind: Load, Space: Global, Addr: c.addr[bits.TrailingZeros32(m)], Size: t.size})
		}
	}
}

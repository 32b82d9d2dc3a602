package sass

import "math/rand"

// RandomWords returns n words of every form of an architecture: modifiers and selectors are legal, operands and the bits that
// mean nothing random. Control fields are plain.
func RandomWords(arch Arch, r *rand.Rand, n int) []Word {
	var words []Word
	for i := range Forms() {
		if f := &Forms()[i]; f.Archs&arch.bit() != 0 {
			words = append(words, f.RandomWords(r, n)...)
		}
	}
	return words
}

// RandomWords returns n words of the row.
func (f *Form) RandomWords(r *rand.Rand, n int) []Word {
	words := make([]Word, n)
	for i := range words {
		words[i] = f.random(r)
	}
	return words
}

func (f *Form) random(r *rand.Rand) Word {
	w := randomBits(r)
	if r.Intn(3) == 0 {
		w = w.andNot(f.mask)
	}
	w = w.with(opcodeAt, uint64(f.Opcode))
	if r.Intn(2) == 0 {
		w = w.with(guardAt, PT)
	}
	for k := range f.Mods {
		w = f.Mods[k].put(w, f.Mods[k].names.random(r))
	}
	for k := range f.Operands {
		s := &f.Operands[k]
		if s.Sel != nil {
			w = s.Sel.put(w, s.Sel.names.random(r))
		}
		if s.Format.isFloat() && r.Intn(2) == 0 {
			w = w.with(s.Bits, specialFloats[r.Intn(len(specialFloats))])
		}
	}
	plain := Word{}.with(stallAt, uint64(1+r.Intn(11))).with(noYieldAt, 1).with(writeAt, noCounter).with(readAt, noCounter)
	w = w.andNot(controlMask).or(plain)
	w.Hi &^= 3 << (102 - 64) // these tag an instruction for the profiler on sm_86 and later
	if f.bound {
		w = w.withBit(uniformBit, false)
	}
	w.Hi &^= 3 << 62
	return w
}

// randomBits returns a word with many or few bits set, sometimes with the constant registers.
func randomBits(r *rand.Rand) Word {
	w := Word{r.Uint64(), r.Uint64()}
	if r.Intn(2) == 0 {
		w = w.and(Word{r.Uint64() & r.Uint64(), r.Uint64() & r.Uint64()})
	}
	if r.Intn(3) == 0 {
		w = w.or(Word{RZ<<16 | RZ<<24, RZ})
	}
	return w
}

// random returns a legal code.
func (e *enum) random(r *rand.Rand) uint64 {
	for {
		c := r.Intn(len(e.text))
		if e.text[c] != bad {
			return uint64(c)
		}
	}
}

// specialFloats are the bits of immediates that print in an unusual way in some format.
var specialFloats = []uint64{
	0, 0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x4e6e6b27, 0x4e6e6b28, 0x4cbebc20, 0x3eaaaaab,
	0x7ff00000, 0x7ff80000, 0xfff00001, 0x41cdcd65, 0x00000001, 0x3c003c00, 0x7c00fc00, 0x80007e00, 0x0001fe00,
}

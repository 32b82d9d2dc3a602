package sass

// A FetchWord is what one register of a texture instruction's operands holds.
type FetchWord uint8

// The words.
const (
	FetchX FetchWord = iota
	FetchY
	FetchZ
	FetchLayer
	FetchHandle   // of the texture and its sampler
	FetchLevel    // of detail: itself, a bias, or the least
	FetchOffset   // four bits a dimension, in texels
	FetchCompared // with depths
	FetchSample
	FetchDerivative
)

// Dimensions of textures, as texture instructions name them.
const (
	Tex1D uint64 = iota
	Tex2D
	Tex3D
	TexCube
	TexArray1D
	TexArray2D
	_
	TexArrayCube
)

// dimensionsAt is the dimensions of the texture that an instruction fetches from.
var dimensionsAt = Bits{61, 3}

// FetchDimensions returns the dimensions of the texture that the instruction fetches from.
func (i *Inst) FetchDimensions() uint64 { return i.Word.bits(dimensionsAt) }

// FetchComponents returns the components that a texture instruction returns, red in the lowest bit.
func (i *Inst) FetchComponents() uint64 { return i.Word.bits(componentsAt) }

// FetchWords returns what the registers of the operands A and B of a texture instruction hold, one after the other; the first inA of them
// are A's. Known from the code that ptxas makes of every kind of fetch of PTX, of which each coordinate was a parameter of its own: with .SCR
// each of the two operands has half of the words, without it the coordinates are in A and what else there is in B.
func (i *Inst) FetchWords() (words []FetchWord, inA int) {
	if i.Op == TXQ {
		words = append(i.fetchHandle(words), FetchLevel)
		return words, len(words)
	}
	if i.Op == TXD { // the layer comes last
		words = i.fetchCoordinates(i.fetchHandle(words))
		if n := i.FetchDimensions(); n >= TexArray1D {
			words = append(words, FetchLayer)
		}
		inA = len(words)
		for range 2 * (1 + i.FetchDimensions()&1) {
			words = append(words, FetchDerivative)
		}
		return words, inA
	}
	if i.FetchDimensions() >= TexArray1D {
		words = append(words, FetchLayer)
	}
	words = i.fetchCoordinates(words)
	inA = len(words)
	words = i.fetchHandle(words)
	words = i.fetchOptions(words)
	if i.Mod(TexSCR) != 0 {
		inA = (len(words) + 1) / 2
	}
	return words, inA
}

// fetchCoordinates adds the coordinates.
func (i *Inst) fetchCoordinates(words []FetchWord) []FetchWord {
	counts := [8]int{1, 2, 3, 3, 1, 2, 0, 3}
	for k := range counts[i.FetchDimensions()] {
		words = append(words, FetchX+FetchWord(k))
	}
	return words
}

// fetchHandle adds the handle, where it lies in an operand of its own kind.
func (i *Inst) fetchHandle(words []FetchWord) []FetchWord {
	if i.Form.bank() < 0 {
		words = append(words, FetchHandle)
	}
	return words
}

// fetchOptions adds what else there may be.
func (i *Inst) fetchOptions(words []FetchWord) []FetchWord {
	levels := [8]int{0, 0, 1, 1, 1, 2, 1} // by TexLevel
	n := 0
	if i.Op == TEX || i.Op == TLD && i.Mod(TexLevel) != 1 {
		n = levels[i.Mod(TexLevel)&7]
	}
	for range n {
		words = append(words, FetchLevel)
	}
	for _, option := range []struct {
		kind ModKind
		word FetchWord
	}{{TexMS, FetchSample}, {TexAOFFI, FetchOffset}, {TexPTP, FetchOffset}, {TexPTP, FetchOffset}, {TexDC, FetchCompared}} {
		if i.Mod(option.kind) != 0 {
			words = append(words, option.word)
		}
	}
	return words
}

// surfaceWords returns the registers of the coordinates of a surface access, by SurfDim.
func surfaceWords(dim uint16) uint8 { return [8]uint8{1, 1, 2, 2, 3, 3, 1, 1}[dim&7] }

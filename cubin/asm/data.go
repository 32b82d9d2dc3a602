package asm

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// A data is a variable of the module.
type data struct {
	name     string
	constant bool
	size     int // without contents
	align    int
	bytes    []byte
}

func beginGlobal(a *assembler, g *args) error   { return a.beginData(g, false) }
func beginConstant(a *assembler, g *args) error { return a.beginData(g, true) }

// maxData bounds the memory that a file of text can ask for.
const maxData = 1 << 30

// beginData begins a variable: .global NAME, SIZE of zeros, or .global NAME and data behind it.
func (a *assembler) beginData(g *args, constant bool) error {
	if a.exact != nil {
		return a.errorAt(g.pos, "variables and .section do not go together in a file")
	}
	name, err := g.newSymbol("the name of a variable")
	if err != nil {
		return err
	}
	d := &data{name: name, constant: constant, align: 8}
	if g.accept(','); !g.done() {
		if d.size, err = g.count("a number of bytes", maxData); err != nil {
			return err
		}
	}
	if g.accept(',') {
		if d.align, err = g.count("an alignment", 256); err != nil {
			return err
		}
		if d.align == 0 || d.align&(d.align-1) != 0 {
			return a.errorAt(g.pos, "want an alignment that is a power of two")
		}
	}
	a.data, a.code = d, nil
	a.datas = append(a.datas, d)
	return g.end()
}

// inData returns the variable that data goes into.
func (a *assembler) inData(g *args) (*data, error) {
	if a.data == nil {
		return nil, a.errorAt(g.pos, "want .global or .constant before data")
	}
	return a.data, nil
}

// dataOf makes the directive of integers of a size.
func dataOf(size int) directive {
	return func(a *assembler, g *args) error {
		d, err := a.inData(g)
		if err != nil {
			return err
		}
		list, err := g.numbers("a number", 1<<20)
		if err != nil {
			return err
		}
		for _, v := range list {
			if size < 8 && (v >= 1<<(8*size) || v < -1<<(8*size-1)) {
				return a.errorAt(g.pos, "%d does not fit into %d bytes", v, size)
			}
			d.bytes = append(d.bytes, binary.LittleEndian.AppendUint64(nil, uint64(v))[:size]...)
		}
		return nil
	}
}

func addZeros(a *assembler, g *args) error {
	d, err := a.inData(g)
	if err != nil {
		return err
	}
	n, err := g.count("a number of bytes", maxBank)
	if err != nil {
		return err
	}
	d.bytes = append(d.bytes, make([]byte, n)...)
	return g.end()
}

func addFloats(a *assembler, g *args) error { return a.addFloats(g, 32) }

func addDoubles(a *assembler, g *args) error { return a.addFloats(g, 64) }

// addFloats reads floating-point numbers of that many bits.
func (a *assembler) addFloats(g *args, bits int) error {
	d, err := a.inData(g)
	if err != nil {
		return err
	}
	for {
		g.spaces()
		end := g.at
		for end < len(g.line) && !strings.ContainsRune(" \t,", rune(g.line[end])) {
			end++
		}
		v, err := strconv.ParseFloat(g.line[g.at:end], bits)
		if err != nil {
			return g.fail("want a number of %d bits", bits)
		}
		g.at = end
		if bits == 32 {
			d.bytes = binary.LittleEndian.AppendUint32(d.bytes, math.Float32bits(float32(v)))
		} else {
			d.bytes = binary.LittleEndian.AppendUint64(d.bytes, math.Float64bits(v))
		}
		if !g.accept(',') {
			return g.end()
		}
	}
}

// addText adds a string with a zero byte behind it.
func addText(a *assembler, g *args) error {
	d, err := a.inData(g)
	if err != nil {
		return err
	}
	s, err := g.quoted("a string")
	if err != nil {
		return err
	}
	d.bytes = append(append(d.bytes, s...), 0)
	return g.end()
}

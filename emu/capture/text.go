package capture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"gpa/cubin"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

const word = 8 // bytes of an address

// A text makes a launch file.
type text struct {
	*Taking
	*layout
	variant
	file  launch.File
	files memoryDir
}

// capture makes the launch file. Memory after the launch is expected where it ended well.
func (t *Taking) capture(v variant, ended bool) (*Capture, error) {
	l, err := t.layout(v)
	if err != nil {
		return nil, err
	}
	x := &text{Taking: t, layout: l, variant: v, files: make(memoryDir)}
	module := t.Machine.Module()
	x.file = launch.File{Module: x.files.add(module.Raw, fmt.Sprintf(".sm_%d.cubin", module.Arch)), Stack: t.Launch.Stack, Heap: x.heap, Caches: launch.Cold,
		Launches: []launch.Launch{x.launch()}}
	for _, p := range l.buffers {
		before, pointers := x.before(p)
		b := x.piece(p.name, before, pointers)
		b.Shape = []int{int(p.size)}
		x.file.Buffers = append(x.file.Buffers, b)
		x.expect(p.name, p, before, ended)
	}
	for _, p := range l.variables {
		if err := x.symbol(p, ended); err != nil {
			return nil, err
		}
	}
	c := &Capture{Module: module, Model: t.GPU, files: x.files, source: x.file}
	return c, c.write()
}

// write makes the launch file of what it is to say.
func (c *Capture) write() (err error) {
	c.Text = c.source.Write(func(name string) string { return name })
	c.File, err = launch.Parse("launch.yaml", c.Text, c.files)
	return err
}

func (x *text) launch() launch.Launch {
	l := x.Launch
	k := launch.Launch{Kernel: l.Kernel.Name, Grid: l.Grid, Block: l.Block, Shared: x.shared(), Cluster: l.Cluster, Cooperative: l.Cooperative, Repeat: 1}
	for i := range l.Kernel.Params {
		k.Args = append(k.Args, x.argument(i))
	}
	return k
}

// shared is the dynamic shared memory of a block.
func (x *text) shared() int {
	l := x.Launch
	if !x.mapped || !l.WholeUnits {
		return l.SharedDynamic
	}
	before := l.Kernel.SharedReserved + l.Kernel.SharedStatic
	return arch.RoundUp(before+l.SharedDynamic, x.GPU.Limits.SharedUnit.Int()) - before
}

// numbers are the types of arguments that are no addresses, by their size.
var numbers = map[int]launch.Elem{1: launch.U8, 2: launch.U16, 4: launch.U32}

// argument makes the i-th argument: the address of a buffer, a number, or bytes, in which addresses are those of the replay.
func (x *text) argument(i int) launch.Arg {
	p := x.Launch.Kernel.Params[i]
	data := x.Launch.Params[p.Offset : p.Offset+p.Size]
	if p.Size == word {
		v := binary.LittleEndian.Uint64(data)
		if b := x.find(v); b != nil && b.name != "" {
			return launch.Arg{Buffer: b.name, Offset: int64(v - b.addr)}
		}
		if a, ok := x.object(v); ok {
			return a
		}
		return launch.Unsigned(launch.U64, x.translate(v))
	}
	if e, ok := numbers[p.Size]; ok {
		var v [word]byte
		copy(v[:], data)
		return launch.Unsigned(e, binary.LittleEndian.Uint64(v[:]))
	}
	data = bytes.Clone(data)
	for at := -p.Offset & (word - 1); at+word <= len(data); at += word {
		binary.LittleEndian.PutUint64(data[at:], x.translate(binary.LittleEndian.Uint64(data[at:])))
	}
	return launch.Arg{Bytes: data}
}

// object is the texture or surface object of a handle by which the kernel has used it.
func (x *text) object(handle uint64) (a launch.Arg, ok bool) {
	o, ok := x.snapshot.Object(handle)
	if !ok || o.Mipmaps != nil {
		return a, false // a launch file has no mipmaps
	}
	b := x.find(o.Image.Address)
	if b == nil || b.name == "" {
		return a, false
	}
	a.Buffer, a.Offset = b.name, int64(o.Image.Address-b.addr)
	if o.Sampler == nil {
		a.Surface = &o.Image
	} else {
		a.Texture = &launch.Texture{Image: o.Image, Sampler: *o.Sampler}
	}
	return a, true
}

// A pointer is an address of a buffer in memory.
type pointer struct {
	at     int
	to     *piece
	offset uint64
}

// before returns what a piece holds before the replay, and which of its words are addresses of buffers.
func (x *text) before(p *piece) (data []byte, pointers []pointer) {
	data = p.before
	if !x.addresses {
		return data, nil
	}
	for at := int(-p.addr & (word - 1)); at+word <= len(p.before); at += word {
		v := binary.LittleEndian.Uint64(p.before[at:])
		to := x.find(v)
		if to == nil {
			continue
		}
		if len(pointers) == 0 && &data[0] == &p.before[0] {
			data = bytes.Clone(data)
		}
		binary.LittleEndian.PutUint64(data[at:], to.at+v-to.addr)
		if to.name != "" {
			pointers = append(pointers, pointer{at, to, v - to.addr})
		}
	}
	return data, pointers
}

// piece makes a buffer or a symbol with what it holds before the launch.
func (x *text) piece(name string, data []byte, pointers []pointer) launch.Buffer {
	b := launch.Buffer{Name: name, Type: launch.U8, HasType: true}
	for _, p := range pointers {
		clear(data[p.at : p.at+word]) // the file names the buffer
	}
	if !zeros(data) {
		b.Init = launch.Init{Kind: launch.InitFile, File: x.files.array(launch.U8, data)}
	}
	if len(pointers) > 0 {
		var rows strings.Builder
		for _, p := range pointers {
			fmt.Fprintf(&rows, "%d\t%s\t%d\n", p.at, p.to.name, p.offset)
		}
		b.PointerFile = x.files.add([]byte(rows.String()), ".tsv")
	}
	for _, p := range pointers {
		binary.LittleEndian.PutUint64(data[p.at:], p.to.at+p.offset)
	}
	return b
}

// array adds an array of numbers and returns the name of its file.
func (d memoryDir) array(e launch.Elem, data []byte) string {
	return d.add(launch.WriteNpy(&launch.Array{Descr: e.Descr(), Shape: []int{len(data) / e.Size()}, Data: data}), ".npy")
}

// expect notes what a piece holds after the launch. Of what has changed since before, words that are addresses are translated.
func (x *text) expect(name string, p *piece, before []byte, ended bool) {
	if !ended {
		return
	}
	after := bytes.Clone(before)
	for at := 0; at < len(after); at += word {
		end := min(at+word, len(after))
		if bytes.Equal(p.after[at:end], p.before[at:end]) {
			continue
		}
		copy(after[at:end], p.after[at:end])
		if end-at == word {
			binary.LittleEndian.PutUint64(after[at:], x.translate(binary.LittleEndian.Uint64(p.after[at:])))
		}
	}
	x.file.Expect = append(x.file.Expect, launch.Expectation{Name: name, File: x.files.array(launch.U8, after)})
}

// symbol takes a variable of the module, where it is not as the module has it.
func (x *text) symbol(p *piece, ended bool) error {
	if p.before == nil {
		return nil
	}
	fresh := make([]byte, p.size)
	var err error
	if p.variable.Space == cubin.ConstantSpace {
		err = x.fresh.ReadConstant(p.variable.Name, 0, fresh)
	} else {
		err = x.fresh.Read(p.at, fresh)
	}
	if err != nil {
		return err
	}
	before, pointers := x.before(p)
	if len(pointers) > 0 || !bytes.Equal(before, fresh) {
		x.file.Symbols = append(x.file.Symbols, x.piece(p.variable.Name, before, pointers))
	}
	if p.variable.Space == cubin.GlobalSpace {
		x.expect(p.variable.Name, p, before, ended)
	}
	return nil
}

func zeros(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) == 0 }

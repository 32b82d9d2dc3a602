package capture

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"

	"gpa/cubin"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

const word = 8 // bytes of an address

// A text is a launch file while it is written.
type text struct {
	*Taking
	*layout
	variant
	buffersPart, symbolsPart, expectPart strings.Builder
	files                                memoryDir
}

// capture writes the launch file. Memory after the launch is expected where it ended well.
func (t *Taking) capture(v variant, ended bool) (*Capture, error) {
	l, err := t.layout(v)
	if err != nil {
		return nil, err
	}
	x := &text{Taking: t, layout: l, variant: v, files: make(memoryDir)}
	for _, p := range l.buffers {
		before, pointers := x.before(p)
		x.piece(&x.buffersPart, p.name, fmt.Sprintf("type: u8, shape: [%d], ", p.size), before, pointers)
		x.expect(p.name, p, before, pointers, ended)
	}
	for _, p := range l.variables {
		if err := x.symbol(p, ended); err != nil {
			return nil, err
		}
	}
	module := t.Machine.Module()
	c := &Capture{Module: module, Model: t.GPU, files: x.files}
	c.Text = x.whole(x.files.add(module.Raw, fmt.Sprintf(".sm_%d.cubin", module.Arch)))
	c.File, err = launch.Parse("launch.yaml", c.Text, c.files)
	return c, err
}

// whole puts the parts of the file together.
func (x *text) whole(module string) []byte {
	var out strings.Builder
	l := x.Launch
	fmt.Fprintf(&out, "module: %s\nstack: %d\nheap: %d\n", module, l.Stack, x.heap)
	for _, part := range []struct {
		key  string
		body *strings.Builder
	}{{"buffers", &x.buffersPart}, {"symbols", &x.symbolsPart}} {
		if part.body.Len() > 0 {
			fmt.Fprintf(&out, "%s:\n%s", part.key, part.body)
		}
	}
	fmt.Fprintf(&out, "launches:\n  - kernel: %q\n    grid: %s\n    block: %s\n", l.Kernel.Name, list(l.Grid), list(l.Block))
	if n := x.shared(); n > 0 {
		fmt.Fprintf(&out, "    shared: %d\n", n)
	}
	if l.Cluster != [3]int{} {
		fmt.Fprintf(&out, "    cluster: %s\n", list(l.Cluster))
	}
	if l.Cooperative {
		out.WriteString("    cooperative: true\n")
	}
	if len(l.Kernel.Params) > 0 {
		out.WriteString("    args:\n")
	}
	for i := range l.Kernel.Params {
		fmt.Fprintf(&out, "      - %s\n", x.argument(i))
	}
	if x.expectPart.Len() > 0 {
		fmt.Fprintf(&out, "expect:\n%s", &x.expectPart)
	}
	return []byte(out.String())
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

func list(d [3]int) string { return fmt.Sprintf("[%d, %d, %d]", d[0], d[1], d[2]) }

// argument writes the i-th parameter: the address of a buffer, a number, or bytes, in which addresses are those of the replay.
func (x *text) argument(i int) string {
	p := x.Launch.Kernel.Params[i]
	data := x.Launch.Params[p.Offset : p.Offset+p.Size]
	if p.Size == word {
		v := binary.LittleEndian.Uint64(data)
		if b := x.find(v); b != nil && b.name != "" {
			return reference(b, v)
		}
		return fmt.Sprintf("{u64: %d}", x.translate(v))
	}
	if p.Size == 1 || p.Size == 2 || p.Size == 4 {
		var v [word]byte
		copy(v[:], data)
		return fmt.Sprintf("{u%d: %d}", 8*p.Size, binary.LittleEndian.Uint64(v[:]))
	}
	data = bytes.Clone(data)
	for at := -p.Offset & (word - 1); at+word <= len(data); at += word {
		binary.LittleEndian.PutUint64(data[at:], x.translate(binary.LittleEndian.Uint64(data[at:])))
	}
	return fmt.Sprintf("{bytes: %q}", hex.EncodeToString(data))
}

// reference is an address in a buffer.
func reference(b *piece, addr uint64) string {
	if addr == b.addr {
		return fmt.Sprintf("{buffer: %s}", b.name)
	}
	return fmt.Sprintf("{buffer: %s, offset: %d}", b.name, addr-b.addr)
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

// piece writes how a buffer or a symbol begins.
func (x *text) piece(out *strings.Builder, name, kind string, data []byte, pointers []pointer) {
	fmt.Fprintf(out, "  %q: {%sinit: ", name, kind)
	for _, p := range pointers {
		clear(data[p.at : p.at+word]) // the file names the buffer
	}
	if zeros(data) {
		out.WriteString("{zero: true}")
	} else {
		fmt.Fprintf(out, "{file: %s}", x.array(data))
	}
	if len(pointers) > 0 {
		var rows strings.Builder
		for _, p := range pointers {
			fmt.Fprintf(&rows, "%d\t%s\t%d\n", p.at, p.to.name, p.offset)
		}
		fmt.Fprintf(out, ", pointers: {file: %s}", x.files.add([]byte(rows.String()), ".tsv"))
	}
	out.WriteString("}\n")
	for _, p := range pointers {
		binary.LittleEndian.PutUint64(data[p.at:], p.to.at+p.offset)
	}
}

// array adds bytes as an array and returns the name of its file.
func (x *text) array(data []byte) string {
	return x.files.add(launch.WriteNpy(&launch.Array{Descr: "u1", Shape: []int{len(data)}, Data: data}), ".npy")
}

// expect writes what a piece holds after the launch. Of what has changed since before, words that are addresses are translated.
func (x *text) expect(name string, p *piece, before []byte, pointers []pointer, ended bool) {
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
	fmt.Fprintf(&x.expectPart, "  %q: {file: %s}\n", name, x.array(after))
}

// symbol writes a variable of the module, where it is not as the module has it.
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
		x.piece(&x.symbolsPart, p.variable.Name, "type: u8, ", before, pointers)
	}
	if p.variable.Space == cubin.GlobalSpace {
		x.expect(p.variable.Name, p, before, pointers, ended)
	}
	return nil
}

func zeros(data []byte) bool { return len(bytes.TrimLeft(data, "\x00")) == 0 }

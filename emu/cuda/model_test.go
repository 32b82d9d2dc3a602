//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// A modelBuffer is an allocation and what it should hold.
type modelBuffer struct {
	addr, size uint64
	want       []byte
	managed    bool
}

// A modelProgram is a random program of driver calls beside a simple model of what they do.
type modelProgram struct {
	c       *testClient
	saxpy   uint64
	buffers []*modelBuffer
	streams []uint64
}

// TestRandomPrograms: random programs of allocations, copies, sets, streams, launches and frees leave the memory that the model has.
func TestRandomPrograms(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	saxpy := c.function(saxpyFile, "saxpy")
	rapid.Check(t, func(t *rapid.T) {
		p := &modelProgram{c: c, saxpy: saxpy}
		t.Repeat(map[string]func(*rapid.T){
			"alloc": p.alloc, "free": p.free, "set": p.set, "upload": p.upload, "copy": p.copy, "launch": p.launch, "stream": p.stream,
			"": p.check,
		})
		p.end()
	})
	if list := s.Problems(); len(list) > 0 {
		t.Errorf("%q", list)
	}
}

func (p *modelProgram) alloc(t *rapid.T) {
	size := rapid.Uint64Range(1, 3000).Draw(t, "size")
	b := &modelBuffer{size: size, want: make([]byte, size), managed: rapid.Bool().Draw(t, "managed")}
	if b.managed {
		p.c.must("cuMemAllocManaged", pointer(&b.addr), size, attachGlobal)
	} else {
		p.c.must("cuMemAlloc_v2", pointer(&b.addr), size)
	}
	p.buffers = append(p.buffers, b)
}

// pick draws a buffer and a part of it whose place and size are multiples of unit; nil where there is none.
func (p *modelProgram) pick(t *rapid.T, unit uint64) (b *modelBuffer, at, size uint64) {
	if len(p.buffers) == 0 {
		return nil, 0, 0
	}
	b = rapid.SampledFrom(p.buffers).Draw(t, "buffer")
	units := b.size / unit
	if units == 0 {
		return nil, 0, 0
	}
	at = rapid.Uint64Range(0, units-1).Draw(t, "at")
	size = rapid.Uint64Range(1, units-at).Draw(t, "size")
	return b, at * unit, size * unit
}

func (p *modelProgram) free(t *rapid.T) {
	if len(p.buffers) == 0 {
		return
	}
	i := rapid.IntRange(0, len(p.buffers)-1).Draw(t, "buffer")
	p.c.must("cuMemFree_v2", p.buffers[i].addr)
	p.c.want(ErrInvalidValue, "cuMemFree_v2", p.buffers[i].addr)
	p.buffers = append(p.buffers[:i], p.buffers[i+1:]...)
}

func (p *modelProgram) set(t *rapid.T) {
	b, at, size := p.pick(t, 2)
	if b == nil {
		return
	}
	v := rapid.Uint16().Draw(t, "value")
	p.c.must("cuMemsetD16_v2", b.addr+at, uint64(v), size/2)
	for i := at; i < at+size; i += 2 {
		binary.LittleEndian.PutUint16(b.want[i:], v)
	}
}

func (p *modelProgram) upload(t *rapid.T) {
	b, at, size := p.pick(t, 1)
	if b == nil {
		return
	}
	data := make([]byte, size)
	seed := rapid.Byte().Draw(t, "seed")
	for i := range data {
		data[i] = seed + byte(3*i)
	}
	p.c.must("cuMemcpyHtoDAsync_v2", b.addr+at, pointer(&data[0]), size, p.streamOf(t))
	copy(b.want[at:], data)
}

func (p *modelProgram) copy(t *rapid.T) {
	b, at, size := p.pick(t, 1)
	if b == nil {
		return
	}
	from := rapid.SampledFrom(p.buffers).Draw(t, "from")
	size = min(size, from.size)
	p.c.must("cuMemcpyDtoDAsync_v2", b.addr+at, from.addr, size, p.streamOf(t))
	copy(b.want[at:at+size], bytes.Clone(from.want[:size]))
}

// launch computes y = 2x + y over whole numbers, which float holds exactly.
func (p *modelProgram) launch(t *rapid.T) {
	y, _, _ := p.pick(t, 4)
	x, _, _ := p.pick(t, 4)
	if x == nil || y == nil || x == y {
		return
	}
	n := min(x.size, y.size) / 4
	p.c.must("cuMemsetD32_v2", x.addr, uint64(math.Float32bits(3)), n)
	p.c.must("cuMemsetD32_v2", y.addr, uint64(math.Float32bits(1)), n)
	args := saxpyArguments{n: int32(n), a: 2, x: x.addr, y: y.addr}
	if r := p.c.launch(p.saxpy, 2, 64, args.list()...); r != Success {
		t.Fatal(r)
	}
	for i := range n {
		binary.LittleEndian.PutUint32(x.want[4*i:], math.Float32bits(3))
		binary.LittleEndian.PutUint32(y.want[4*i:], math.Float32bits(7))
	}
}

func (p *modelProgram) stream(t *rapid.T) {
	if len(p.streams) > 3 {
		p.c.must("cuStreamDestroy_v2", p.streams[0])
		p.c.want(ErrInvalidHandle, "cuStreamSynchronize", p.streams[0])
		p.streams = p.streams[1:]
		return
	}
	var s uint64
	p.c.must("cuStreamCreate", pointer(&s), rapid.Uint64Range(0, 1).Draw(t, "flags"))
	p.streams = append(p.streams, s)
}

func (p *modelProgram) streamOf(t *rapid.T) uint64 {
	return rapid.SampledFrom(append([]uint64{nullStream, legacyStream, perThreadStream}, p.streams...)).Draw(t, "stream")
}

// check holds all memory against the model.
func (p *modelProgram) check(t *rapid.T) {
	for i, b := range p.buffers {
		got := make([]byte, b.size)
		if b.managed {
			copy(got, at[[3000]byte](b.addr)[:b.size])
		} else {
			p.c.must("cuMemcpyDtoH_v2", pointer(&got[0]), b.addr, b.size)
		}
		if !bytes.Equal(got, b.want) {
			t.Fatalf("buffer %d of %d bytes is not as it should be", i, b.size)
		}
	}
}

func (p *modelProgram) end() {
	for _, b := range p.buffers {
		p.c.must("cuMemFree_v2", b.addr)
	}
	for _, s := range p.streams {
		p.c.must("cuStreamDestroy_v2", s)
	}
}

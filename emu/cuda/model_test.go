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
	module  uint64 // of saxpy, 0 for the one that all programs have
	buffers []*modelBuffer
	streams []uint64
	events  []uint64
}

// randomPrograms is how many times rapid's 100 programs are made.
const randomPrograms = 10

// TestRandomPrograms: a thousand random programs of allocations, copies, sets, streams, events, modules, launches and frees leave the memory that the
// model has.
func TestRandomPrograms(t *testing.T) {
	s := start(t, "a100")
	c := newClient(t, s)
	c.context()
	saxpy := c.function(saxpyFile, "saxpy")
	for range randomPrograms {
		rapid.Check(t, func(t *rapid.T) {
			p := &modelProgram{c: c, saxpy: saxpy}
			t.Repeat(map[string]func(*rapid.T){
				"alloc": p.alloc, "free": p.free, "set": p.set, "upload": p.upload, "copy": p.copy, "launch": p.launch, "stream": p.stream,
				"event": p.event, "load": p.load,
				"": p.check,
			})
			p.end()
		})
	}
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

// drops destroys the first of more than three handles, which nothing can be done with then.
func (p *modelProgram) drops(handles *[]uint64, destroy, use string) bool {
	list := *handles
	if len(list) <= 3 {
		return false
	}
	p.c.must(destroy, list[0])
	p.c.want(ErrInvalidHandle, use, list[0])
	*handles = list[1:]
	return true
}

func (p *modelProgram) stream(t *rapid.T) {
	if p.drops(&p.streams, "cuStreamDestroy_v2", "cuStreamSynchronize") {
		return
	}
	var s uint64
	p.c.must("cuStreamCreate", pointer(&s), rapid.Uint64Range(0, 1).Draw(t, "flags"))
	p.streams = append(p.streams, s)
}

// event records an event in one stream, for which another one waits: all has been done then, at a time after the event before.
func (p *modelProgram) event(t *rapid.T) {
	if p.drops(&p.events, "cuEventDestroy_v2", "cuEventQuery") {
		return
	}
	var e uint64
	p.c.must("cuEventCreate", pointer(&e), 0)
	p.c.must("cuEventRecord", e, p.streamOf(t))
	p.c.must("cuStreamWaitEvent", p.streamOf(t), e, 0)
	p.c.must("cuEventSynchronize", e)
	if n := len(p.events); n > 0 {
		var ms float32
		p.c.must("cuEventElapsedTime_v2", pointer(&ms), p.events[n-1], e)
		if ms < 0 {
			t.Fatalf("%g ms from one event to the next", ms)
		}
	}
	p.events = append(p.events, e)
}

// load loads the kernel's module again, and unloads the one that was loaded before: functions of that cannot be launched then.
func (p *modelProgram) load(t *rapid.T) {
	before, module := p.saxpy, p.module
	image := corpus(p.c.t, saxpyFile)
	p.c.must("cuModuleLoadData", pointer(&p.module), pointer(&image[0]))
	name := cString("saxpy")
	p.c.must("cuModuleGetFunction", pointer(&p.saxpy), p.module, pointer(&name[0]))
	if module == 0 {
		return
	}
	p.c.must("cuModuleUnload", module)
	if r := p.c.launch(before, 1, 1, (&saxpyArguments{}).list()...); r != ErrInvalidHandle {
		t.Fatal(r)
	}
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
	for _, e := range p.events {
		p.c.must("cuEventDestroy_v2", e)
	}
	if p.module != 0 {
		p.c.must("cuModuleUnload", p.module)
	}
}

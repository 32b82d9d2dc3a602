package launch

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
)

// Limits of what a launch file may ask for; an architecture's own limits are checked when a launch begins.
const (
	maxBufferBytes = 16 << 30
	maxStack       = 512 << 10
	maxRepeat      = 1 << 20
	maxDimension   = math.MaxInt32
)

// Parse reads a launch file. The name stands in error messages, dir reads the files that it refers to.
func Parse(name string, data []byte, dir Dir) (*File, error) {
	f := &File{Name: name, Stack: DefaultStack, Heap: DefaultHeap, Caches: Cold, dir: dir}
	d := &decoder{file: name}
	root := d.parseYAML(data)
	if d.err == nil {
		d.decodeFile(root, f)
	}
	if d.err != nil {
		return nil, d.err
	}
	if f.Module == "" {
		return nil, &Error{File: name, Key: "module", Err: errors.New("the key is missing: it names the cubin")}
	}
	if len(f.Launches) == 0 {
		return nil, &Error{File: name, Key: "launches", Err: errors.New("there is no launch")}
	}
	return f, f.checkNames()
}

func (d *decoder) decodeFile(n node, f *File) {
	d.fields(n, map[string]func(node){
		"module": func(v node) { f.Module = d.text(v) },
		"stack":  func(v node) { f.Stack = int(d.integer(v, 0, maxStack)) },
		"heap":   func(v node) { f.Heap = d.integer(v, 0, maxBufferBytes) },
		"caches": func(v node) {
			f.Caches = CacheState(d.text(v))
			if f.Caches != Cold && f.Caches != Warm {
				d.fail(v, "%q is neither cold nor warm", f.Caches)
			}
		},
		"buffers": func(v node) {
			for _, m := range d.members(v) {
				b := d.decodeBuffer(m)
				if !b.HasType && b.Init.Kind != InitFile {
					d.fail(m.value, "the type is missing")
				}
				if b.Shape == nil && b.Init.Kind != InitFile {
					d.fail(m.value, "the shape is missing")
				}
				f.Buffers = append(f.Buffers, b)
			}
		},
		"symbols": func(v node) {
			for _, m := range d.members(v) {
				b := d.decodeBuffer(m)
				if b.Init.Kind == InitNone {
					d.fail(m.value, "init: none is for buffers: a module's variables have their initial values, zero where the source gives none")
				}
				f.Symbols = append(f.Symbols, b)
			}
		},
		"launches": func(v node) {
			for _, item := range d.items(v) {
				f.Launches = append(f.Launches, d.decodeLaunch(item))
			}
		},
		"expect": func(v node) {
			for _, m := range d.members(v) {
				f.Expect = append(f.Expect, d.decodeExpectation(m))
			}
		},
	})
}

func (d *decoder) decodeBuffer(m member) Buffer {
	b := Buffer{Name: m.name, at: m.value.at()}
	d.fields(m.value, map[string]func(node){
		"type": func(v node) {
			name := d.text(v)
			b.Type, b.HasType = ParseElem(name)
			if !b.HasType {
				d.fail(v, "%q is not a type; the types are i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64", name)
			}
		},
		"shape":    func(v node) { b.Shape = d.shape(v) },
		"init":     func(v node) { b.Init = d.decodeInit(v) },
		"pointers": func(v node) { d.decodePointers(v, &b) },
	})
	return b
}

// shape reads a list of dimensions whose product stays within bounds.
func (d *decoder) shape(n node) []int {
	shape, total := []int{}, int64(1)
	for _, item := range d.items(n) {
		v := d.integer(item, 0, maxBufferBytes)
		if v > 0 && total > maxBufferBytes/v {
			d.fail(n, "the buffer is larger than %d GiB", maxBufferBytes>>30)
			return nil
		}
		total *= v
		shape = append(shape, int(v))
	}
	return shape
}

// decodeInit reads the initial content: one generator's key, and seed.
func (d *decoder) decodeInit(n node) Init {
	init := Init{at: n.at()}
	generators := 0
	generator := func(kind InitKind, read func(node)) func(node) {
		return func(v node) {
			init.Kind = kind
			generators++
			read(v)
		}
	}
	pair := func(v node) { init.A, init.B = d.pair(v) }
	must := func(v node) {
		if !d.boolean(v) {
			d.fail(v, "only true makes sense here")
		}
	}
	d.fields(n, map[string]func(node){
		"zero":        generator(InitZero, must),
		"none":        generator(InitNone, must),
		"fill":        generator(InitFill, func(v node) { init.A = d.number(v) }),
		"iota":        generator(InitIota, pair),
		"uniform":     generator(InitUniform, pair),
		"normal":      generator(InitNormal, pair),
		"permutation": generator(InitPermutation, must),
		"file":        generator(InitFile, func(v node) { init.File = d.text(v) }),
		"seed":        func(v node) { init.Seed = uint64(d.integer(v, math.MinInt64, math.MaxInt64)) },
	})
	if generators > 1 {
		d.fail(n, "more than one way to fill the buffer")
	}
	if init.Kind == InitUniform && !(init.A.f < init.B.f) {
		d.fail(n, "uniform needs a low end below its high end, not [%s, %s]", init.A, init.B)
	}
	return init
}

func (d *decoder) pair(n node) (a, b number) {
	items := d.items(n)
	if len(items) != 2 {
		d.fail(n, "two numbers are expected here")
		return a, b
	}
	return d.number(items[0]), d.number(items[1])
}

// decodePointers reads the list of device addresses to store, or the name of the file that holds it.
func (d *decoder) decodePointers(n node, b *Buffer) {
	if n.isMapping() {
		d.fields(n, map[string]func(node){"file": func(v node) { b.PointerFile = d.text(v) }})
		return
	}
	for _, item := range d.items(n) {
		var p Pointer
		d.fields(item, map[string]func(node){
			"at":     func(v node) { p.At = d.integer(v, 0, maxBufferBytes) },
			"buffer": func(v node) { p.Buffer = d.text(v) },
			"offset": func(v node) { p.Offset = d.integer(v, -maxBufferBytes, maxBufferBytes) },
		})
		if p.Buffer == "" {
			d.fail(item, "the buffer is missing")
		}
		b.Pointers = append(b.Pointers, p)
	}
}

func (d *decoder) decodeLaunch(n node) Launch {
	l := Launch{Repeat: 1, at: n.at()}
	d.fields(n, map[string]func(node){
		"kernel":      func(v node) { l.Kernel = d.text(v) },
		"grid":        func(v node) { l.Grid = d.dimensions(v) },
		"block":       func(v node) { l.Block = d.dimensions(v) },
		"shared":      func(v node) { l.Shared = int(d.integer(v, 0, math.MaxInt32)) },
		"cluster":     func(v node) { l.Cluster = d.dimensions(v) },
		"cooperative": func(v node) { l.Cooperative = d.boolean(v) },
		"repeat":      func(v node) { l.Repeat = int(d.integer(v, 1, maxRepeat)) },
		"args": func(v node) {
			for _, item := range d.items(v) {
				l.Args = append(l.Args, d.decodeArg(item))
			}
		},
	})
	if l.Kernel == "" {
		d.fail(n, "kernel: the key is missing")
	}
	if l.Grid == ([3]int{}) {
		d.fail(n, "grid: the key is missing")
	}
	if l.Block == ([3]int{}) {
		d.fail(n, "block: the key is missing")
	}
	return l
}

// dimensions reads one to three sizes; those that are left out are 1.
func (d *decoder) dimensions(n node) [3]int {
	dims := [3]int{1, 1, 1}
	items := d.items(n)
	if len(items) < 1 || len(items) > 3 {
		d.fail(n, "one to three numbers are expected here")
		return dims
	}
	for i, item := range items {
		dims[i] = int(d.integer(item, 1, maxDimension))
	}
	return dims
}

// decodeArg reads one argument: {TYPE: value}, {buffer: name, offset: bytes}, {bytes: "hex"}, {tensormap: …}, {texture: …} or {surface: …}.
func (d *decoder) decodeArg(n node) Arg {
	a := Arg{at: n.at()}
	kinds := 0
	known := map[string]func(node){
		"buffer": func(v node) { a.Buffer = d.text(v); kinds++ },
		"offset": func(v node) { a.Offset = d.integer(v, -maxBufferBytes, maxBufferBytes) },
		"bytes": func(v node) {
			bytes, err := hex.DecodeString(d.text(v))
			if err != nil {
				d.fail(v, "not hexadecimal digits in pairs: %v", err)
			}
			a.Bytes = bytes
			kinds++
		},
	}
	known["tensormap"] = func(v node) { d.decodeTensorMap(v, &a); kinds++ }
	known["texture"] = func(v node) { d.decodeTexture(v, &a); kinds++ }
	known["surface"] = func(v node) { d.decodeSurface(v, &a); kinds++ }
	for e := range numElems {
		known[e.String()] = func(v node) {
			a.Type, a.Value = e, d.number(v)
			if err := e.put(make([]byte, 8), a.Value); err != nil && d.err == nil {
				d.fail(v, "%v", err)
			}
			kinds++
		}
	}
	d.fields(n, known)
	if kinds != 1 {
		d.fail(n, "an argument is one of {TYPE: value}, {buffer: name}, {bytes: \"hex\"}, {tensormap: …}, {texture: …} and {surface: …}")
	}
	if a.Offset != 0 && a.Buffer == "" {
		d.fail(n, "an offset needs a buffer")
	}
	return a
}

func (d *decoder) decodeExpectation(m member) Expectation {
	e := Expectation{Name: m.name, at: m.value.at()}
	tolerance := func(to *float64) func(node) {
		return func(v node) {
			*to = d.number(v).f
			if !(*to >= 0) {
				d.fail(v, "a tolerance is not negative")
			}
		}
	}
	d.fields(m.value, map[string]func(node){
		"file": func(v node) { e.File = d.text(v) },
		"rtol": tolerance(&e.Rtol),
		"atol": tolerance(&e.Atol),
	})
	if e.File == "" {
		d.fail(m.value, "the file is missing")
	}
	return e
}

// checkNames makes sure that what refers to buffers names buffers that exist.
func (f *File) checkNames() error {
	buffers := make(map[string]bool, len(f.Buffers))
	for _, b := range f.Buffers {
		buffers[b.Name] = true
	}
	for _, list := range [][]Buffer{f.Buffers, f.Symbols} {
		for _, b := range list {
			for _, p := range b.Pointers {
				if !buffers[p.Buffer] {
					return f.errorAt(b.at, fmt.Errorf("pointers: there is no buffer %q", p.Buffer))
				}
			}
		}
	}
	for _, l := range f.Launches {
		for _, a := range l.Args {
			if a.Buffer != "" && !buffers[a.Buffer] {
				return f.errorAt(a.at, fmt.Errorf("there is no buffer %q", a.Buffer))
			}
		}
	}
	return nil
}

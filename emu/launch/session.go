package launch

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu"
)

// LoadModule reads the cubin that the file names or, for another architecture than that cubin's, the one beside it: see
// [File.ModuleFor]. Without that, code of an earlier architecture with the same major number will do. Architecture 0 takes any.
func (f *File) LoadModule(architecture sass.Arch) (*cubin.File, error) {
	name := f.ModuleFor(architecture)
	data, err := cubin.ReadWith(name, f.dir.ReadFile)
	if errors.Is(err, fs.ErrNotExist) && name != f.Module {
		if module, bad := f.LoadModule(0); bad == nil && emu.Runs(int(architecture), int(module.Arch)) {
			return module, nil // there is no better one
		}
	}
	if err != nil {
		return nil, f.errorAt(position{key: "module"}, err)
	}
	label, code, err := cubin.Pick(name, data, architecture)
	if err != nil {
		return nil, err
	}
	return cubin.NewFile(label, code)
}

// moduleArchitecture is the part of a cubin's name that says what it is built for, as in saxpy.sm_70.cubin.
var moduleArchitecture = regexp.MustCompile(`\bsm_\d+\b`)

// ModuleFor returns the name of the module for an architecture: where the name in the file holds an architecture, as
// saxpy.sm_70.cubin does, that is replaced.
func (f *File) ModuleFor(architecture sass.Arch) string {
	if architecture == 0 {
		return f.Module
	}
	return moduleArchitecture.ReplaceAllString(f.Module, "sm_"+strconv.Itoa(int(architecture)))
}

// Dir is where the files beside the launch file are read from.
func (f *File) Dir() Dir { return f.dir }

// A Session is a launch file on an emulated GPU: its buffers are allocated and filled.
type Session struct {
	File    *File
	Module  *cubin.File
	Machine *emu.Machine
	// Recorder watches the launches that are observed, nil for none.
	Recorder emu.Recorder
	// Dispensable says that nobody wants to know what the last launch leaves in memory unless the file expects something.
	Dispensable bool
	Partial     bool // memory is not as the launches leave it

	buffers map[string]placed
	initial *emu.State // the memory before the first launch, nil where it is not kept
	like    *Session   // whose initial contents the buffers share, nil for none
	shared  map[string]bool
	pointed map[string][]uint64 // by buffer, the addresses of the device addresses stored in it
	objects map[*Arg]uint64     // handles of texture and surface objects
	runs    int
	known   []known
}

// placed is a buffer or a symbol in device memory.
type placed struct {
	addr     uint64
	constant string // the symbol's name, for constant memory, which has no address in global memory
	elem     Elem
	shape    []int
	bytes    int64
}

// NewSession allocates and fills the buffers of the file and writes its symbols. Large ones take their time: where the context ends, they
// stay as they are, and launches with it end before their first instruction, as if it had ended then.
func NewSession(ctx context.Context, f *File, machine *emu.Machine) (*Session, error) {
	return newSession(ctx, &Session{File: f, Machine: machine})
}

// Keep makes the session one whose initial contents others can share: see [Session.Like].
func (s *Session) Keep() { s.initial = s.Machine.Contents() }

// Like returns a session of the same file on another machine. Its buffers share their initial contents with those of s, which keeps
// them, until one of the two writes.
func (s *Session) Like(ctx context.Context, machine *emu.Machine) (*Session, error) {
	return newSession(ctx, &Session{File: s.File, Machine: machine, like: s})
}

func newSession(ctx context.Context, s *Session) (*Session, error) {
	f := s.File
	s.Module, s.buffers, s.shared = s.Machine.Module(), make(map[string]placed), make(map[string]bool)
	s.pointed, s.objects = make(map[string][]uint64), make(map[*Arg]uint64)
	for i := range f.Buffers {
		if err := s.place(ctx, &f.Buffers[i]); err != nil {
			return nil, f.errorAt(f.Buffers[i].at, err)
		}
	}
	for i := range f.Symbols {
		if err := s.placeSymbol(ctx, &f.Symbols[i]); err != nil {
			return nil, f.errorAt(f.Symbols[i].at, err)
		}
	}
	for _, list := range [][]Buffer{f.Buffers, f.Symbols} {
		for i := range list {
			if s.shared[list[i].Name] {
				continue
			}
			if err := s.storePointers(&list[i]); err != nil {
				return nil, f.errorAt(list[i].at, err)
			}
		}
	}
	return s, s.createObjects()
}

// A content is how a buffer starts out.
type content struct {
	placed
	fill func(ctx context.Context, to []byte) error // nil for zeros
}

// content finds out how a buffer starts out. limit is the size of a symbol, which needs no shape; 0 for buffers.
func (s *Session) content(b *Buffer, limit int64) (content, error) {
	if b.Init.Kind == InitFile {
		p, data, err := s.fileContent(b)
		return content{p, func(_ context.Context, to []byte) error { copy(to, data); return nil }}, err
	}
	p := placed{elem: b.Type, shape: b.Shape, bytes: limit}
	if b.Shape != nil {
		p.bytes = int64(b.Type.Size())
		for _, n := range b.Shape {
			p.bytes *= int64(n)
		}
	}
	if p.bytes > maxBufferBytes {
		return content{}, fmt.Errorf("the buffer is larger than %d GiB", maxBufferBytes>>30)
	}
	if b.Shape == nil {
		p.shape = []int{int(limit) / b.Type.Size()}
	}
	if b.Init.Kind == InitZero || b.Init.Kind == InitNone {
		return content{placed: p}, nil
	}
	return content{p, func(ctx context.Context, to []byte) error { return b.Init.generate(ctx, b.Type, to) }}, nil
}

// fileContent reads a buffer's content from its .npy file, which must agree with the type and the shape where given.
func (s *Session) fileContent(b *Buffer) (placed, []byte, error) {
	a, err := s.File.readArray(b.Init.File)
	if err != nil {
		return placed{}, nil, err
	}
	p := placed{elem: b.Type, shape: a.Shape, bytes: int64(len(a.Data))}
	if !b.HasType {
		if p.elem, err = elemOf(a.Descr); err != nil {
			return p, nil, fmt.Errorf("%s: %w", b.Init.File, err)
		}
	}
	if elems[p.elem].descr != a.Descr {
		return p, nil, fmt.Errorf("%s holds %s, the buffer is of type %s", b.Init.File, a.Descr, p.elem)
	}
	if b.Shape != nil && product(b.Shape) != product(a.Shape) {
		return p, nil, fmt.Errorf("%s has shape %v, the buffer %v", b.Init.File, a.Shape, b.Shape)
	}
	return p, a.Data, nil
}

// ReadData reads a file that the file refers to or, where there is none of that name, one that gzip made smaller: see [cubin.ReadWith].
func (f *File) ReadData(name string) ([]byte, error) { return cubin.ReadWith(name, f.dir.ReadFile) }

// readArray reads an .npy file, see [File.ReadData].
func (f *File) readArray(name string) (*Array, error) {
	data, err := f.ReadData(name)
	if err != nil {
		return nil, err
	}
	a, err := ReadNpy(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// elemOf is the element type of an .npy file.
func elemOf(descr string) (Elem, error) {
	for e := range numElems {
		if elems[e].descr == descr && e != BF16 {
			return e, nil
		}
	}
	return 0, fmt.Errorf("arrays of %s are not supported", descr)
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

func (s *Session) place(ctx context.Context, b *Buffer) error {
	if s.like != nil {
		if ok, err := s.placeLike(b); ok || err != nil {
			return err
		}
	}
	c, err := s.content(b, 0)
	if err != nil {
		return err
	}
	if c.addr, err = s.Machine.Alloc(b.Name, c.bytes); err != nil {
		return err
	}
	s.buffers[b.Name] = c.placed
	if c.fill == nil {
		return nil
	}
	if err := s.Machine.Room(c.bytes); err != nil {
		return err
	}
	return s.Machine.Fill(c.addr, int(c.bytes), func(to []byte) error { return unlessEnded(ctx, c.fill(ctx, to)) })
}

// unlessEnded returns the error of what did not end because its context did.
func unlessEnded(ctx context.Context, err error) error {
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// placeLike allocates a buffer that shares its contents with that of another session. ok is false where the two would not lie at
// the same address, as pointers to it would differ then.
func (s *Session) placeLike(b *Buffer) (ok bool, err error) {
	p := s.like.buffers[b.Name]
	if s.like.initial == nil || s.Machine.Upcoming() != p.addr {
		s.like = nil // and all that follow
		return false, nil
	}
	if _, err := s.Machine.Alloc(b.Name, p.bytes); err != nil {
		return false, err
	}
	s.buffers[b.Name], s.shared[b.Name] = p, true
	s.pointed[b.Name] = s.like.pointed[b.Name]
	return true, s.Machine.EnterBuffer(s.like.initial, p.addr)
}

// placeSymbol writes the initial content of a module variable.
func (s *Session) placeSymbol(ctx context.Context, b *Buffer) error {
	v, err := s.Machine.Symbol(b.Name)
	if err != nil {
		return err
	}
	c, err := s.content(b, int64(v.Size))
	if err != nil {
		return err
	}
	if c.bytes > int64(v.Size) {
		return fmt.Errorf("%d bytes do not fit into the symbol's %d", c.bytes, v.Size)
	}
	c.addr, c.constant = v.Addr, v.Constant
	s.buffers[b.Name] = c.placed
	data := make([]byte, c.bytes)
	if c.fill != nil {
		if err := unlessEnded(ctx, c.fill(ctx, data)); err != nil {
			return err
		}
	}
	return s.write(c.placed, 0, data)
}

func (s *Session) storePointers(b *Buffer) error {
	list := b.Pointers
	if b.PointerFile != "" {
		var err error
		if list, err = s.File.readPointers(b.PointerFile); err != nil {
			return err
		}
	}
	at := s.buffers[b.Name]
	for _, p := range list {
		to, ok := s.buffers[p.Buffer]
		if !ok {
			return fmt.Errorf("pointers: there is no buffer %q", p.Buffer)
		}
		if p.At > at.bytes-8 {
			return fmt.Errorf("pointers: byte %d is beyond the buffer's %d bytes", p.At, at.bytes)
		}
		var address [8]byte
		binary.LittleEndian.PutUint64(address[:], to.addr+uint64(p.Offset))
		if err := s.write(at, p.At, address[:]); err != nil {
			return err
		}
		s.pointed[b.Name] = append(s.pointed[b.Name], at.addr+uint64(p.At))
	}
	return nil
}

// readPointers reads a .tsv of byte, buffer and offset.
func (f *File) readPointers(name string) ([]Pointer, error) {
	data, err := f.dir.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var list []Pointer
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		columns := strings.Split(strings.TrimRight(line, "\r"), "\t")
		if len(columns) != 3 {
			return nil, fmt.Errorf("%s:%d: three columns are expected: byte, buffer, offset", name, i+1)
		}
		at, err1 := strconv.ParseInt(columns[0], 0, 64)
		offset, err2 := strconv.ParseInt(columns[2], 0, 64)
		if err := errors.Join(err1, err2); err != nil || at < 0 {
			if i == 0 && err != nil {
				continue // a header line
			}
			return nil, fmt.Errorf("%s:%d: %q and %q should be byte offsets", name, i+1, columns[0], columns[2])
		}
		list = append(list, Pointer{At: at, Buffer: columns[1], Offset: offset})
	}
	return list, nil
}

func (s *Session) write(p placed, at int64, data []byte) error {
	if p.constant != "" {
		return s.Machine.WriteConstant(p.constant, at, data)
	}
	return s.Machine.Write(p.addr+uint64(at), data)
}

// read returns the contents of a buffer, which are valid until the next launch.
func (s *Session) read(p placed) ([]byte, error) {
	if p.constant != "" {
		data := make([]byte, p.bytes)
		return data, s.Machine.ReadConstant(p.constant, 0, data)
	}
	return s.Machine.View(p.addr, int(p.bytes))
}

// Launch returns the i-th launch of the file, bound to the session's buffers.
func (s *Session) Launch(i int) (*emu.Launch, error) {
	l := &s.File.Launches[i]
	k, err := s.kernel(l.Kernel)
	if err != nil {
		return nil, s.File.errorAt(l.at, err)
	}
	params, err := s.params(k, l)
	if err != nil {
		return nil, err
	}
	return &emu.Launch{
		Kernel: k, Grid: l.Grid, Block: l.Block, Cluster: l.Cluster, SharedDynamic: l.Shared, Cooperative: l.Cooperative, Params: params,
		Stack: s.File.Stack, WarmCaches: s.File.Caches == Warm,
	}, nil
}

// kernel finds a kernel of the module; without a name, its only one.
func (s *Session) kernel(name string) (*cubin.Kernel, error) {
	if name == "" && len(s.Module.Kernels) == 1 {
		return s.Module.Kernels[0], nil
	}
	return s.Module.FindKernel(name)
}

// sizes says how large a kernel's parameters are, for a message: a cubin does not tell their types.
func sizes(k *cubin.Kernel) string {
	if len(k.Params) == 0 {
		return ""
	}
	var list []string
	for _, p := range k.Params {
		list = append(list, strconv.Itoa(p.Size))
	}
	return "; their sizes are " + strings.Join(list, ", ") + " bytes (a pointer, that is a buffer, has 8)"
}

// params lays the arguments out as the kernel's parameters.
func (s *Session) params(k *cubin.Kernel, l *Launch) ([]byte, error) {
	if len(l.Args) != len(k.Params) {
		return nil, s.File.errorAt(l.at, fmt.Errorf("kernel %s takes %d arguments, not %d%s", k.Demangled, len(k.Params), len(l.Args), sizes(k)))
	}
	params := make([]byte, k.ParamSize)
	for i := range l.Args {
		a := &l.Args[i]
		data, what := s.argument(a)
		p := k.Params[i]
		if len(data) != p.Size {
			err := fmt.Errorf("argument %d of kernel %s takes %d bytes, %s has %d", i, k.Demangled, p.Size, what, len(data))
			return nil, s.File.errorAt(a.at, err)
		}
		if p.Offset < 0 || p.Offset+p.Size > len(params) {
			return nil, fmt.Errorf("%s: parameter %d of kernel %s lies outside its parameters", s.Module.Name, i, k.Demangled)
		}
		copy(params[p.Offset:], data)
	}
	return params, nil
}

// argument returns the bytes of an argument and what it is called in messages.
func (s *Session) argument(a *Arg) (data []byte, what string) {
	switch {
	case a.Map != nil:
		m := *a.Map
		m.Address = s.buffers[a.Buffer].addr + uint64(a.Offset)
		encoded := m.Encode()
		return encoded[:], "a tensor map"
	case a.image() != nil:
		return binary.LittleEndian.AppendUint64(nil, s.objects[a]), "the handle of an object"
	case a.Buffer != "":
		data = binary.LittleEndian.AppendUint64(nil, s.buffers[a.Buffer].addr+uint64(a.Offset))
		return data, "the address of a buffer"
	case a.Bytes != nil:
		return a.Bytes, "bytes"
	}
	var scalar [8]byte
	if err := a.Type.put(scalar[:], a.Value); err != nil { // cannot happen: the decoder has tried it
		return nil, err.Error()
	}
	return scalar[:a.Type.Size()], a.Type.String()
}

// Run launches the i-th launch of the file once, observed by o where that is not nil. See [Session.Again] for launches that need
// not be run.
func (s *Session) Run(ctx context.Context, i int, o emu.Observer) (*emu.Result, error) {
	return s.launch(ctx, i, o, nil)
}

// A Variation changes a launch, to try what the change would bring. The zero value changes nothing.
type Variation struct {
	WhatIf      *emu.WhatIf
	Grid, Block [3]int // zero for the file's
	Untimed     bool   // the launch only takes effect
	Backwards   bool   // see [emu.Launch]
	MaxCycles   int64  // see [emu.Launch]
	Part        *emu.Part
	Tape        *emu.Tape // what keeps what the launch executes, nil for nothing
}

// Vary launches the i-th launch of the file once with a change.
func (s *Session) Vary(ctx context.Context, i int, v Variation) (*emu.Result, error) {
	l, err := s.Launch(i)
	if err != nil {
		return nil, err
	}
	l.WhatIf, l.Untimed, l.Backwards, l.Part, l.Tape, l.MaxCycles = v.WhatIf, v.Untimed, v.Backwards, v.Part, v.Tape, v.MaxCycles
	if v.Grid != ([3]int{}) {
		l.Grid = v.Grid
	}
	if v.Block != ([3]int{}) {
		l.Block = v.Block
	}
	return s.Machine.Launch(ctx, l)
}

// Trace launches the i-th launch of the file once, watched by a tracer. The machine has to be one without timing.
func (s *Session) Trace(ctx context.Context, i int, t emu.Tracer) (*emu.Result, error) {
	return s.launch(ctx, i, nil, t)
}

func (s *Session) launch(ctx context.Context, i int, o emu.Observer, t emu.Tracer) (*emu.Result, error) {
	l, err := s.Launch(i)
	if err != nil {
		return nil, err
	}
	if l.Observer, l.Tracer = o, t; o != nil {
		l.Recorder = s.Recorder
	}
	l.Dispensable = s.Dispensable && i == len(s.File.Launches)-1 && s.File.Launches[i].Repeat <= 1 && len(s.File.Expect) == 0
	k := s.begin(i, l)
	result, err := s.Machine.Launch(ctx, l)
	if err != nil && result == nil { // the launch itself is wrong
		return nil, s.File.errorAt(s.File.Launches[i].at, err)
	}
	s.runs++
	if s.Partial = s.Partial || result.Partial; err == nil {
		s.end(k)
	}
	return result, err
}

// Check compares the buffers and symbols that the file expects something of.
func (s *Session) Check() ([]Check, error) {
	var checks []Check
	for i := range s.File.Expect {
		x := &s.File.Expect[i]
		c, err := s.check(x)
		if err != nil {
			return nil, s.File.errorAt(x.at, err)
		}
		checks = append(checks, c)
	}
	return checks, nil
}

func (s *Session) check(x *Expectation) (Check, error) {
	e, want, got, err := s.Expected(x)
	if err != nil {
		return Check{}, err
	}
	return x.compare(e, got, want), nil
}

// Expected returns what an expectation of the file wants, what the buffer or symbol holds, and the type of its elements.
func (s *Session) Expected(x *Expectation) (e Elem, want, got []byte, err error) {
	a, err := s.File.readArray(x.File)
	if err != nil {
		return 0, nil, nil, err
	}
	p, ok := s.buffers[x.Name]
	if !ok {
		if p, err = s.expectedSymbol(x.Name, a); err != nil {
			return 0, nil, nil, err
		}
	}
	if elems[p.elem].descr != a.Descr || p.bytes != int64(len(a.Data)) {
		return 0, nil, nil, fmt.Errorf("%s holds %v of %s, the buffer %v of %s", x.File, a.Shape, a.Descr, p.shape, p.elem)
	}
	got, err = s.read(p)
	return p.elem, a.Data, got, err
}

// expectedSymbol finds a symbol that the file expects something of without having initialised it.
func (s *Session) expectedSymbol(name string, a *Array) (placed, error) {
	v, err := s.Machine.Symbol(name)
	if err != nil {
		return placed{}, fmt.Errorf("there is neither a buffer nor a symbol %q", name)
	}
	e, err := elemOf(a.Descr)
	if err != nil {
		return placed{}, err
	}
	return placed{addr: v.Addr, constant: v.Constant, elem: e, shape: a.Shape, bytes: int64(v.Size)}, nil
}

// Save returns the contents of a buffer as an .npy file.
func (s *Session) Save(name string) ([]byte, error) {
	p, ok := s.buffers[name]
	if !ok {
		return nil, fmt.Errorf("there is no buffer %q", name)
	}
	data, err := s.read(p)
	if err != nil {
		return nil, err
	}
	return WriteNpy(&Array{Descr: elems[p.elem].descr, Shape: p.shape, Data: data}), nil
}

// Names lists the buffers and symbols of the file.
func (s *Session) Names() (names []string) {
	for _, list := range [][]Buffer{s.File.Buffers, s.File.Symbols} {
		for i := range list {
			names = append(names, list[i].Name)
		}
	}
	return names
}

// Bytes is the size of all of them.
func (s *Session) Bytes() int64 {
	n := int64(0)
	for _, name := range s.Names() {
		n += s.buffers[name].bytes
	}
	return n
}

// Restore makes the contents of a buffer those of an .npy file that [Session.Save] wrote.
func (s *Session) Restore(name string, data []byte) error {
	a, err := ReadNpy(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p, ok := s.buffers[name]
	if !ok || elems[p.elem].descr != a.Descr || p.bytes != int64(len(a.Data)) {
		return fmt.Errorf("%v of %s are not the contents of %q", a.Shape, a.Descr, name)
	}
	return s.write(p, 0, a.Data)
}

// An Extent is a part of global memory.
type Extent struct {
	Name    string // of the buffer
	Addr    uint64
	Size    int64
	Written []uint64 // addresses of 8 bytes in it that hold device addresses
}

// Extents returns the buffers of the file as they lie in memory.
func (s *Session) Extents() []Extent {
	list := make([]Extent, len(s.File.Buffers))
	for i := range s.File.Buffers {
		list[i] = s.extent(&s.File.Buffers[i])
	}
	return list
}

// Unwritten returns the buffers that the file says nobody has written (init: {none: true}).
func (s *Session) Unwritten() []Extent {
	var list []Extent
	for i := range s.File.Buffers {
		if b := &s.File.Buffers[i]; b.Init.Kind == InitNone {
			list = append(list, s.extent(b))
		}
	}
	return list
}

func (s *Session) extent(b *Buffer) Extent {
	p := s.buffers[b.Name]
	return Extent{Name: b.Name, Addr: p.addr, Size: p.bytes, Written: s.pointed[b.Name]}
}

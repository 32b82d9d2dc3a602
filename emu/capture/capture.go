// Package capture makes launch files of launches that programs ask for: the launch, the module, the memory that the kernel touches as it
// was before, and what it holds after as expectations.
//
// Buffers lie elsewhere in a replay. Parameters and memory that hold addresses of buffers or of the module's variables are translated: with
// what the format has for it ({buffer: …}, pointers), or to the address that package launch will give the buffer. Which words of memory
// are addresses nobody says. So a capture is replayed: first no word that the kernel found in memory is taken for an address, then
// every aligned one that lies in a buffer; see [Taken.Replay].
package capture

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/launch"
)

// A Taking is a launch of which a capture is to be taken.
type Taking struct {
	GPU     *arch.Model
	Machine *emu.Machine // of the program
	Launch  *emu.Launch
	// Size returns the number of bytes of the allocation at an address, 0 where it is none: what is mapped there may be longer.
	Size func(addr uint64) uint64

	snapshot  emu.Snapshot
	constants map[*cubin.Variable][]byte // before
	heap      int64
}

// Begin has the launch, which has to be one without timing, keep what it touches. The error says why there can be no capture of it.
func (t *Taking) Begin() error {
	size, allocations := t.Machine.Heap()
	if allocations > 0 {
		return errors.New("device-side malloc was at work before it, and a launch file cannot say what it gave out")
	}
	t.heap, t.constants = size, make(map[*cubin.Variable][]byte)
	for _, v := range t.Machine.Module().Variables {
		if v.Space != cubin.ConstantSpace {
			continue
		}
		data := make([]byte, v.Size)
		if err := t.Machine.ReadConstant(v.Name, 0, data); err != nil {
			return err
		}
		t.constants[v] = data
	}
	t.Launch.Snapshot = &t.snapshot
	return nil
}

// Restore gives memory back what it held before the launch.
func (t *Taking) Restore() { t.snapshot.Restore() }

// A Capture is a launch file and the files that it refers to.
type Capture struct {
	File   *launch.File
	Module *cubin.File
	Model  *arch.Model
	Text   []byte // of the launch file; files are in the folder that [Folder] names, beside that of the launch file
	files  memoryDir
	source launch.File // what Text says
}

// Folder is the folder of the files that captures refer to, relative to that of a launch file.
const Folder = "../data"

// memoryDir is files by name.
type memoryDir map[string][]byte

// ReadFile returns a file.
func (d memoryDir) ReadFile(name string) ([]byte, error) {
	if data, ok := d[name]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
}

// add adds a file under a name made of its contents, with an ending.
func (d memoryDir) add(data []byte, ending string) string {
	sum := sha256.Sum256(data)
	name := Folder + "/" + hex.EncodeToString(sum[:12]) + ending
	d[name] = data
	return name
}

// Bytes is how much the capture takes.
func (c *Capture) Bytes() (n int64) {
	for _, data := range c.files {
		n += int64(len(data))
	}
	return n
}

// A variant is a way to take memory for what a replay needs.
type variant struct {
	addresses bool // words in memory that could be addresses are
	mapped    bool // buffers are as long as what is mapped, not as their allocations, and shared memory as what the kernel reaches
}

// Replay makes a capture after the launch has ended, and has run replay it. Where the capture does not do what the launch did, as run
// says by ok, the next variant is tried. The error says that none does.
func (t *Taking) Replay(fault *emu.Fault, run func(*Capture) (ok bool, err error)) (*Capture, error) {
	for _, v := range []variant{{false, false}, {true, false}, {true, true}} {
		c, err := t.capture(v, fault == nil)
		if err != nil {
			return nil, err
		}
		if ok, err := run(c); ok || err != nil {
			return c, err
		}
	}
	return nil, errors.New("its replay from a launch file does something else, as of a kernel that stores addresses in an unusual way or depends on them, or has a data race (gpa check finds those)")
}

// Check is a run for [Taking.Replay] that runs the capture without timing and looks whether it ends as the launch did.
func Check(ctx context.Context, o emu.Options, fault *emu.Fault) func(*Capture) (bool, error) {
	return func(c *Capture) (bool, error) {
		s, err := c.session(ctx, o)
		if err != nil {
			return false, err
		}
		_, err = s.Run(ctx, 0, nil)
		return Same(s, err, fault)
	}
}

// Same reports whether a session's launch ended as that of the program, with an error and with the memory that is expected.
func Same(s *launch.Session, err error, want *emu.Fault) (bool, error) {
	var fault *emu.Fault
	switch {
	case errors.As(err, &fault):
		return want != nil && fault.Kind == want.Kind, nil
	case err != nil:
		return false, err
	case want != nil:
		return false, nil
	}
	checks, err := s.Check()
	return err == nil && !slices.ContainsFunc(checks, func(c launch.Check) bool { return !c.OK() }), err
}

// A piece is memory that a program has at an address and a replay at another one.
type piece struct {
	name          string // of the buffer, "" for a variable of the module
	variable      *cubin.Variable
	addr, size    uint64 // in the program
	at            uint64 // in the replay
	before, after []byte // nil where the kernel did not touch it
}

func (p *piece) holds(addr uint64) bool { return addr-p.addr < p.size }

// A layout is all pieces.
type layout struct {
	buffers   []*piece // in the order in which the replay allocates them
	variables []*piece
	sorted    []*piece
	fresh     *emu.Machine // a GPU as the replay has it before it writes variables
}

// layout finds out what lies where.
func (t *Taking) layout(v variant) (*layout, error) {
	list, err := t.snapshot.Touched()
	if err != nil {
		return nil, err
	}
	module := t.Machine.Module()
	l := &layout{}
	if l.fresh, err = emu.New(t.GPU, module, emu.Options{Heap: t.heap}); err != nil {
		return nil, err
	}
	if l.variables, err = t.variables(l.fresh, list); err != nil {
		return nil, err
	}
	for _, x := range list {
		own := slices.ContainsFunc(l.variables, func(p *piece) bool { return p.addr-x.Addr < uint64(len(x.Before)) })
		if own || x.Heap {
			continue
		}
		size := uint64(len(x.Before))
		if n := t.Size(x.Addr); !v.mapped && n > 0 {
			size = min(size, n)
		}
		p := &piece{addr: x.Addr, size: size, before: x.Before[:size], after: x.After[:size]}
		p.name = t.bufferName(p, len(l.buffers))
		if p.at, err = l.fresh.Alloc(p.name, int64(size)); err != nil {
			return nil, err
		}
		l.buffers = append(l.buffers, p)
	}
	l.sorted = append(slices.Clone(l.buffers), l.variables...)
	slices.SortFunc(l.sorted, func(a, b *piece) int { return cmp.Compare(a.addr, b.addr) })
	return l, nil
}

// variables lists the variables of the module.
func (t *Taking) variables(fresh *emu.Machine, list []emu.Touched) (out []*piece, err error) {
	for _, v := range t.Machine.Module().Variables {
		if v.Space != cubin.GlobalSpace && v.Space != cubin.ConstantSpace || v.Size == 0 {
			continue
		}
		here, err := t.Machine.Symbol(v.Name)
		if err != nil {
			return nil, err
		}
		there, err := fresh.Symbol(v.Name)
		if err != nil {
			return nil, err
		}
		p := &piece{variable: v, addr: here.Addr, at: there.Addr, size: v.Size, before: t.constants[v], after: t.constants[v]}
		for _, x := range list {
			if from := here.Addr - x.Addr; v.Space == cubin.GlobalSpace && from < uint64(len(x.Before)) && uint64(len(x.Before))-from >= v.Size {
				p.before, p.after = x.Before[from:from+v.Size], x.After[from:from+v.Size]
			}
		}
		out = append(out, p)
	}
	return out, nil
}

// bufferName names a buffer after the first parameter that points to it.
func (t *Taking) bufferName(p *piece, number int) string {
	for i, x := range t.Launch.Kernel.Params {
		if x.Size == 8 && x.Offset >= 0 && x.Offset+8 <= len(t.Launch.Params) && p.holds(binary.LittleEndian.Uint64(t.Launch.Params[x.Offset:])) {
			return fmt.Sprintf("arg%d_%d", i, number)
		}
	}
	return fmt.Sprintf("buffer%d", number)
}

// find returns the piece that an address lies in, or that it is the end of.
func (l *layout) find(addr uint64) *piece {
	at, found := slices.BinarySearchFunc(l.sorted, addr, func(p *piece, addr uint64) int { return cmp.Compare(p.addr, addr) })
	if !found {
		at--
	}
	if at < 0 || addr-l.sorted[at].addr > l.sorted[at].size {
		return nil
	}
	return l.sorted[at]
}

// translate returns where an address of the program lies in the replay, and itself where it is none.
func (l *layout) translate(word uint64) uint64 {
	if p := l.find(word); p != nil {
		return p.at + word - p.addr
	}
	return word
}

// Files returns the files that the launch file refers to, by their paths relative to it.
func (c *Capture) Files() map[string][]byte { return c.files }

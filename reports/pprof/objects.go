package pprof

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/google/pprof/driver"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/reports"
)

// Objects lets pprof look into cubins. An address of a cubin is a file offset, as in the profiles that [reports.Pprof]
// makes once a mapping's start is taken off.
// pprof asks for several profiles' cubins at a time.
type Objects struct {
	mu   sync.Mutex
	byID map[string]*cubin.File // by build id
	used map[string]*cubin.File // by the name that pprof opened it under
}

// Add makes a cubin known.
func (o *Objects) Add(m *cubin.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID == nil {
		o.byID = make(map[string]*cubin.File)
		o.used = make(map[string]*cubin.File)
	}
	o.byID[buildID(m)] = m
}

func buildID(m *cubin.File) string {
	sum := sha256.Sum256(m.Raw)
	return hex.EncodeToString(sum[:])
}

var errNoCubin = errors.New("no such cubin")

// Open opens a cubin: one that came with a profile, which pprof looks for in a folder named after its build id, or a file.
func (o *Objects) Open(name string, start, _, _ uint64, _ string) (driver.ObjFile, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m, err := o.find(name)
	if err != nil {
		return nil, err
	}
	if o.used == nil {
		o.used = make(map[string]*cubin.File)
	}
	o.used[name] = m
	return &object{name, m, start}, nil
}

func (o *Objects) find(name string) (*cubin.File, error) {
	for _, part := range strings.Split(filepath.ToSlash(name), "/") {
		if m := o.byID[part]; m != nil {
			return m, nil
		}
	}
	if data, err := os.ReadFile(name); err == nil {
		return cubin.NewFile(name, data)
	}
	var found *cubin.File
	for _, m := range o.byID {
		if m.Name != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s: there are several of that name", name)
		}
		found = m
	}
	if found == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoCubin)
	}
	return found, nil
}

// Disasm lists the instructions between two file offsets.
func (o *Objects) Disasm(name string, start, end uint64, _ bool) ([]driver.Inst, error) {
	o.mu.Lock()
	m := o.used[name]
	o.mu.Unlock()
	if m == nil {
		return nil, fmt.Errorf("%s: %w", name, errNoCubin)
	}
	var list []driver.Inst
	for _, c := range m.Codes {
		base := m.Sections[c.Section].Offset
		for i := range c.Insts {
			if addr := base + c.Insts[i].PC; addr >= start && addr < end {
				list = append(list, instruction(m, c, &c.Insts[i], addr))
			}
		}
	}
	return list, nil
}

func instruction(m *cubin.File, c *cubin.Code, in *sass.Inst, addr uint64) driver.Inst {
	at := reports.Locate(m, c.Index, in.PC)
	text := in.Control.String() + " " + strings.TrimSuffix(at.SASS, " ;")
	return driver.Inst{Addr: addr, Text: text, Function: at.Function, File: at.File, Line: at.Line}
}

// A object is a cubin that pprof has opened, mapped at an address.
type object struct {
	name  string
	file  *cubin.File
	start uint64
}

// Name returns the name that it was opened under.
func (o *object) Name() string { return o.name }

// ObjAddr takes the start of the mapping off.
func (o *object) ObjAddr(addr uint64) (uint64, error) {
	if addr < o.start {
		return 0, fmt.Errorf("address %#x lies before the mapping of %s at %#x", addr, o.name, o.start)
	}
	return addr - o.start, nil
}

// BuildID returns the SHA-256 of the file.
func (o *object) BuildID() string { return buildID(o.file) }

// SourceLine returns the source lines of a file offset, innermost first. It fails where there are none: pprof takes an empty
// list for an answer.
func (o *object) SourceLine(addr uint64) ([]driver.Frame, error) {
	for _, c := range o.file.Codes {
		base := o.file.Sections[c.Section].Offset
		if addr < base || addr-base >= c.Size() {
			continue
		}
		var frames []driver.Frame
		for _, f := range c.Frames(addr - base) {
			frames = append(frames, driver.Frame{Func: f.Function, File: f.File, Line: f.Line})
		}
		if len(frames) > 0 {
			return frames, nil
		}
	}
	return nil, fmt.Errorf("no line for %#x in %s", addr, o.name)
}

// Symbols lists the functions whose names match, or the one that holds an address.
func (o *object) Symbols(r *regexp.Regexp, addr uint64) ([]*driver.Sym, error) {
	var list []*driver.Sym
	for _, c := range o.file.Codes {
		base := o.file.Sections[c.Section].Offset
		for i := range c.Functions {
			f := &c.Functions[i]
			first, last := base+f.Offset, base+f.Offset+f.Size-1
			if r != nil && !r.MatchString(f.Demangled) && !r.MatchString(f.Name) || addr != 0 && (addr < first || addr > last) {
				continue
			}
			list = append(list, &driver.Sym{Name: []string{f.Demangled}, File: o.name, Start: first, End: last})
		}
	}
	return list, nil
}

// Close does nothing: the cubin stays in memory.
func (o *object) Close() error { return nil }

package profiler

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gpa/cubin"
)

// What a saved profile may hold. A compressed entry can claim a thousand times the size of the file, and a short text
// can stand for a large structure, so both are bounded before anything is kept.
const (
	maxUnpacked  = 256 << 20 // bytes of all entries together
	maxExpansion = 100       // unpacked bytes for each byte of the file
	minUnpacked  = 1 << 20   // allowed whatever the file's size
	maxModules   = 1 << 12
	maxLaunches  = 1 << 16
	maxRecord    = 8 << 20 // bytes of the record of a launch
)

// Load reads a profile that [Save] wrote. Name is what errors call the file. The cubins are decoded again and the whole
// is held to [Check].
func Load(name string, r io.ReaderAt, size int64) (*Profile, error) {
	p, err := load(r, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

func load(r io.ReaderAt, size int64) (*Profile, error) {
	z, err := zip.NewReader(r, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, errors.New("not a gpa profile, nor any zip archive")
	}
	if err != nil {
		return nil, fmt.Errorf("not a readable gpa profile: %w", err)
	}
	a := &archive{
		entries: make(map[string]*zip.File, len(z.File)), cubins: make(map[string]*cubin.File),
		budget: max(minUnpacked, min(maxUnpacked, size*maxExpansion)),
	}
	for _, f := range z.File {
		a.entries[f.Name] = f
	}
	text, err := a.read(profileEntry)
	if err != nil {
		return nil, err
	}
	p, err := a.decode(text)
	if err != nil {
		return nil, err
	}
	if err := Check(p); err != nil {
		return nil, err
	}
	return p, nil
}

// An archive hands out entries as long as their sizes add up to no more than the budget.
type archive struct {
	entries map[string]*zip.File
	cubins  map[string]*cubin.File // decoded, by entry
	budget  int64
}

func (a *archive) read(name string) ([]byte, error) {
	f, ok := a.entries[name]
	if !ok {
		return nil, fmt.Errorf("not a whole gpa profile: entry %s is missing", name)
	}
	if f.UncompressedSize64 > uint64(a.budget) {
		return nil, fmt.Errorf("entry %s: %d bytes are too many for a file of this size", f.Name, f.UncompressedSize64)
	}
	a.budget -= int64(f.UncompressedSize64)
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", f.Name, err)
	}
	defer r.Close()
	// The zip reader stops at the declared size and reports a file that goes on.
	data, err := io.ReadAll(io.LimitReader(r, int64(f.UncompressedSize64)+1))
	if err != nil {
		return nil, fmt.Errorf("entry %s: %w", f.Name, err)
	}
	return data, nil
}

func (a *archive) decode(text []byte) (*Profile, error) {
	var saved savedProfile
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("%s: %w", profileEntry, err)
	}
	if saved.Format != formatName {
		return nil, fmt.Errorf("%s: the format is %q, not %q", profileEntry, saved.Format, formatName)
	}
	if saved.Version != formatVersion {
		return nil, fmt.Errorf("%s: version %d; this gpa reads version %d", profileEntry, saved.Version, formatVersion)
	}
	p := &Profile{Precise: saved.Precise}
	if err := eachElement(saved.Modules, func(d *json.Decoder) error { return a.addModule(p, d) }); err != nil {
		return nil, fmt.Errorf("%s: module %d: %w", profileEntry, len(p.Modules), err)
	}
	if err := eachElement(saved.Launches, func(d *json.Decoder) error { return addLaunch(p, d) }); err != nil {
		return nil, fmt.Errorf("%s: launch %d: %w", profileEntry, len(p.Launches), err)
	}
	return p, nil
}

// eachElement calls next for each element of a JSON list. Absent and null count as empty.
func eachElement(list json.RawMessage, next func(*json.Decoder) error) error {
	if len(list) == 0 || string(list) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(list))
	if open, err := d.Token(); err != nil {
		return err
	} else if open != json.Delim('[') {
		return errors.New("not a list")
	}
	for d.More() {
		if err := next(d); err != nil {
			return err
		}
	}
	return nil
}

func (a *archive) addModule(p *Profile, d *json.Decoder) error {
	var saved savedModule
	if err := d.Decode(&saved); err != nil {
		return err
	}
	if len(p.Modules) == maxModules {
		return fmt.Errorf("more than %d modules", maxModules)
	}
	file, err := a.cubin(saved)
	if err != nil {
		return err
	}
	p.Modules = append(p.Modules, file)
	return nil
}

// cubin decodes an entry, once for all modules that name it.
func (a *archive) cubin(saved savedModule) (*cubin.File, error) {
	decoded, ok := a.cubins[saved.File]
	if !ok {
		raw, err := a.read(saved.File)
		if err != nil {
			return nil, err
		}
		if decoded, err = cubin.NewFile(saved.Name, raw); err != nil {
			return nil, err
		}
		a.cubins[saved.File] = decoded
	}
	file := *decoded
	file.Name = saved.Name
	return &file, nil
}

func addLaunch(p *Profile, d *json.Decoder) error {
	var saved savedLaunch
	if err := d.Decode(&saved); err != nil {
		return err
	}
	if len(p.Launches) == maxLaunches {
		return fmt.Errorf("more than %d launches", maxLaunches)
	}
	l := &Launch{
		Kernel: saved.Kernel, Module: saved.Module, GPU: saved.GPU, Grid: saved.Grid, Block: saved.Block,
		Period: saved.Period, Facts: Facts(saved.Facts), Fault: saved.Fault.restore(), Missing: saved.Missing, Inherits: saved.Inherits.restore(),
		Alternatives: saved.Alternatives,
	}
	for _, t := range saved.Tries {
		l.Tries = append(l.Tries, Try(t))
	}
	var err error
	if l.Record, err = loadRecord(saved.Record); err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := eachElement(saved.Samples, l.addSample); err != nil {
		return fmt.Errorf("sample %d: %w", len(l.Samples), err)
	}
	if err := eachElement(saved.Counters, l.addCounter); err != nil {
		return fmt.Errorf("counter %d: %w", len(l.PCs), err)
	}
	p.Launches = append(p.Launches, l)
	return nil
}

// addSample and addCounter hold each element to the order at once: without that a long list of equal short elements
// would take many times the memory of its text.
func (l *Launch) addSample(d *json.Decoder) error {
	var saved savedSample
	if err := d.Decode(&saved); err != nil {
		return err
	}
	s, err := saved.restore()
	if err != nil {
		return err
	}
	if n := len(l.Samples); n > 0 && compareSamples(l.Samples[n-1], s) >= 0 {
		return errors.New("out of order or there twice")
	}
	l.Samples = append(l.Samples, s)
	return nil
}

func (l *Launch) addCounter(d *json.Decoder) error {
	var saved savedCounter
	if err := d.Decode(&saved); err != nil {
		return err
	}
	c := Counter(saved)
	if n := len(l.PCs); n > 0 && comparePlace(l.PCs[n-1].Code, l.PCs[n-1].PC, c.Code, c.PC) >= 0 {
		return errors.New("out of order or there twice")
	}
	l.PCs = append(l.PCs, c)
	return nil
}

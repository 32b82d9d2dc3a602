package profiler

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
)

// Save writes the profile with its cubins, each once however many modules hold it. The same profile gives the same
// bytes: entries carry no time.
func Save(w io.Writer, p *Profile) error {
	if err := save(w, p); err != nil {
		return fmt.Errorf("saving a profile: %w", err)
	}
	return nil
}

func save(w io.Writer, p *Profile) error {
	if err := Check(p); err != nil {
		return err
	}
	s := saver{archive: zip.NewWriter(w), written: make(map[string]bool)}
	modules := make([]savedModule, len(p.Modules))
	for i, m := range p.Modules {
		sum := sha256.Sum256(m.Raw)
		modules[i] = savedModule{Name: m.Name, File: "cubins/" + hex.EncodeToString(sum[:]) + ".cubin"}
		if err := s.write(modules[i].File, m.Raw); err != nil {
			return err
		}
	}
	text, err := encodeProfile(modules, p)
	if err != nil {
		return err
	}
	if err := s.write(profileEntry, text); err != nil {
		return err
	}
	return s.archive.Close()
}

// A saver writes each entry once and keeps to what Load accepts.
type saver struct {
	archive *zip.Writer
	written map[string]bool
	size    int64 // of the entries, unpacked
}

func (s *saver) write(name string, data []byte) error {
	if s.written[name] {
		return nil
	}
	s.written[name] = true
	if s.size += int64(len(data)); s.size > maxUnpacked {
		return fmt.Errorf("more than %d bytes", maxUnpacked)
	}
	method, err := packing(data)
	if err != nil {
		return err
	}
	return writeEntry(s.archive, name, method, data)
}

func writeEntry(z *zip.Writer, name string, method uint16, data []byte) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// packing compresses what does not compress so well that Load would take it for an attack: a thousand equal launches
// do, or a cubin with an array of zeros.
func packing(data []byte) (uint16, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(data); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	if int64(packed.Len())*maxExpansion < 2*int64(len(data)) {
		return zip.Store, nil
	}
	return zip.Deflate, nil
}

func encodeProfile(modules []savedModule, p *Profile) ([]byte, error) {
	list := make([]savedLaunch, len(p.Launches))
	for i, l := range p.Launches {
		saved, err := saveLaunch(l)
		if err != nil {
			return nil, err
		}
		list[i] = saved
	}
	out := savedProfile{Format: formatName, Version: formatVersion, Precise: p.Precise}
	var err error
	if out.Modules, err = json.Marshal(modules); err != nil {
		return nil, err
	}
	if out.Launches, err = json.Marshal(list); err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

func saveLaunch(l *Launch) (savedLaunch, error) {
	out := savedLaunch{
		Kernel: l.Kernel, Module: l.Module, GPU: l.GPU, Grid: l.Grid, Block: l.Block, Period: l.Period,
		Facts: savedFacts(l.Facts), Fault: saveFault(l.Fault), Missing: l.Missing, Inherits: saveInherits(l.Inherits),
		Alternatives: l.Alternatives,
	}
	samples := make([]savedSample, len(l.Samples))
	for i := range l.Samples {
		samples[i] = saveSample(&l.Samples[i])
	}
	counters := make([]savedCounter, len(l.PCs))
	for i := range l.PCs {
		counters[i] = savedCounter(l.PCs[i])
	}
	for _, t := range l.Tries {
		out.Tries = append(out.Tries, savedTry(t))
	}
	var err error
	if l.Record != nil {
		if out.Record, err = json.Marshal(saveRecord(l.Record)); err != nil {
			return out, err
		}
	}
	if out.Samples, err = json.Marshal(samples); err != nil {
		return out, err
	}
	out.Counters, err = json.Marshal(counters)
	return out, err
}

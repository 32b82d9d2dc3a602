package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"
)

// ErrMissing is the error of what is not in the store.
var ErrMissing = errors.New("not in the store")

// A DamagedError is the error of what is in the store and not what was written. It counts as a miss, which is told.
type DamagedError struct {
	Name string // of the file
	Why  string
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.Name, e.Why) }

// Is makes damaged files misses.
func (e *DamagedError) Is(target error) bool { return target == ErrMissing }

// A ConflictError is the error of a second result for a key that is not the first, byte by byte: either the key lacks something that
// results depend on, or a computation was not deterministic, or a machine errs. The store keeps the first.
type ConflictError struct {
	Key   Key
	Files []string // of the result that differ
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("two results for key %s differ in %s: the same computation gave other bytes", e.Key, strings.Join(e.Files, ", "))
}

// A Result is what was computed for a key: files by name, which lie in the store as blobs.
type Result struct {
	Files map[string]Key `json:"files"`
}

// A Folder is a store in a folder, which processes and machines may share:
//
//	blobs/ab/abcd…    contents by their SHA-256, compressed (RFC 1951)
//	results/ab/abcd…  results by key: a line with the SHA-256 of what follows, then JSON
//
// Files appear whole or not at all, and are never changed.
type Folder struct {
	dir     string
	writers sync.Pool // of *flate.Writer, which are large
}

// Open returns the store in a folder, which is made where it is not there.
func Open(dir string) (*Folder, error) {
	for _, sub := range []string{blobFolder, resultFolder} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	return &Folder{dir: dir}, nil
}

const (
	blobFolder   = "blobs"
	resultFolder = "results"
)

// Dir is the folder's name.
func (s *Folder) Dir() string { return s.dir }

func (s *Folder) name(sub string, k Key) string {
	text := k.String()
	return filepath.Join(s.dir, sub, text[:2], text)
}

// Put stores a blob and returns its key. One that is there is read, and replaced where it is damaged.
func (s *Folder) Put(data []byte) (Key, error) {
	k := KeyOf(data)
	if _, err := s.Blob(k); err == nil {
		return k, nil
	}
	packed, err := s.pack(data)
	if err != nil {
		return k, err
	}
	if _, err := place(s.name(blobFolder, k), packed); err != nil {
		return k, fmt.Errorf("store: %w", err)
	}
	return k, nil
}

func (s *Folder) pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, ok := s.writers.Get().(*flate.Writer)
	if !ok {
		var err error
		if w, err = flate.NewWriter(&packed, flate.BestSpeed); err != nil {
			return nil, err
		}
	}
	defer s.writers.Put(w)
	w.Reset(&packed)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return packed.Bytes(), err
}

// Holds reports whether there is a blob. Whether it can be read [Folder.Blob] says.
func (s *Folder) Holds(k Key) bool {
	_, err := os.Stat(s.name(blobFolder, k))
	return err == nil
}

// Blob returns the contents with a hash. A blob that is damaged is removed, so that it can be put again.
func (s *Folder) Blob(k Key) ([]byte, error) {
	name := s.name(blobFolder, k)
	packed, err := os.ReadFile(name)
	if err != nil {
		return nil, missing(err)
	}
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err == nil && KeyOf(data) != k {
		err = errors.New("its contents have another hash")
	}
	if err != nil {
		os.Remove(name)
		return nil, &DamagedError{name, err.Error()}
	}
	return data, nil
}

// missing turns the error of a file that is not there into ErrMissing.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	return fmt.Errorf("store: %w", err)
}

// Result returns the files of a key's result. Where one of them is lost or damaged the result is removed, and the error says so and is
// ErrMissing.
func (s *Folder) Result(k Key) (map[string][]byte, error) {
	r, err := s.record(k)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte, len(r.Files))
	for name, blob := range r.Files {
		data, err := s.Blob(blob)
		if errors.Is(err, ErrMissing) {
			os.Remove(s.name(resultFolder, k))
			return nil, &DamagedError{s.name(resultFolder, k), fmt.Sprintf("its %s is lost (%v)", name, err)}
		}
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// Has reports whether there is a result for a key. Whether all of it can be read [Folder.Result] says.
func (s *Folder) Has(k Key) bool {
	_, err := s.record(k)
	return err == nil
}

// record reads the list of a result's files.
func (s *Folder) record(k Key) (*Result, error) {
	name := s.name(resultFolder, k)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, missing(err)
	}
	sum, body, _ := bytes.Cut(data, []byte("\n"))
	r := new(Result)
	if err := json.Unmarshal(body, r); err != nil || string(sum) != checksum(k, body) {
		os.Remove(name)
		return nil, &DamagedError{name, "its checksum is not that of its contents"}
	}
	return r, nil
}

// checksum is that of a result under its key: a result under another's name is damaged.
func checksum(k Key, body []byte) string {
	h := sha256.New()
	h.Write(k[:])
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// Record stores a result. Where there is one already it is kept, and the error is a *ConflictError unless both are equal.
func (s *Folder) Record(k Key, files map[string][]byte) error {
	r := Result{make(map[string]Key, len(files))}
	for name, data := range files {
		blob, err := s.Put(data)
		if err != nil {
			return err
		}
		r.Files[name] = blob
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if first, err := s.record(k); err == nil {
		return conflict(k, first, &r)
	}
	data := append([]byte(checksum(k, body)+"\n"), body...)
	alone, err := place(s.name(resultFolder, k), data)
	switch {
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case alone:
		return nil
	}
	first, err := s.record(k) // another process was first
	if err != nil {
		return err
	}
	return conflict(k, first, &r)
}

func conflict(k Key, a, b *Result) error {
	var differ []string
	for name, blob := range b.Files {
		if a.Files[name] != blob {
			differ = append(differ, name)
		}
	}
	for name := range a.Files {
		if _, ok := b.Files[name]; !ok {
			differ = append(differ, name)
		}
	}
	if differ == nil {
		return nil
	}
	slices.Sort(differ)
	return &ConflictError{k, differ}
}

// Results lists the keys that there are results of.
func (s *Folder) Results() (keys []Key, err error) {
	names, err := filepath.Glob(filepath.Join(s.dir, resultFolder, "*", "*"))
	if err != nil {
		return nil, err
	}
	found := make(map[Key]bool)
	for _, name := range names {
		if k, err := ParseKey(filepath.Base(name)); err == nil {
			found[k] = true
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(a, b Key) int { return bytes.Compare(a[:], b[:]) }), nil
}

// place writes a file under another name and gives it its own then, unless another process was first; alone says that none was. It is not synced: a file that
// a crash damages is a miss.
func place(name string, data []byte) (alone bool, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return false, err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(file.Name())
	_, err = file.Write(data)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644) // others share the store; the file is read-only in use
	}
	if err != nil {
		return false, err
	}
	switch err := os.Link(file.Name(), name); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
		return false, nil
	default: // a file system without hard links
		return false, os.Rename(file.Name(), name)
	}
}

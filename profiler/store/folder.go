package store

import (
	"bytes"
	"cmp"
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
	"time"

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

// A record is what was computed for a key: files by name.
type record struct {
	Files map[string]Key    `json:"files"`           // the hashes of their contents
	Small map[string][]byte `json:"small,omitempty"` // of some, the contents, compressed; those of others are blobs
}

// mostSmall is how many bytes a file in a record may take. A file system makes a file in the time in which it writes many times that, and a bucket takes a request for it.
const mostSmall = 16 << 10

// A Folder is a store in a folder, which processes and machines may share:
//
//	blobs/ab/abcd…    contents by their SHA-256, compressed (RFC 1951)
//	results/ab/abcd…  results by key: a line with the SHA-256 of what follows, then JSON
//
// Files appear whole or not at all, and are never changed. Behind the folder there may be a bucket with objects of the same names: then what the folder lacks is
// fetched from there, and what is put goes there too.
type Folder struct {
	dir     string
	name    string    // that it was opened by
	bucket  *bucket   // nil for none
	writers sync.Pool // of *flate.Writer, which are large

	mu     sync.Mutex
	sent   map[Key]bool // blobs that the bucket has
	listed map[Key]bool // results that the bucket had when it was listed, nil before
	when   time.Time
}

// Variable is that of the environment which names the store where nothing else does.
const Variable = "GPA_STORE"

// Find opens the store of a name, or where there is none that of [Variable]; nil where neither names one.
func Find(name string) (*Folder, error) {
	if name = cmp.Or(name, os.Getenv(Variable)); name == "" {
		return nil, nil
	}
	return Open(name)
}

// FindAny is Find, with the user's own store where nothing is named.
func FindAny(name string) (*Folder, error) {
	if s, err := Find(name); s != nil || err != nil {
		return s, err
	}
	name, err := users()
	if err != nil {
		return nil, err
	}
	return Open(name)
}

// users is the folder of the user's own store.
func users() (string, error) {
	caches, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("the store has no place: %w", err)
	}
	return filepath.Join(caches, "gpa"), nil
}

// Open returns the store in a folder, which is made where it is not there, or s3://BUCKET/PREFIX with a folder of the user's caches in front of it.
func Open(name string) (*Folder, error) {
	s := &Folder{dir: name, name: name, sent: make(map[Key]bool)}
	if strings.HasPrefix(name, bucketScheme) {
		own, err := users()
		if err != nil {
			return nil, err
		}
		if s.bucket, err = openBucket(name); err != nil {
			return nil, err
		}
		place := KeyOf([]byte(s.bucket.client.EndpointURL().String() + " " + name))
		s.dir = filepath.Join(own, "buckets", place.String()[:16])
	}
	for _, sub := range []string{blobFolder, resultFolder} {
		if err := os.MkdirAll(filepath.Join(s.dir, sub), 0o777); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	return s, nil
}

const (
	blobFolder   = "blobs"
	resultFolder = "results"
)

// Dir is the folder's name.
func (s *Folder) Dir() string { return s.dir }

// Name is what [Open] opens the store by.
func (s *Folder) Name() string { return s.name }

func (s *Folder) file(sub string, k Key) string {
	text := k.String()
	return filepath.Join(s.dir, sub, text[:2], text)
}

// Put stores a blob and returns its key. One that is there is read, and replaced where it is damaged.
func (s *Folder) Put(data []byte) (Key, error) {
	k := KeyOf(data)
	_, err := s.blobHere(k)
	here := err == nil
	there, err := s.isSent(k)
	if err != nil || here && there {
		return k, err
	}
	packed, err := s.pack(data)
	if err == nil && !here {
		_, err = place(s.file(blobFolder, k), packed)
	}
	if err != nil {
		return k, fmt.Errorf("store: %w", err)
	}
	if !there {
		if _, err := s.bucket.put(blobFolder, k, packed); err != nil {
			return k, err
		}
		s.setSent(k)
	}
	return k, nil
}

// isSent reports whether the bucket has a blob, or there is no bucket.
func (s *Folder) isSent(k Key) (bool, error) {
	if s.bucket == nil {
		return true, nil
	}
	s.mu.Lock()
	sent := s.sent[k]
	s.mu.Unlock()
	if sent {
		return true, nil
	}
	there, err := s.bucket.holds(blobFolder, k)
	if there {
		s.setSent(k)
	}
	return there, err
}

func (s *Folder) setSent(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent[k] = true
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

// unpack returns the contents with a hash.
func unpack(k Key, packed []byte) ([]byte, error) {
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err == nil && KeyOf(data) != k {
		err = errors.New("its contents have another hash")
	}
	return data, err
}

// Holds reports whether the folder has a blob. Whether it can be read [Folder.Blob] says.
func (s *Folder) Holds(k Key) bool {
	_, err := os.Stat(s.file(blobFolder, k))
	return err == nil
}

// Blob returns the contents with a hash. A blob that is damaged is removed, so that it can be put again.
func (s *Folder) Blob(k Key) ([]byte, error) {
	data, err := s.blobHere(k)
	if err == nil || s.bucket == nil {
		return data, err
	}
	packed, err := s.bucket.get(blobFolder, k)
	if err != nil {
		return nil, err
	}
	if data, err = unpack(k, packed); err != nil {
		s.bucket.remove(blobFolder, k)
		return nil, &DamagedError{s.bucket.object(blobFolder, k), err.Error()}
	}
	place(s.file(blobFolder, k), packed) // a folder that takes nothing makes the next time take as long
	return data, nil
}

func (s *Folder) blobHere(k Key) ([]byte, error) {
	name := s.file(blobFolder, k)
	packed, err := os.ReadFile(name)
	if err != nil {
		return nil, missing(err)
	}
	data, err := unpack(k, packed)
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
		var data []byte
		if packed, ok := r.Small[name]; ok {
			data, err = unpack(blob, packed)
			if err != nil {
				err = fmt.Errorf("%w: %w", ErrMissing, err)
			}
		} else {
			data, err = s.Blob(blob)
		}
		if errors.Is(err, ErrMissing) {
			os.Remove(s.file(resultFolder, k))
			if s.bucket != nil {
				s.bucket.remove(resultFolder, k)
			}
			return nil, &DamagedError{s.file(resultFolder, k), fmt.Sprintf("its %s is lost (%v)", name, err)}
		}
		if err != nil {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// listFor is how long a list of the results in a bucket is good enough to say what need not be computed.
const listFor = 5 * time.Minute

// Has reports whether there is a result for a key, as far as is known without asking a bucket for each. Whether all of it can be read [Folder.Result] says.
func (s *Folder) Has(k Key) bool {
	if _, err := s.recordHere(k); err == nil || s.bucket == nil {
		return err == nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed == nil || time.Since(s.when) > listFor {
		keys, err := s.bucket.list(resultFolder)
		if err != nil {
			return false
		}
		s.listed, s.when = make(map[Key]bool, len(keys)), time.Now()
		for _, k := range keys {
			s.listed[k] = true
		}
	}
	return s.listed[k]
}

// record reads the list of a result's files.
func (s *Folder) record(k Key) (*record, error) {
	r, err := s.recordHere(k)
	if err == nil || s.bucket == nil {
		return r, err
	}
	data, err := s.bucket.get(resultFolder, k)
	if err != nil {
		return nil, err
	}
	if r, err = parseRecord(k, data); err != nil {
		s.bucket.remove(resultFolder, k)
		return nil, &DamagedError{s.bucket.object(resultFolder, k), err.Error()}
	}
	place(s.file(resultFolder, k), data)
	return r, nil
}

func (s *Folder) recordHere(k Key) (*record, error) {
	name := s.file(resultFolder, k)
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, missing(err)
	}
	r, err := parseRecord(k, data)
	if err != nil {
		os.Remove(name)
		return nil, &DamagedError{name, err.Error()}
	}
	return r, nil
}

func parseRecord(k Key, data []byte) (*record, error) {
	sum, body, _ := bytes.Cut(data, []byte("\n"))
	r := new(record)
	if err := json.Unmarshal(body, r); err != nil || string(sum) != checksum(k, body) {
		return nil, errors.New("its checksum is not that of its contents")
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
	r := record{make(map[string]Key, len(files)), make(map[string][]byte)}
	for name, data := range files {
		if err := s.add(&r, name, data); err != nil {
			return err
		}
	}
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if first, err := s.recordHere(k); err == nil && s.bucket == nil {
		return conflict(k, first, &r)
	}
	data := append([]byte(checksum(k, body)+"\n"), body...)
	if s.bucket != nil {
		alone, err := s.bucket.put(resultFolder, k, data)
		if err != nil {
			return err
		}
		if !alone { // what is there is the first, whatever the folder has
			os.Remove(s.file(resultFolder, k))
			first, err := s.record(k)
			if err != nil {
				return err
			}
			return conflict(k, first, &r)
		}
	}
	alone, err := place(s.file(resultFolder, k), data)
	switch {
	case err != nil:
		return fmt.Errorf("store: %w", err)
	case alone:
		return nil
	}
	first, err := s.recordHere(k) // another process was first
	if err != nil {
		return err
	}
	return conflict(k, first, &r)
}

// add adds a file to a record.
func (s *Folder) add(r *record, name string, data []byte) (err error) {
	if len(data) <= 8*mostSmall { // what is much longer does not become small
		packed, err := s.pack(data)
		if err != nil {
			return err
		}
		if len(packed) <= mostSmall {
			r.Files[name], r.Small[name] = KeyOf(data), packed
			return nil
		}
	}
	r.Files[name], err = s.Put(data)
	return err
}

func conflict(k Key, a, b *record) error {
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
	if s.bucket != nil {
		if keys, err = s.bucket.list(resultFolder); err != nil {
			return nil, err
		}
		for _, k := range keys {
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

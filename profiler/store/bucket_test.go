package store

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A fakeBucket answers what a store asks of S3: objects are put unless they are there, fetched, looked for, removed and listed. It has no signatures and
// one bucket.
type fakeBucket struct {
	mu      sync.Mutex
	objects map[string][]byte
	asked   map[string]int // requests, by method
}

func (f *fakeBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[r.Method]++
	name := strings.TrimPrefix(r.URL.Path, "/shared/")
	switch q := r.URL.Query(); {
	case r.Method == http.MethodGet && q.Has("location"):
		fmt.Fprint(w, `<LocationConstraint xmlns="http://s3.amazonaws.com/doc/2006-03-01/">us-east-1</LocationConstraint>`)
	case r.Method == http.MethodGet && q.Has("list-type"):
		f.list(w, q.Get("prefix"))
	case r.Method == http.MethodPut && r.Header.Get("If-None-Match") == "*" && f.objects[name] != nil:
		w.WriteHeader(http.StatusPreconditionFailed)
	case r.Method == http.MethodPut:
		data, err := io.ReadAll(r.Body)
		if err == nil && strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
			data, err = unchunked(data)
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		f.objects[name] = data
		w.Header().Set("ETag", `"1"`)
	case r.Method == http.MethodDelete:
		delete(f.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case f.objects[name] == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
		w.Header().Set("Content-Length", fmt.Sprint(len(f.objects[name])))
		if r.Method == http.MethodGet {
			w.Write(f.objects[name])
		}
	}
}

// unchunked takes the chunks of a body, each with its size and signature before it, apart.
func unchunked(body []byte) (data []byte, err error) {
	for len(body) > 0 {
		head, rest, _ := bytes.Cut(body, []byte("\r\n"))
		size, _, _ := bytes.Cut(head, []byte(";"))
		n, err := strconv.ParseUint(string(size), 16, 31)
		if err != nil || int(n)+2 > len(rest) {
			return nil, fmt.Errorf("a chunk begins with %q", head)
		}
		data, body = append(data, rest[:n]...), rest[n+2:]
		if n == 0 {
			break
		}
	}
	return data, nil
}

func (f *fakeBucket) list(w io.Writer, prefix string) {
	type content struct{ Key string }
	var result struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []content
	}
	for name := range f.objects {
		if strings.HasPrefix(name, prefix) {
			result.Contents = append(result.Contents, content{name})
		}
	}
	xml.NewEncoder(w).Encode(&result)
}

// newBucket starts a bucket, and says to stores where it is.
func newBucket(t *testing.T) *fakeBucket {
	f := &fakeBucket{objects: make(map[string][]byte), asked: make(map[string]int)}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": "", "AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_SESSION_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
	return f
}

// onMachine opens the store of a bucket as another machine does, whose folder is empty.
func onMachine(t *testing.T) *Folder {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	s, err := Open("s3://shared/results")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// incompressible is what is too long to lie in a record.
func incompressible(n int) []byte {
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(data)
	return data
}

// TestBucket records results on one machine and finds them on another, which fetches each but once.
func TestBucket(t *testing.T) {
	f := newBucket(t)
	key, files := KeyOf([]byte("key")), map[string][]byte{"report.json": []byte("{}"), "samples": incompressible(100_000)}
	first := onMachine(t)
	if _, err := first.Result(key); err != ErrMissing || first.Has(key) {
		t.Fatalf("an empty bucket: %v", err)
	}
	if err := first.Record(key, files); err != nil {
		t.Fatal(err)
	}
	other := onMachine(t)
	if keys, err := other.Results(); err != nil || !slices.Equal(keys, []Key{key}) || !other.Has(key) {
		t.Fatalf("results %v, %v", keys, err)
	}
	for range 2 {
		got, err := other.Result(key)
		if err != nil || !bytes.Equal(got["samples"], files["samples"]) || string(got["report.json"]) != "{}" {
			t.Fatalf("on another machine: %v", err)
		}
	}
	if n := f.asked[http.MethodGet]; n != 6 { // before there was one: the result and a list; then two lists, the result and its blob
		t.Errorf("%d objects were fetched", n)
	}
	var differ *ConflictError
	if err := onMachine(t).Record(key, map[string][]byte{"report.json": []byte("[]"), "samples": files["samples"]}); !errors.As(err, &differ) || !slices.Equal(differ.Files, []string{"report.json"}) {
		t.Errorf("another result: %v", err)
	}
	if err := onMachine(t).Record(key, files); err != nil {
		t.Errorf("the same result: %v", err)
	}
}

// TestBucketDamage harms objects, and files of the folder in front: those are fetched again, and a harmed object is a miss that is told once.
func TestBucketDamage(t *testing.T) {
	f := newBucket(t)
	key, files := KeyOf([]byte("key")), map[string][]byte{"samples": incompressible(100_000)}
	s := onMachine(t)
	if err := s.Record(key, files); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(s.Dir(), "*", "*", "*"))
	if len(names) != 2 {
		t.Fatal(names)
	}
	for _, name := range names {
		if err := os.Truncate(name, 10); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Result(key); err != nil || !bytes.Equal(got["samples"], files["samples"]) {
		t.Errorf("with a harmed folder: %v", err)
	}
	for name, data := range f.objects {
		f.objects[name] = slices.Concat(data[:20], []byte("?"), data[21:])
		other := onMachine(t)
		_, err := other.Result(key)
		var damaged *DamagedError
		if !errors.As(err, &damaged) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := other.Result(key); err != ErrMissing {
			t.Errorf("%s is there still: %v", name, err)
		}
		if err := other.Record(key, files); err != nil {
			t.Error(err)
		}
		if got, err := onMachine(t).Result(key); err != nil || !bytes.Equal(got["samples"], files["samples"]) {
			t.Errorf("%s: after that: %v", name, err)
		}
	}
}

// TestBucketAway holds that a bucket that cannot be asked is an error that names it, and no miss.
func TestBucketAway(t *testing.T) {
	newBucket(t)
	s := onMachine(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>")
	}))
	defer server.Close()
	t.Setenv("AWS_ENDPOINT_URL", server.URL)
	s, err := Open(s.Name())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Result(KeyOf(nil)); err == nil || errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "s3://shared/results: Access Denied") {
		t.Errorf("%v", err)
	}
	if err := s.Record(KeyOf(nil), map[string][]byte{"a": nil}); err == nil || !strings.Contains(err.Error(), "s3://shared/results") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"s3://", "s3:///prefix"} {
		if _, err := Open(name); err == nil {
			t.Errorf("%s is a bucket", name)
		}
	}
}

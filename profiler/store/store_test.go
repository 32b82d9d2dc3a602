package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

type inner struct {
	Value  float64
	Source string
}

type outer struct {
	Name   string
	Figure inner
	List   []int
	ByName map[string]int
	Next   *outer
	hidden int
}

func keyOf(t *testing.T, v any) Key {
	t.Helper()
	e := NewEncoder("test 1")
	e.Field("v", v)
	k, err := e.Sum()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestKey changes each part of a value: the key changes with what results depend on, and with nothing else.
func TestKey(t *testing.T) {
	base := func() *outer {
		return &outer{Name: "a", Figure: inner{1, "paper"}, List: []int{1, 2}, ByName: map[string]int{"x": 1, "y": 2}, Next: &outer{Name: "b"}}
	}
	first := keyOf(t, base())
	for name, change := range map[string]func(*outer){
		"source": func(o *outer) { o.Figure.Source = "another paper" },
		"hidden": func(o *outer) { o.hidden = 3 },
		"map":    func(o *outer) { o.ByName = map[string]int{"y": 2, "x": 1} },
	} {
		if o := base(); true {
			change(o)
			if keyOf(t, o) != first {
				t.Errorf("%s changes the key", name)
			}
		}
	}
	seen := map[Key]string{first: "base"}
	for name, change := range map[string]func(*outer){
		"name":       func(o *outer) { o.Name = "c" },
		"figure":     func(o *outer) { o.Figure.Value = 1.0000000000000002 },
		"list":       func(o *outer) { o.List = []int{2, 1} },
		"longer":     func(o *outer) { o.List = append(o.List, 0) },
		"map value":  func(o *outer) { o.ByName["x"] = 3 },
		"nested":     func(o *outer) { o.Next.Name = "" },
		"nil":        func(o *outer) { o.Next = nil },
		"moved text": func(o *outer) { o.Name, o.Next.Name = "ab", "" },
	} {
		o := base()
		change(o)
		k := keyOf(t, o)
		if other, ok := seen[k]; ok {
			t.Errorf("%s has the key of %s", name, other)
		}
		seen[k] = name
	}
	e := NewEncoder("test 1")
	e.Field("f", func() {})
	if _, err := e.Sum(); err == nil {
		t.Error("a function has a key")
	}
}

// TestKeyOfSequences holds that sequences of fields that differ have keys that differ, wherever the texts are cut.
func TestKeyOfSequences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.StringMatching(`[ab]{0,2}`), 0, 4)
		a, b := list.Draw(t, "a"), list.Draw(t, "b")
		sum := func(list []string) Key {
			e := NewEncoder("test 1")
			for _, s := range list {
				e.Field(s, s)
			}
			k, _ := e.Sum()
			return k
		}
		if same := fmt.Sprintf("%q", a) == fmt.Sprintf("%q", b); same != (sum(a) == sum(b)) {
			t.Fatalf("%q and %q: equal %v, keys equal %v", a, b, same, !same)
		}
	})
}

func open(t *testing.T) *Folder {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestResults(t *testing.T) {
	s, key := open(t), KeyOf([]byte("key"))
	if _, err := s.Result(key); !errors.Is(err, ErrMissing) {
		t.Fatalf("an empty store: %v", err)
	}
	files := map[string][]byte{"report.json": []byte("{}"), "empty": {}}
	for range 2 { // the same again is no conflict
		if err := s.Record(key, files); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Result(key)
	if err != nil || !bytes.Equal(got["report.json"], files["report.json"]) || got["empty"] == nil || len(got) != 2 {
		t.Fatalf("%q, %v", got, err)
	}
	var differ *ConflictError
	err = s.Record(key, map[string][]byte{"report.json": []byte("{ }"), "more": nil, "empty": nil})
	if !errors.As(err, &differ) || fmt.Sprint(differ.Files) != "[more report.json]" {
		t.Fatalf("another result: %v", err)
	}
	if got, err = s.Result(key); err != nil || string(got["report.json"]) != "{}" {
		t.Errorf("after a conflict: %q, %v", got, err)
	}
	if keys, err := s.Results(); err != nil || len(keys) != 1 || keys[0] != key {
		t.Errorf("keys %v, %v", keys, err)
	}
}

// TestDamage harms each file of a result in several ways: every one is a miss that is told, and the result can be recorded again.
func TestDamage(t *testing.T) {
	ways := map[string]func(name string) error{
		"lost":      os.Remove,
		"empty":     func(name string) error { return os.WriteFile(name, nil, 0o644) },
		"shortened": func(name string) error { info, _ := os.Stat(name); return os.Truncate(name, info.Size()-1) },
		"flipped": func(name string) error {
			data, err := os.ReadFile(name)
			data[len(data)/2] ^= 4
			return errors.Join(err, os.WriteFile(name, data, 0o644))
		},
	}
	files := map[string][]byte{"report.json": incompressible(2 * mostSmall), "small": []byte("cycles")}
	for how, harm := range ways {
		for _, sub := range []string{blobFolder, resultFolder} {
			s, key := open(t), KeyOf([]byte("key"))
			if err := s.Record(key, files); err != nil {
				t.Fatal(err)
			}
			names, _ := filepath.Glob(filepath.Join(s.Dir(), sub, "*", "*"))
			if len(names) != 1 {
				t.Fatalf("%v", names)
			}
			if err := harm(names[0]); err != nil {
				t.Fatal(err)
			}
			_, err := s.Result(key)
			var damaged *DamagedError
			if !errors.Is(err, ErrMissing) || !(how == "lost" && sub == resultFolder) && !errors.As(err, &damaged) {
				t.Errorf("%s %s: %v", how, sub, err)
			}
			if err := s.Record(key, files); err != nil {
				t.Errorf("%s %s: recorded again: %v", how, sub, err)
			}
			if got, err := s.Result(key); err != nil || !bytes.Equal(got["report.json"], files["report.json"]) {
				t.Errorf("%s %s: after that: %v", how, sub, err)
			}
		}
	}
}

// TestWriters lets many record under one key at a time: all agree on the first.
func TestWriters(t *testing.T) {
	s, key := open(t), KeyOf([]byte("key"))
	var group sync.WaitGroup
	conflicts := make([]error, 16)
	for i := range conflicts {
		group.Go(func() { conflicts[i] = s.Record(key, map[string][]byte{"r": {byte(i % 2)}}) })
	}
	group.Wait()
	got, err := s.Result(key)
	if err != nil {
		t.Fatal(err)
	}
	for i, err := range conflicts {
		var differ *ConflictError
		if same := got["r"][0] == byte(i%2); same != (err == nil) || !same && !errors.As(err, &differ) {
			t.Errorf("writer %d: same %v, %v", i, same, err)
		}
	}
}

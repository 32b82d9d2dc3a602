package gpa

import (
	"bytes"
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gpa/emu/arch"
	"gpa/profiler/store"
)

// simulated are the packages on which samples depend, with all that these import, and the files of this one that do.
var (
	simulated      = []string{"emu/launch", "emu/record", "profiler/sampler"}
	simulatedFiles = []string{"cyclelimit.go", "gpa.go", "run.go", "target.go"}
)

// TestSimulationVersion holds that simulationVersion is the hash of the code on which samples depend, so that no store hands out those of another emulated GPU.
func TestSimulationVersion(t *testing.T) {
	files := slices.Clone(simulatedFiles)
	met := make(map[string]bool)
	var visit func(folder string)
	visit = func(folder string) {
		if met[folder] {
			return
		}
		met[folder] = true
		names, err := filepath.Glob(filepath.Join(folder, "*.*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			switch {
			case strings.HasSuffix(name, "_test.go"):
				continue
			case filepath.Ext(name) == ".go":
				for _, imported := range importsOf(t, name) {
					visit(imported)
				}
			case filepath.Ext(name) != ".s":
				continue
			}
			files = append(files, name)
		}
	}
	for _, folder := range simulated {
		visit(folder)
	}
	if len(met) < 10 || !met["emu"] || !met["cubin/sass"] {
		t.Fatalf("samples would depend on %v alone", met)
	}
	slices.Sort(files)
	h := sha256.New()
	for _, name := range files {
		fmt.Fprintf(h, "%s\n%s\n", filepath.ToSlash(name), tokens(t, name))
	}
	want := fmt.Sprintf("%x", h.Sum(nil)[:8])
	if want == simulationVersion {
		return
	}
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		text, err := os.ReadFile("stored.go")
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`(const simulationVersion = ")[^"]*"`).ReplaceAll(text, []byte("${1}"+want+`"`))
		if err := os.WriteFile("stored.go", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("the code on which samples depend has changed, simulationVersion has not (go test . -run SimulationVersion -update writes it anew)")
}

// importsOf lists the folders of the module's packages that a file imports.
func importsOf(t *testing.T, name string) (folders []string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range file.Imports {
		path, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if folder, ok := strings.CutPrefix(path, "gpa/"); ok {
			folders = append(folders, filepath.FromSlash(folder))
		}
	}
	return folders
}

// tokens is a file without comments and the space between words.
func tokens(t *testing.T, name string) []byte {
	text, err := os.ReadFile(name)
	if err != nil || filepath.Ext(name) != ".go" {
		return text
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile(name, -1, len(text)), text, func(_ token.Position, msg string) { t.Fatalf("%s: %s", name, msg) }, 0)
	var out bytes.Buffer
	for {
		_, tok, literal := s.Scan()
		if tok == token.EOF {
			return out.Bytes()
		}
		fmt.Fprintln(&out, tok, literal)
	}
}

// keeping is a target with options that keep results in a store of the test.
func keeping(t *testing.T, name string) (*Target, Options) {
	t.Helper()
	target, err := Load(name, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return target, Options{Keep: Keeping{Store: s, Memory: true}, Tell: func(err error) { t.Error(err) }}
}

func saved(t *testing.T, r *Result) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := r.Save(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestLevels analyzes a launch by one program, then by another with the same emulated GPU: that advises and tries on the samples of the first, and comes to what it
// comes to by itself. That the launch did not run again is seen by its samples: others were put in their place.
func TestLevels(t *testing.T) {
	target, o := keeping(t, "kernels/patterns/rows_tiny")
	program := func(n byte) func() (store.Key, error) {
		return func() (store.Key, error) { return store.Key{n}, nil }
	}
	analyzed := func(o Options, n byte) *Result {
		t.Helper()
		a := analysis{Analysis: Analysis{Try: &TryOptions{First: 1}}, target: target, options: o, program: program(n)}
		r, err := a.result(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	alone := o
	alone.Keep = Keeping{}
	want := saved(t, analyzed(alone, 1))
	count := func() int {
		keys, err := o.Keep.Store.Results()
		if err != nil {
			t.Fatal(err)
		}
		return len(keys)
	}
	for i, c := range []struct {
		program byte
		results int
	}{{1, 3}, {1, 3}, {2, 4}} { // samples, memory, and what each program has made of them
		r := analyzed(o, c.program)
		if !bytes.Equal(saved(t, r), want) || count() != c.results {
			t.Errorf("time %d: equal %v, %d results", i, bytes.Equal(saved(t, r), want), count())
		}
		if ran := i == 0; (len(r.Outputs) > 0) != ran { // those that a run has compared
			t.Errorf("time %d: ran %v", i, !ran)
		}
	}
	o.Keep.Again = true
	if r := analyzed(o, 2); !bytes.Equal(saved(t, r), want) || len(r.Outputs) == 0 {
		t.Error("it was not computed again")
	}
	o.Keep.Again = false
	target.GPU, _ = arch.ByName("titanv")
	analyzed(o, 2)
	if n := count(); n != 7 {
		t.Errorf("with another GPU there are %d results", n)
	}
}

// TestRecall brings the memory of launches back whose samples come from a store: out of the store, or by running them where it has none, or a damaged one.
func TestRecall(t *testing.T) {
	target, o := keeping(t, "kernels/basic/saxpy")
	output := func(r *Result) []byte {
		t.Helper()
		if err := r.Recall(t.Context()); err != nil {
			t.Fatal(err)
		}
		data, err := r.Output("y")
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	profile := func(ctx context.Context, o Options) *Result {
		t.Helper()
		r, err := target.Profile(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := output(profile(t.Context(), o))
	kept := profile(t.Context(), o)
	if kept.Session() != nil {
		t.Fatal("the launches ran")
	}
	if _, err := kept.Output("y"); err != ErrNotRun {
		t.Errorf("before: %v", err)
	}
	if !bytes.Equal(output(kept), want) {
		t.Error("other outputs")
	}
	key, err := target.memoryKey(&o)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(o.Keep.Store.Dir(), "results", key.String()[:2], key.String())
	told := 0
	o.Tell = func(error) { told++ }
	for i, harm := range []func() error{func() error { return os.Remove(name) }, func() error { return os.Truncate(name, 80) }} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(output(profile(t.Context(), o)), want) || told != i {
			t.Errorf("harm %d: other outputs, or told %d times", i, told)
		}
		if !o.Keep.Store.Has(key) {
			t.Errorf("harm %d: they are not kept again", i)
		}
	}
}

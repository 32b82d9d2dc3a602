package main

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"gpa"
	"gpa/emu"
	"gpa/kernels"
	"gpa/profiler/sampler"
)

var update = flag.Bool("update", false, "write the sessions and pictures of the documents anew")

const readme = "README.md"

// sessions finds the sessions that a document shows: the command after the prompt and its standard output.
var sessions = regexp.MustCompile("(?m)^```\n\\$ gpa (.*)\n((?s).*?)```$")

// TestReadme runs the sessions that the README and the documents show, in the repository's root, and compares the output.
func TestReadme(t *testing.T) {
	t.Chdir("../..")
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(documents, readme) {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !sessions.Match(data) && name == readme {
				t.Error("it shows no session")
			}
			text := sessions.ReplaceAllStringFunc(string(data), func(session string) string { return runSession(t, session) })
			if *update {
				if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// runSession runs a session and returns it with the output that came.
func runSession(t *testing.T, session string) string {
	m := sessions.FindStringSubmatch(session)
	line, shown := m[1], m[2]
	got, stderr, status := invoke(t, strings.Fields(strings.ReplaceAll(line, "'", ""))...)
	if status == exitUsage {
		t.Errorf("gpa %s: %s", line, stderr)
	}
	if got != shown && !*update {
		t.Errorf("gpa %s prints\n%s\nthe document shows\n%s\n(go test ./cmd/gpa -run Readme -update writes it anew)", line, got, shown)
	}
	return "```\n$ gpa " + line + "\n" + got + "```"
}

// A profiledKernel is a built-in kernel's profile as a user sees it: what was printed, the folder of --out and the page of --html. Nobody writes to them.
type profiledKernel struct {
	stdout, dir, page string
}

var (
	profiledKernels sync.Map // by name; functions that return a profiledKernel
	profilesFolder  = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gpa-profiled-") })
)

// profiledBuiltin profiles a built-in kernel, once for all tests that read what came out.
func profiledBuiltin(t *testing.T, name string) profiledKernel {
	t.Helper()
	once, _ := profiledKernels.LoadOrStore(name, sync.OnceValues(func() (p profiledKernel, err error) {
		folder, err := profilesFolder()
		if err != nil {
			return p, err
		}
		p.dir, p.page = filepath.Join(folder, name), filepath.Join(folder, name+".html")
		stdout, stderr, status := invoke(t, "profile", name, "--out", p.dir, "--html", p.page)
		if status != exitDone {
			return p, fmt.Errorf("status %d: %s", status, stderr)
		}
		p.stdout = stdout
		return p, nil
	}))
	p, err := once.(func() (profiledKernel, error))()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestSameBytes profiles every built-in kernel twice: the files must be identical.
func TestSameBytes(t *testing.T) {
	for _, name := range kernels.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := profiledBuiltin(t, name).dir, t.TempDir()
			if _, stderr, status := invoke(t, "profile", name, "--out", second); status != exitDone {
				t.Fatalf("status %d: %s", status, stderr)
			}
			files := 0
			err := filepath.WalkDir(first, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				files++
				a, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				b, err := os.ReadFile(filepath.Join(second, entry.Name()))
				if err == nil && !bytes.Equal(a, b) {
					t.Errorf("%s differs", entry.Name())
				}
				return err
			})
			if err != nil || files != 5 {
				t.Errorf("%d files, %v", files, err)
			}
		})
	}
}

// TestAdviseAgain advises from a saved profile: the same advice.
func TestAdviseAgain(t *testing.T) {
	saved := profiledBuiltin(t, "sgemm_tiled")
	first := saved.stdout
	again, stderr, status := invoke(t, "advise", saved.dir)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, line := range strings.Split(first, "\n") {
		if strings.Contains(line, "estimated speedup") && !strings.Contains(again, line) {
			t.Errorf("advice again lacks %q", line)
		}
	}
}

// BenchmarkCorpus profiles every kernel of the corpus and reports warp instructions per second, sampling included; the
// functional half runs them without timing.
func BenchmarkCorpus(b *testing.B) {
	for _, verb := range []string{"run", "profile"} {
		b.Run(verb, func(b *testing.B) {
			var instructions int64
			for range b.N {
				instructions += benchmarkAll(b, verb)
			}
			b.ReportMetric(float64(instructions)/b.Elapsed().Seconds(), "winst/s")
		})
	}
}

// benchmarkAll does one verb to every kernel, timing only the launches, and returns the warp instructions executed.
func benchmarkAll(b *testing.B, verb string) (instructions int64) {
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		b.Fatalf("no kernels: %v", err)
	}
	for _, name := range files {
		b.StopTimer()
		target, err := gpa.Load(name, gpa.LoadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		level := emu.TimingNone
		var o emu.Observer
		if verb == "profile" {
			level = emu.TimingFull
			if o, err = sampler.New(sampler.Options{}); err != nil {
				b.Fatal(err)
			}
		}
		s, err := target.Session(b.Context(), level, gpa.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		for i := range target.File.Launches {
			for range target.File.Launches[i].Repeat {
				result, err := s.Run(b.Context(), i, o)
				if err != nil {
					b.Fatal(err)
				}
				instructions += result.WarpInstructions
			}
		}
	}
	return instructions
}

package kernels

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// ladderArchitectures are those that the versions of a ladder are built for.
var ladderArchitectures = []int{70, 80, 90}

// bufferLine is a buffer in a launch file of the corpus, with its name.
var bufferLine = regexp.MustCompile(`(?m)^  (\w+): \{type: .*\}$`)

// A ladder is a folder with the versions of a kernel, in the order of its ladder.json.
type ladder struct {
	dir      string
	versions []string
}

func ladders(t *testing.T) []ladder {
	t.Helper()
	files, err := filepath.Glob("ladders/*/ladder.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no ladders: %v", err)
	}
	var list []ladder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var spec struct {
			Versions []struct {
				Version string `json:"version"`
			} `json:"versions"`
		}
		if err := json.Unmarshal(data, &spec); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		l := ladder{dir: filepath.ToSlash(filepath.Dir(file))}
		for _, v := range spec.Versions {
			l.versions = append(l.versions, v.Version)
		}
		list = append(list, l)
	}
	return list
}

// TestLadders holds that there are 25 ladders and 100 versions at least, that each has what it needs and nothing else, and that the
// versions of one begin with the same buffers.
func TestLadders(t *testing.T) {
	all, versions := ladders(t), 0
	for _, l := range all {
		versions += len(l.versions)
		t.Run(path.Base(l.dir), func(t *testing.T) { l.check(t) })
	}
	if len(all) < 25 || versions < 100 {
		t.Errorf("%d ladders with %d versions", len(all), versions)
	}
}

func (l *ladder) check(t *testing.T) {
	dir := os.DirFS(l.dir)
	expected := map[string]bool{"ladder.json": true, "reference.py": true}
	buffers := map[string]string{}
	for _, v := range l.versions {
		expected[v+".cu"], expected[v+".yaml"] = true, true
		text, err := fs.ReadFile(dir, v+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("module: cubins/%s.sm_70.cubin\n", v); !strings.HasPrefix(string(text), want) {
			t.Errorf("%s does not begin with %q", v, want)
		}
		for _, m := range regexp.MustCompile(`file: ([\w.-]+)`).FindAllSubmatch(text, -1) {
			expected[string(m[1])] = true
		}
		for _, m := range bufferLine.FindAllSubmatch(text, -1) {
			name := string(m[1])
			if buffers[name] == "" {
				buffers[name] = string(m[0])
			} else if buffers[name] != string(m[0]) {
				t.Errorf("%s has another buffer %s than a version before it", v, name)
			}
		}
		for _, a := range ladderArchitectures {
			cubin := fmt.Sprintf("%s.sm_%d.cubin.gz", v, a)
			expected["cubins/"+cubin] = true
			checkCubin(t, l.dir+"/cubins", cubin, v)
		}
	}
	checkListing(t, dir, expected)
}

// checkListing checks that a folder holds just the files that are expected, none of them empty.
func checkListing(t *testing.T, dir fs.FS, expected map[string]bool) {
	t.Helper()
	var found []string
	err := fs.WalkDir(dir, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Size() == 0 {
			t.Errorf("%s is empty", file)
		}
		if found = append(found, file); !expected[file] {
			t.Errorf("%s is not used", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for file := range expected {
		if !slices.Contains(found, file) {
			t.Errorf("%s is missing", file)
		}
	}
}

package launch

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestWrite holds that a written launch file is the one that was read, for all of the corpus: places in the file aside.
func TestWrite(t *testing.T) {
	names, err := filepath.Glob("../../kernels/*/*/*.yaml")
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkWritten(t, name, data)
	}
}

// TestWriteAll holds it for keys that the corpus lacks.
func TestWriteAll(t *testing.T) {
	checkWritten(t, "all.yaml", []byte(`
module: "odd name: #.cubin"
stack: 1024
heap: 4096
caches: warm
buffers:
  "a: b": {type: f32, shape: [4, 0], init: {normal: [0.5, 1e-3], seed: -1}}
  p: {type: u64, shape: [4], init: {iota: [18446744073709551615, 1]}, pointers: [{at: 8, buffer: "a: b", offset: -4}]}
  q: {init: {file: q.npy}, pointers: {file: q.tsv}}
  r: {type: i32, shape: [4], init: {permutation: true}}
  m: {type: f16, shape: [64, 64], init: {none: true}}
symbols:
  s: {init: {fill: .inf}}
  z: {type: u8, init: {zero: true}}
launches:
  - kernel: "f<1, \"é\">"
    grid: [1, 2, 3]
    block: [32]
    shared: 12
    cluster: [2]
    cooperative: true
    repeat: 3
    args: [{f32: 2.5}, {u64: 18446744073709551615}, {bytes: "00ff"}, {buffer: r, offset: -8}, {tensormap: {buffer: m, type: f16, dims: [64, 64], strides: [128], box: [64, 8], swizzle: 128, fill: nan}}]
expect:
  r: {file: r.npy, rtol: 1e-5}
`))
}

func checkWritten(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := Parse(name, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	written := f.Write(func(name string) string { return name })
	again, err := Parse(name, written, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, written)
	}
	withoutPlaces(reflect.ValueOf(f))
	withoutPlaces(reflect.ValueOf(again))
	if !reflect.DeepEqual(f, again) {
		t.Errorf("%s was written as\n%s", name, written)
	}
	if strings.Contains(string(data), "  z: ") && !strings.Contains(string(written), `"z": {type: u8, init: {zero: true}}`) {
		t.Errorf("%s", written)
	}
	renamed := string(f.Write(func(name string) string { return "files/" + name }))
	for _, file := range f.Files() {
		if !strings.Contains(renamed, quoted("files/"+file)) {
			t.Errorf("%s: %s was not renamed in\n%s", name, file, renamed)
		}
	}
}

// withoutPlaces clears the positions in a file.
func withoutPlaces(v reflect.Value) {
	f := v.Interface().(*File)
	for _, list := range [][]Buffer{f.Buffers, f.Symbols} {
		for i := range list {
			list[i].at, list[i].Init.at = position{}, position{}
		}
	}
	for i := range f.Launches {
		f.Launches[i].at = position{}
		for k := range f.Launches[i].Args {
			f.Launches[i].Args[k].at = position{}
		}
	}
	for i := range f.Expect {
		f.Expect[i].at = position{}
	}
}

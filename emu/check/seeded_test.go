package check_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gpa/cubin"
	"gpa/emu"
	"gpa/emu/check"
	"gpa/emu/launch"
)

// A seeded kernel is one of testdata with its launch and what its comments say that is found.
type seeded struct {
	file, name  string
	grid, block int
	shared      int
	padding     int64
	maps        int // buffers of which the kernel gets tensor maps
	first, last int // architectures
	args        []string
	expected    []expectation
}

// An expectation is a finding. On the line of the kernel's end it is one somewhere in the kernel.
type expectation struct {
	line         int
	kind         string // or "any race"
	block, tid   int    // -1 where the thread is left open
	optional, in bool   // in: somewhere in the kernel
}

var (
	launchLine = regexp.MustCompile(`^//: (\d+) (\d+)(.*)$`)
	kernelLine = regexp.MustCompile(`__global__ void (?:__cluster_dims__\(\d+\) )?(\w+)\(`)
	errorLine  = regexp.MustCompile(`//([!?]) ([a-z_' -]+[a-z])(?: (\d+)/(\d+))?`)
)

// readSeeded reads the kernels of a file of testdata.
func readSeeded(t *testing.T, file string) []*seeded {
	t.Helper()
	data, err := os.ReadFile("testdata/" + file + "/" + file + ".cu")
	if err != nil {
		t.Fatal(err)
	}
	var list []*seeded
	for i, line := range strings.Split(string(data), "\n") {
		if m := launchLine.FindStringSubmatch(line); m != nil {
			list = append(list, newSeeded(file, m))
		}
		if m := kernelLine.FindStringSubmatch(line); m != nil {
			list[len(list)-1].name = m[1]
		}
		for _, m := range errorLine.FindAllStringSubmatch(line, -1) {
			k := list[len(list)-1]
			k.expected = append(k.expected, newExpectation(i+1, line, m))
		}
	}
	return list
}

func newExpectation(number int, line string, m []string) expectation {
	x := expectation{line: number, kind: m[2], block: -1, tid: -1, optional: m[1] == "?", in: strings.HasPrefix(line, "}")}
	if m[3] != "" {
		x.block, _ = strconv.Atoi(m[3])
		x.tid, _ = strconv.Atoi(m[4])
	}
	return x
}

func newSeeded(file string, m []string) *seeded {
	k := &seeded{file: file, first: 70, last: 90}
	k.grid, _ = strconv.Atoi(m[1])
	k.block, _ = strconv.Atoi(m[2])
	for _, word := range strings.Fields(m[3]) {
		if v, ok := strings.CutPrefix(word, "shared="); ok {
			k.shared, _ = strconv.Atoi(v)
		} else if v, ok := strings.CutPrefix(word, "padding="); ok {
			k.padding, _ = strconv.ParseInt(v, 10, 64)
		} else if word == "maps" {
			k.maps = len(k.args)
		} else if v, ok := strings.CutPrefix(word, "maps="); ok {
			k.maps, _ = strconv.Atoi(v)
		} else if v, ok := strings.CutPrefix(word, "sm="); ok {
			first, last, ends := strings.Cut(v, "-")
			k.first, _ = strconv.Atoi(first)
			if ends {
				k.last, _ = strconv.Atoi(last)
			}
		} else {
			k.args = append(k.args, word)
		}
	}
	return k
}

// meets reports whether a finding is the expected one.
func (x *expectation) meets(f *check.Finding) bool {
	if string(f.Kind) != x.kind && (x.kind != "any race" || f.Kind.Family() != "race") {
		return false
	}
	if x.in {
		return x.optional || len(f.At.Frames) > 0 && f.At.Frames[0].Line > 0
	}
	if x.tid >= 0 && (f.At.Block[0] != x.block || f.At.Thread[0] != x.tid) {
		return false
	}
	return onLine(f.At.Frames, x.line)
}

func onLine(frames []cubin.Frame, line int) bool {
	for _, frame := range frames {
		if frame.Line == line {
			return true
		}
	}
	return false
}

// Of the seeded errors each is found, at its line and with its thread, on every architecture, and nothing else is.
func TestSeeded(t *testing.T) {
	for _, file := range []string{"memory", "init", "race", "sync", "hopper", "blackwell"} {
		for _, k := range readSeeded(t, file) {
			for _, a := range append(slices.Clone(architectures), 100) {
				if a < k.first || a > k.last {
					continue
				}
				t.Run(fmt.Sprintf("%s/sm_%d", k.name, a), func(t *testing.T) { k.check(t, a) })
			}
		}
	}
}

func (k *seeded) check(t *testing.T, architecture int) {
	c := launch.Command{Module: fmt.Sprintf("%s.sm_%d.cubin", k.file, architecture), Kernel: k.name, Shared: k.shared,
		Grid: [3]int{k.grid, 1, 1}, Block: [3]int{k.block, 1, 1}, Args: k.args}
	file, err := c.File(launch.OSDir("testdata/" + k.file))
	if err != nil {
		t.Fatal(err)
	}
	for i := range k.maps {
		file.Launches[0].Args[i].Map = &launch.TensorMap{Type: emu.TensorF32, Sizes: []uint64{32, 32}, Strides: []uint64{128},
			Box: []uint32{32, 8}, ElementStrides: []uint32{1, 1}}
	}
	found := checked(t, file, emu.Options{Padding: k.padding}, 0)
	met := make([]bool, len(k.expected))
	for _, f := range found {
		known := false
		for i := range k.expected {
			if k.expected[i].meets(f) {
				met[i], known = true, true
			}
		}
		if !known {
			t.Errorf("found besides: %s at %s, block %v thread %v, %s %s", f.Kind, lines(f.At.Frames), f.At.Block, f.At.Thread, f.Where, f.Detail)
		}
	}
	for i := range k.expected {
		if x := &k.expected[i]; !met[i] && !x.optional {
			t.Errorf("line %d: not found: %s, block %d thread %d", x.line, x.kind, x.block, x.tid)
		}
	}
}

func lines(frames []cubin.Frame) string {
	var list []string
	for _, f := range frames {
		list = append(list, strconv.Itoa(f.Line))
	}
	return "line " + strings.Join(list, " in ")
}

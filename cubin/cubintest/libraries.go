// Package cubintest samples the device code of libraries for tests.
package cubintest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// Libraries are the files below a folder, cubins and libraries that embed them among them.
type Libraries struct {
	Dir    string
	Sample int // instructions of a file and architecture after which no more cubins are taken
}

// OfEnvironment returns the libraries below the folder that GPA_SASS_LIBRARIES names, and skips the test where it names none.
// GPA_SASS_SAMPLE is the size of the sample, 200,000 where it is not set.
func OfEnvironment(t testing.TB) Libraries {
	t.Helper()
	l := Libraries{Dir: os.Getenv("GPA_SASS_LIBRARIES")}
	if l.Dir == "" {
		t.Skip("GPA_SASS_LIBRARIES is not set")
	}
	var err error
	if l.Sample, err = strconv.Atoi(cmp.Or(os.Getenv("GPA_SASS_SAMPLE"), "200000")); err != nil {
		t.Fatalf("GPA_SASS_SAMPLE: %v", err)
	}
	return l
}

// Visit calls a function with cubins for some architectures from all over each file until there are enough of them. The function
// returns how many instructions a cubin has. Files without device code are passed over.
func (l Libraries) Visit(archs []sass.Arch, visit func(arch sass.Arch, code []byte) (instructions int, err error)) error {
	return filepath.WalkDir(l.Dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := l.visitFile(file, archs, visit); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
}

func (l Libraries) visitFile(file string, archs []sass.Arch, visit func(sass.Arch, []byte) (int, error)) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	entries, err := cubin.Entries(data)
	if errors.Is(err, cubin.ErrNotCubin) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, arch := range archs {
		of := cubinsFor(entries, arch)
		taken := 0
		for _, k := range spread(len(of)) {
			if taken >= l.Sample {
				break
			}
			code, err := entries[of[k]].Read()
			if err != nil {
				return fmt.Errorf("entry %d: %w", of[k]+1, err)
			}
			n, err := visit(arch, code)
			if err != nil {
				return fmt.Errorf("entry %d: %w", of[k]+1, err)
			}
			taken += n
		}
	}
	return nil
}

// cubinsFor lists the entries that are cubins for an architecture.
func cubinsFor(entries []cubin.Entry, arch sass.Arch) (list []int) {
	for i := range entries {
		if entries[i].Kind == cubin.CubinEntry && sass.Arch(entries[i].SM) == arch {
			list = append(list, i)
		}
	}
	return list
}

// spread returns a permutation of 0 … n-1 whose beginnings lie all over the range: the numbers in the order of their
// binary digits read backwards.
func spread(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(bits.Reverse64(uint64(a)), bits.Reverse64(uint64(b))) })
	return order
}

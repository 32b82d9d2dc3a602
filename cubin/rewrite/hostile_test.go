package rewrite

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"gpa/cubin"
)

// allocated returns the bytes that a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileCode changes two bytes of kernels' code, or anywhere in their files, and rewrites them in every way. None panics or takes a gigabyte.
func TestHostileCode(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("../../kernels/divergence/*/*.sm_70.cubin.gz")
	if err != nil || len(names) == 0 {
		t.Fatal("no cubins", err)
	}
	rounds := 20
	if testing.Short() {
		rounds = 1
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range names {
		file, err := cubin.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		for round := range rounds {
			raw := bytes.Clone(file.Raw)
			var changed []string
			for range 2 {
				at := int(file.Sections[file.Codes[0].Section].Offset) + random.IntN(int(file.Codes[0].Size()))
				if round%2 == 0 { // not the code but all that says where it is
					at = random.IntN(len(raw))
				}
				raw[at] = byte(random.Uint32())
				changed = append(changed, fmt.Sprintf("%#x=%#x", at, raw[at]))
			}
			rewriteHostile(t, raw, fmt.Sprintf("%s round %d, %s", name, round, strings.Join(changed, " ")))
		}
	}
}

func rewriteHostile(t *testing.T, raw []byte, what string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: %v\n%s", what, r, debug.Stack())
		}
	}()
	bytes := allocated(func() {
		file, err := cubin.NewFile("hostile", raw)
		if err != nil {
			return
		}
		for _, pass := range []func(*cubin.File) (*Rewritten, error){Restructure, Reconverge, Reorder} {
			pass(file) //nolint:errcheck // an error is fine
		}
		Check(file) //nolint:errcheck // an error is fine
	})
	if bytes > 1<<30 {
		t.Errorf("%s: %d MB", what, bytes>>20)
	}
}

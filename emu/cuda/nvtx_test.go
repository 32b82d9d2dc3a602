//go:build linux && (amd64 || arm64)

package cuda

import (
	"context"
	"slices"
	"testing"

	"gpa/emu"
)

// Launches know the NVTX ranges that they lie in, of the thread and of the process, and whether the program has left them out.
func TestRanges(t *testing.T) {
	var seen []string
	s := start(t, "a100", func(o *Options) {
		o.Ranges, o.ProfilerOff = true, true
		o.Launch = func(ctx context.Context, l *Launch) (*emu.Result, error) {
			text := ""
			for _, name := range []string{"work", "library@work", "inner", "all"} {
				if l.Within(name) {
					text += name + " "
				}
			}
			if l.Left {
				text += "left"
			}
			seen = append(seen, text)
			l.Launch.Untimed = true
			return l.Machine.Launch(ctx, l.Launch)
		}
	})
	c := newClient(t, s)
	c.context()
	if !slices.Contains(s.Environment(nil), "NVTX_INJECTION64_PATH="+s.Library()) {
		t.Error("NVTX is not told of the library")
	}
	// The tables as NVTX has them: a function that returns that of a module, where each place points to a function pointer.
	const getTable, getModule = 0x10, 0x20
	var pointers [2][16]uint64
	var tables [2][16]uint64
	for i := range tables {
		for j := range tables[i] {
			tables[i][j] = pointer(&pointers[i][j])
		}
	}
	callbacks := [2]uint64{16, getModule}
	c.answers = func(function uint64, a []uint64) uint64 {
		switch {
		case function == getTable && a[0] == 1:
			return pointer(&callbacks)
		case function == getModule:
			*at[uint64](a[1]), *at[uint32](a[2]) = pointer(&tables[a[0]/5]), 16
			return 1
		}
		return 0
	}
	if c.call("InitializeInjectionNvtx2", getTable) != 1 {
		t.Fatal("it refused")
	}
	const pushA, pop, domainPush = 9, 11, 4
	if pointers[0][pushA] == 0 || pointers[0][pop]-pointers[0][pushA] == 0 || pointers[1][domainPush] == 0 || pointers[0][1] != 0 {
		t.Errorf("%x", pointers)
	}
	f := c.function(saxpyFile, "saxpy")
	args := saxpyArguments{x: c.alloc(4), y: c.alloc(4)}
	launch := func() {
		if r := c.launch(f, 1, 32, args.list()...); r != Success {
			t.Fatal(r)
		}
	}
	work, inner, library, all := cString("work"), cString("inner"), cString("library"), [4]int32{'a', 'l', 'l', 0}
	launch()
	c.must("cuProfilerStart")
	c.call("nvtxRangePushA", pointer(&work[0]))
	launch()
	domain := uint64(c.call("nvtxDomainCreateA", pointer(&library[0])))
	registered := uint64(c.call("nvtxDomainRegisterStringA", domain, pointer(&work[0])))
	event := [6]uint64{4: messageRegistered, 5: registered}
	if got := c.call("nvtxDomainRangePushEx", domain, pointer(&event)); got != 0 {
		t.Errorf("depth %d", got)
	}
	if got := c.call("nvtxRangePushA", pointer(&inner[0])); got != 1 {
		t.Errorf("depth %d", got)
	}
	launch()
	c.call("nvtxDomainRangePop", domain)
	c.call("nvtxRangePop")
	id := uint64(c.call("nvtxRangeStartW", pointer(&all)))
	c.thread++
	c.must("cuCtxSetCurrent", c.context())
	launch()
	c.call("nvtxRangeEnd", id)
	c.must("cuProfilerStop")
	launch()
	want := []string{"left", "work ", "work library@work inner ", "all ", "left"}
	if !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
}

package launch

import (
	"bytes"
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/profiler"
	"gpa/profiler/sampler"
)

// A runOf is everything that can be seen of the launches of a file.
type runOf struct {
	results []emu.Result
	samples [][]profiler.Sample
	memory  map[string][]byte // by buffer
}

// observe runs all launches of a file.
func observe(t *testing.T, file string, o emu.Options) *runOf {
	t.Helper()
	s := open(t, file, sass.SM70, o)
	observer, err := sampler.New(sampler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := &runOf{memory: map[string][]byte{}}
	for i := range s.File.Launches {
		r, err := s.Run(context.Background(), i, observer)
		if err != nil {
			t.Fatal(err)
		}
		r.Facts = emu.LaunchFacts{}
		out.results = append(out.results, *r)
		out.samples = append(out.samples, append(observer.Samples(), profiler.Sample{Count: int64(observer.Period())}))
	}
	for i := range s.File.Buffers {
		name := s.File.Buffers[i].Name
		if out.memory[name], err = s.Save(name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestSameResults holds of kernels what does not depend on how they are emulated. Results, cycles, counters, samples and memory have
// the same bytes with one worker and with three; and all levels of timing leave the same bytes in memory: what the kernels of the
// project leave depends neither on the order of their threads nor on a clock.
func TestSameResults(t *testing.T) {
	const every = 8 // kernels
	for i, file := range corpus(t) {
		kernel := filepath.Base(filepath.Dir(file))
		if !builtFor(parse(t, file), sass.SM70) || !*wholeCorpus && i%every != 1 {
			continue
		}
		t.Run(kernel, func(t *testing.T) {
			t.Parallel()
			full := observe(t, file, emu.Options{Timing: emu.TimingFull, Workers: 1})
			if shared := observe(t, file, emu.Options{Timing: emu.TimingFull, Workers: 3}); !reflect.DeepEqual(full, shared) {
				t.Error("three workers give something else than one")
			}
			for _, level := range []emu.TimingLevel{emu.TimingNone, emu.TimingFast} {
				got := observe(t, file, emu.Options{Timing: level})
				for name, want := range full.memory {
					if !bytes.Equal(got.memory[name], want) {
						t.Errorf("%s leaves other bytes in %s", level, name)
					}
				}
			}
		})
	}
}

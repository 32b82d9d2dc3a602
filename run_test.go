package gpa

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/cubin/rewrite"
	"gpa/emu"
	"gpa/profiler"
	"gpa/profiler/sampler"
	"gpa/reports"
)

// TestEqualLaunches repeats launches: those that find memory as an earlier one did are not run, those that are equal in every
// figure are kept once, and either way the profile tells, launch by launch, what running all of them does, and the outputs are
// the same.
func TestEqualLaunches(t *testing.T) {
	tests := []struct {
		name, kernel    string
		repeat          []int // of each launch of the file
		entries, notRun int
	}{
		{"output written again", "vecadd", []int{5}, 1, 3}, // the first launch finds an empty output, the second one a full one
		{"memory that changes", "saxpy", []int{4}, 1, 0},
		{"among others", "vecadd", []int{2, 1, 1}, 1, 2},
		{"printing", "kernels/control/printf", []int{3}, 1, 0},
		{"allocating", "kernels/control/malloc", []int{2}, 2, 0},
		{"once", "transpose_naive", []int{1}, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all := repeated(t, test.kernel, test.repeat, true)
			merged := repeated(t, test.kernel, test.repeat, false)
			notRun := 0
			for _, l := range merged.profile.Launches {
				notRun += l.Facts.Untimed
			}
			if len(merged.profile.Launches) != test.entries || notRun != test.notRun {
				t.Errorf("%d launches in the profile, of which %d were not run; want %d and %d",
					len(merged.profile.Launches), notRun, test.entries, test.notRun)
			}
			for n, want := range all.profile.Launches {
				i, ok := merged.profile.At(n)
				if !ok {
					t.Fatalf("the profile has no launch %d", n)
				}
				got := *merged.profile.Launches[i]
				got.Facts.Repeats, got.Facts.Untimed = 0, 0
				if diff := cmp.Diff(want, &got); diff != "" {
					t.Errorf("launch %d (-run, +told):\n%s", n, diff)
				}
			}
			if _, ok := merged.profile.At(len(all.profile.Launches)); ok {
				t.Error("the profile has too many launches")
			}
			if done, want := merged.session.Machine.Progress().Blocks(), all.session.Machine.Progress().Blocks(); done != want {
				t.Errorf("progress: %d blocks ended, want %d", done, want)
			}
			checks, err := merged.session.Against(all.session, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range checks {
				if !checks[i].OK() {
					t.Errorf("%s differs", checks[i].Buffer)
				}
			}
		})
	}
}

// repeated samples a kernel whose launch is repeated, as several launches of the file each so many times.
func repeated(t *testing.T, kernel string, repeat []int, every bool) *execution {
	t.Helper()
	r, err := Load(kernel, LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	only := r.File.Launches[0]
	r.File.Launches = nil
	for _, n := range repeat {
		l := only
		l.Repeat = n
		r.File.Launches = append(r.File.Launches, l)
	}
	r.File.Expect = nil
	x, o := prepared(t, r)
	x.every = every
	if err := x.all(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return x
}

// TestEqualLaunchesTold holds what reports say of equal launches.
func TestEqualLaunchesTold(t *testing.T) {
	x := repeated(t, "vecadd", []int{5}, false)
	result := x.result()
	var out strings.Builder
	if err := reports.Text(&out, result.WithoutHostTimes(), reports.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	if want := "5 launches in a row, equal in every figure; 3 of them not run"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	if l := result.Report().Launches; len(l) != 1 || l[0].Count != 5 || l[0].NotRun != 3 {
		t.Errorf("JSON: %d launches, %+v", len(l), l[0].LaunchReport)
	}
	one := repeated(t, "vecadd", []int{1}, false)
	for _, side := range []struct {
		x    *execution
		want float64
	}{{one, 1}, {x, 5}} {
		p, err := reports.Pprof(side.x.profile, "")
		if err != nil {
			t.Fatal(err)
		}
		var cycles int64
		for _, s := range p.Sample {
			cycles += s.Value[4]
		}
		l := one.profile.Launches[0]
		if want := side.want * float64(l.Totals().Samples) * float64(l.Period); p.SampleType[4].Type != "cycles" || float64(cycles) != want {
			t.Errorf("pprof has %d %s, want %g", cycles, p.SampleType[4].Type, want)
		}
	}
	var file bytes.Buffer
	if err := profiler.Save(&file, x.profile); err != nil {
		t.Fatal(err)
	}
	loaded, err := profiler.Load("samples.gpa", bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if f := &loaded.Launches[0].Facts; f.Repeats != 4 || f.Untimed != 3 {
		t.Errorf("saved and loaded: %d and %d", f.Repeats, f.Untimed)
	}
}

// prepared prepares the launches of a kernel with full timing, and a sampler.
func prepared(t *testing.T, target *Target) (*execution, *sampler.Sampler) {
	t.Helper()
	s, err := target.Session(t.Context(), emu.TimingFull, Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := sampler.New(sampler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return newExecution(target, s, Options{}), o
}

// TestInterrupt cancels a profile of a long sequence of launches in its second launch: that launch is kept as far as it
// came, its samples obey the sampling laws, and it says that its rest is missing.
func TestInterrupt(t *testing.T) {
	r, err := Load("sgemm_tiled", LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.File.Launches[0].Repeat = 3
	x, o := prepared(t, r)
	if _, err := x.one(t.Context(), 0, o); err != nil {
		t.Fatal(err)
	}
	ctx := &expiring{Context: t.Context(), left: 10}
	if _, err := x.one(ctx, 0, o); !errors.Is(err, context.Canceled) || x.stopped == nil {
		t.Fatalf("stopped by %v: %v", x.stopped, err)
	}
	whole, part := x.profile.Launches[0], x.profile.Launches[1]
	if part.Facts.Cycles <= 0 || part.Facts.Cycles >= whole.Facts.Cycles || part.Totals().Samples == 0 {
		t.Errorf("%d of %d cycles, %d samples", part.Facts.Cycles, whole.Facts.Cycles, part.Totals().Samples)
	}
	if err := part.CheckSampling(0.05); err != nil {
		t.Error(err)
	}
	if len(part.Missing) != 1 || len(whole.Missing) != 0 {
		t.Errorf("missing: %q of the part, %q of the whole", part.Missing, whole.Missing)
	}
	if err := x.result().Failure(); err == nil || !strings.Contains(err.Error(), "launch 2 of 3") {
		t.Error(err)
	}
}

// An expiring context is cancelled after it has been asked some times.
type expiring struct {
	context.Context
	left int
}

func (c *expiring) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestTriesShare holds that what-if runs, of rewritten code too, share how buffers begin: it is made once.
func TestTriesShare(t *testing.T) {
	target, err := Load("kernels/basic/vecadd", LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tries := trial{target: target}
	other := *target
	r, err := rewrite.Reorder(target.Module)
	if err != nil {
		t.Fatal(err)
	}
	other.Module = r.File
	var bytes []*byte
	for _, r := range []*Target{target, &other} {
		s, err := tries.session(t.Context(), r, Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := s.Machine.View(0x7f10_0000_0000, 4)
		if err != nil {
			t.Fatal(err)
		}
		bytes = append(bytes, &data[0])
	}
	if bytes[0] != bytes[1] {
		t.Error("the buffer was filled twice")
	}
}

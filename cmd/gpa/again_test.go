package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gpa/emu/launch"
	"gpa/profiler"
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
		{"printing", "../../kernels/control/printf", []int{3}, 1, 0},
		{"allocating", "../../kernels/control/malloc", []int{2}, 2, 0},
		{"once", "transpose_naive", []int{1}, 1, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			all, allSession := repeated(t, test.kernel, test.repeat, true)
			merged, session := repeated(t, test.kernel, test.repeat, false)
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
			if done, want := session.Machine.Progress().Blocks(), allSession.Machine.Progress().Blocks(); done != want {
				t.Errorf("progress: %d blocks ended, want %d", done, want)
			}
			checks, err := session.Against(allSession, nil)
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
func repeated(t *testing.T, kernel string, repeat []int, every bool) (*execution, *launch.Session) {
	t.Helper()
	r, err := new(target).resolve(kernel)
	if err != nil {
		t.Fatal(err)
	}
	only := r.file.Launches[0]
	r.file.Launches = nil
	for _, n := range repeat {
		l := only
		l.Repeat = n
		r.file.Launches = append(r.file.Launches, l)
	}
	r.file.Expect = nil
	s, o := timedSession(t, r)
	x := newExecution(r)
	x.every = every
	if err := x.all(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	return x, s
}

// TestEqualLaunchesTold holds what reports say of equal launches.
func TestEqualLaunchesTold(t *testing.T) {
	x, _ := repeated(t, "vecadd", []int{5}, false)
	result := x.result(false)
	var out strings.Builder
	if err := reports.Text(&out, result, reports.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	if want := "5 launches in a row, equal in every figure; 3 of them not run"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	if l := result.Report().Launches; len(l) != 1 || l[0].Count != 5 || l[0].NotRun != 3 {
		t.Errorf("JSON: %d launches, %+v", len(l), l[0].LaunchReport)
	}
	one, _ := repeated(t, "vecadd", []int{1}, false)
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

// TestProfileWithoutTiming holds that a profile without timing counts what one with timing counts, and has neither cycles nor samples.
func TestProfileWithoutTiming(t *testing.T) {
	launches := func(level string) []reports.ProfiledLaunch {
		stdout, stderr, status := gpa(t, "profile", "hotspot", "--timing", level, "--json")
		if status != exitDone {
			t.Fatalf("status %d: %s", status, stderr)
		}
		var r reports.ProfileReport
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Checks) == 0 || !r.Checks[0].OK {
			t.Errorf("%s: checks %+v", level, r.Checks)
		}
		return r.Launches
	}
	full, none := launches("full"), launches("none")
	for i, l := range none {
		if l.WarpInstructions != full[i].WarpInstructions || l.ThreadInstructions != full[i].ThreadInstructions {
			t.Errorf("%d and %d instructions, with timing %d and %d", l.WarpInstructions, l.ThreadInstructions, full[i].WarpInstructions, full[i].ThreadInstructions)
		}
		if l.Cycles != 0 || l.Samples != nil || l.Timing.Level != "none" || len(l.Advice) > 0 {
			t.Errorf("%d cycles, samples %+v, timing %+v, %d pieces of advice", l.Cycles, l.Samples, l.Timing, len(l.Advice))
		}
	}
	if _, stderr, status := gpa(t, "profile", "vecadd", "--timing", "none", "--try", "1"); status != exitUsage || !strings.Contains(stderr, "--try") {
		t.Errorf("--try without timing: status %d, %q", status, stderr)
	}
}

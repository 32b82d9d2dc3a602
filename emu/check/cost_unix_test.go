//go:build unix

package check_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"gpa/cubin/sass"
	"gpa/emu"
	"gpa/emu/arch"
	"gpa/emu/check"
	"gpa/emu/launch"
)

// BenchmarkCost checks every kernel of the corpus and reports how many times the processor time of a plain run that takes: the
// median, and the median and the most of the kernels that run for a hundredth of a second.
func BenchmarkCost(b *testing.B) {
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		b.Fatal("no kernels", err)
	}
	for range b.N {
		var all, long []float64
		for _, name := range files {
			plain, checked := runTime(b, name, nil), runTime(b, name, new(check.Checker))
			ratio := float64(checked) / float64(plain)
			all = append(all, ratio)
			if plain > 10*time.Millisecond {
				b.Logf("%s: %v, checked %v", name, plain, checked)
				long = append(long, ratio)
			}
		}
		slices.Sort(all)
		slices.Sort(long)
		b.ReportMetric(all[len(all)/2], "median")
		b.ReportMetric(long[len(long)/2], "median>10ms")
		b.ReportMetric(long[len(long)-1], "most>10ms")
	}
}

// runTime is the processor time that the launches of a file take, under a checker or none. A kernel that faults ends there.
func runTime(b *testing.B, name string, c *check.Checker) time.Duration {
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	file, err := launch.Parse(name, data, launch.OSDir(filepath.Dir(name)))
	if err != nil {
		b.Fatal(err)
	}
	module, err := file.LoadModule(sass.Arch(0))
	if err != nil {
		b.Fatal(err)
	}
	gpu, err := arch.ByName(fmt.Sprintf("sm_%d", module.Arch))
	if err != nil {
		b.Fatal(err)
	}
	machine, err := emu.New(gpu, module, emu.Options{Heap: file.Heap})
	if err != nil {
		b.Fatal(err)
	}
	s, err := launch.NewSession(context.Background(), file, machine)
	if err != nil {
		b.Fatal(err)
	}
	runtime.GC() // what others left is not this run's
	begin := processorTime(b)
	for i := range file.Launches {
		if c == nil {
			_, err = s.Run(context.Background(), i, nil)
		} else {
			_, err = s.Trace(context.Background(), i, c)
		}
		if err != nil {
			break
		}
	}
	return processorTime(b) - begin
}

func processorTime(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

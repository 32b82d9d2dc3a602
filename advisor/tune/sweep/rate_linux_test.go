package sweep

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gpa/profiler/store"
)

var rateTasks = flag.Int("sweep.rate", 1000, "tasks of TestRate, a multiple of 100")

// TestRate plans a sweep and runs it with a task that does nothing, in a process of its own each, and logs the rates and the most memory that the program
// with server, owner and worker has taken. By hand, with nothing else on the machine:
//
//	go test ./advisor/tune/sweep -run TestRate -v -timeout 1h -sweep.rate 100000
func TestRate(t *testing.T) {
	dir := t.TempDir()
	report, err := json.Marshal(reply{How: taskDone, Report: []byte(`{"launches": [{"kernel": "k", "cycles": 1}], "checks": []}`)})
	if err != nil {
		t.Fatal(err)
	}
	null := filepath.Join(dir, "reply.json")
	if err := os.WriteFile(null, report, 0o666); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "s.yaml")
	text := "kernel: saxpy\naxes: {x: '[1:" + strconv.Itoa(*rateTasks/100) + "]', y: '[1:100]'}\nset: {args: {1: x + y / 128.0}}\n"
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	results, err := store.Open(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(name, results)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	p, err := s.Plan(t.Context())
	if err != nil || p.Different != *rateTasks {
		t.Fatalf("%+v, %v", p, err)
	}
	planned := time.Since(began)
	began = time.Now()
	if err := s.Run(t.Context(), Options{Workers: Workers{Slots: 8, Command: []string{"cat", null}}}); err != nil {
		t.Fatal(err)
	}
	ran := time.Since(began)
	r, err := s.Results()
	if err != nil || r.Counts() != (Counts{Variants: *rateTasks, Done: *rateTasks, Ran: *rateTasks}) {
		t.Fatalf("%+v, %v", r.Counts(), err)
	}
	var used, children syscall.Rusage
	if err := errors.Join(syscall.Getrusage(syscall.RUSAGE_SELF, &used), syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children)); err != nil {
		t.Fatal(err)
	}
	busy := time.Duration(used.Utime.Nano()+used.Stime.Nano()+children.Utime.Nano()+children.Stime.Nano()) / time.Duration(*rateTasks)
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	t.Logf("%d tasks are planned in %.1f s and run at %.0f a second, each for %s of a processor; memory: %s", *rateTasks, planned.Seconds(), float64(*rateTasks)/ran.Seconds(), busy, regexp.MustCompile(`VmHWM:\s*(.*)`).FindSubmatch(status)[1])
}

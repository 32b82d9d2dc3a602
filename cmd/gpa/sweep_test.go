package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gpa/advisor/tune/search"
	"gpa/advisor/tune/sweep"
)

// Texts in the launch of a task that make its process, where that is the test, end at once or take its time.
const (
	poisonText = "f32: 13.5"
	slowText   = "f32: 17.5"
	slowFor    = 4 * time.Second
)

// sweepHooks lets a process of the test that runs a task be a bad one.
func sweepHooks() {
	if len(os.Args) < 3 || os.Args[1] != "sweep" || os.Args[2] != "task" {
		return
	}
	task, err := io.ReadAll(os.Stdin)
	if err != nil {
		os.Exit(1)
	}
	if bytes.Contains(task, []byte(poisonText)) {
		fmt.Fprintln(os.Stderr, "panic: poison\n\ngoroutine 1")
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if bytes.Contains(task, []byte(slowText)) {
		time.Sleep(slowFor)
	}
	r, w, err := os.Pipe()
	if err != nil {
		os.Exit(1)
	}
	os.Stdin = r
	go func() { w.Write(task); w.Close() }()
}

// sweepFile writes a sweep file into a new folder.
func sweepFile(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.yaml")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// swept runs gpa sweep and reads its JSON.
func swept(t *testing.T, args ...string) (*sweep.Report, string) {
	t.Helper()
	t.Setenv(asCommand, "1") // for the processes of tasks
	stdout, stderr, status := invoke(t, append([]string{"sweep"}, append(args, "--json")...)...)
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	r := new(sweep.Report)
	if err := json.Unmarshal([]byte(stdout), r); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return r, stderr
}

// TestSweep sweeps launch facts, GPUs and re-convergence models of a built-in kernel. Each figure is that of gpa profile of the same launch, and the
// second time nothing runs.
func TestSweep(t *testing.T) {
	file := sweepFile(t, `
kernel: vecadd
axes: {block: [64, 128, 256, 3000], arch: [v100, a100], reconverge: [volta, pdom]}
set: {grid: ["32768 / max(block, 128)"]}
where: ['block != 128 || reconverge == "volta"']
`)
	dir := t.TempDir()
	r, _ := swept(t, file, "--store", dir)
	if r.Counts != (sweep.Counts{Variants: 14, Done: 14, Ran: 14, Failed: 8}) || len(r.Groups) != 2 {
		t.Fatalf("%+v", r)
	}
	status := make(map[string]search.Status)
	for _, g := range r.Groups {
		for _, v := range g.Variants {
			status[string(v.Point["block"])] = v.Outcome.Status
		}
	}
	// Half of the threads leave half of the outputs; 3000 threads are more than a block has.
	if status["64"] != search.Wrong || status["128"] != search.OK || status["256"] != search.OK || status["3000"] != search.Refused {
		t.Errorf("%v", status)
	}
	again, _ := swept(t, file, "--store", dir)
	if c := again.Counts; c.Cached != 10 || c.Ran != 4 { // what was refused is tried again
		t.Errorf("again: %+v", c)
	}
	again.Counts = r.Counts
	for _, g := range again.Groups {
		for _, v := range g.Variants {
			v.Cached = false
		}
	}
	if d := cmp.Diff(r, again); d != "" {
		t.Errorf("again: %s", d)
	}
	one, _ := swept(t, file, "--store", dir, "-a", "arch=a100", "-a", "block=256", "-a", "reconverge=volta")
	if one.Counts != (sweep.Counts{Variants: 1, Done: 1, Cached: 1}) || one.Groups[0].Best["arch"] != "a100" {
		t.Errorf("one point: %+v", one)
	}
	if _, stderr, status := invoke(t, "sweep", file, "--store", dir, "-a", "block=257"); status != exitUsage || !strings.Contains(stderr, "no value 257") {
		t.Errorf("a value that is not there: status %d, %s", status, stderr)
	}
	for _, args := range [][]string{{"results"}, {"results", "--csv"}, {"status"}, {"plan"}} {
		stdout, stderr, status := invoke(t, append(append([]string{"sweep"}, args...), file, "--store", dir)...)
		if status != exitDone || stdout == "" {
			t.Errorf("%v: status %d, %s%s", args, status, stdout, stderr)
		}
	}
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestSweepFigures holds that the cycles and stalls of a variant are those that gpa profile finds.
func TestSweepFigures(t *testing.T) {
	file := sweepFile(t, "kernel: transpose_naive\naxes: {arch: [v100, rtx3090]}\n")
	r, _ := swept(t, file, "--store", t.TempDir())
	for _, g := range r.Groups {
		if len(g.Variants) != 1 || g.Best == nil {
			t.Fatalf("%+v", g)
		}
		v := g.Variants[0]
		stdout, _, _ := invoke(t, "profile", "transpose_naive", "--arch", string(v.Point["arch"]), "--try", "0", "--json")
		want, err := search.ReadReport([]byte(stdout), "cycles", true)
		if err != nil || jsonText(t, want) != jsonText(t, v.Outcome) {
			t.Errorf("%s\n%s\n%v", jsonText(t, want), jsonText(t, v.Outcome), err)
		}
	}
}

// TestSweepPoison gives up the variant whose process ends each time, and no other.
func TestSweepPoison(t *testing.T) {
	file := sweepFile(t, "kernel: saxpy\ncheck: none\naxes: {x: [1.5, 13.5, 2.5]}\nset: {args: {1: x}}\n")
	r, _ := swept(t, file, "--store", t.TempDir())
	if r.Counts != (sweep.Counts{Variants: 3, Done: 3, Ran: 3, Failed: 1}) {
		t.Fatalf("%+v", r.Counts)
	}
	for _, v := range r.Groups[0].Variants {
		bad := v.Point["x"] == "13.5"
		if bad != (v.Outcome.Status == search.Poison) || bad && !strings.Contains(v.Outcome.Why, "panic: poison") {
			t.Errorf("%v: %+v", v.Point, v.Outcome)
		}
	}
}

// TestSweepStop ends runs that take longer than the best by more than a multiple; the best is that of the whole grid.
func TestSweepStop(t *testing.T) {
	text := "kernel: vecadd\ncheck: none\naxes: {grid: [1, 64, 2, 128]}\n"
	whole, _ := swept(t, sweepFile(t, text), "--store", t.TempDir())
	stopped, _ := swept(t, sweepFile(t, text+"search: {stop: 1}\n"), "--store", t.TempDir(), "--jobs", "1", "--window", "1")
	if a, b := jsonText(t, whole.Groups[0].Best), jsonText(t, stopped.Groups[0].Best); a != b {
		t.Errorf("the best is %s, not %s", b, a)
	}
	if stopped.Counts.Failed == 0 || whole.Counts.Failed != 0 {
		t.Errorf("%+v and %+v", whole.Counts, stopped.Counts)
	}
}

var (
	faultTasks = flag.Int("sweep.tasks", 40, "tasks of TestSweepFaults")
	faultKills = flag.Int("sweep.kills", 5, "workers and servers that TestSweepFaults kills")
)

// A faultyCluster is a server and workers as processes.
type faultyCluster struct {
	t       *testing.T
	file    string
	store   string
	address string
	out     *bytes.Buffer
	server  *exec.Cmd
	ended   chan error
	workers []*exec.Cmd
}

func (c *faultyCluster) process(args ...string) *exec.Cmd {
	p := exec.Command(os.Args[0], append([]string{"sweep"}, args...)...)
	p.Env = append(os.Environ(), asCommand+"=1")
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return p
}

func (c *faultyCluster) serve() {
	c.out = new(bytes.Buffer)
	c.server = c.process("serve", "--jobs", "0", "--window", "64", "--listen", c.address, "--store", c.store, "--silent", "2s", "--json", c.file)
	c.server.Stdout, c.server.Stderr = c.out, os.Stderr
	if err := c.server.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.ended = make(chan error, 1)
	go func(p *exec.Cmd, ended chan error) { ended <- p.Wait() }(c.server, c.ended)
}

func (c *faultyCluster) worker() *exec.Cmd {
	p := c.process("work", "--join", "@"+filepath.Join(c.store, "queue", "join"), "--store", c.t.TempDir(), "--jobs", "1", "--silent", "2s")
	p.Stderr = os.Stderr
	if err := p.Start(); err != nil {
		c.t.Fatal(err)
	}
	return p
}

// fault does one of the things that go wrong, and says which.
func (c *faultyCluster) fault(r *rand.Rand) string {
	i := r.IntN(len(c.workers))
	switch r.IntN(6) {
	case 0, 1:
		c.server.Process.Kill()
		<-c.ended
		c.serve()
		return "the server was killed"
	case 2:
		w := c.workers[i].Process
		w.Signal(syscall.SIGSTOP) // as one without network, or on a machine that sleeps
		time.AfterFunc(5*time.Second, func() { w.Signal(syscall.SIGCONT) })
		return fmt.Sprintf("worker %d was silent", i)
	case 3:
		names, _ := filepath.Glob(filepath.Join(c.store, "results", "*", "*"))
		if len(names) > 0 {
			os.Remove(names[r.IntN(len(names))])
		}
		return "a result was lost"
	}
	c.workers[i].Process.Kill()
	c.workers[i].Wait()
	c.workers[i] = c.worker()
	return fmt.Sprintf("worker %d was killed", i)
}

// TestSweepFaults runs a sweep on a server and three workers while they are killed, stopped and robbed of results at random: in the end every
// variant has one result, the same as without faults, the poisonous one is given up, and no other. -sweep.tasks 300 -sweep.kills 20 is the
// long form.
func TestSweepFaults(t *testing.T) {
	values := []string{"13.5", "17.5"}
	for i := range *faultTasks - len(values) {
		values = append(values, fmt.Sprintf("%d.25", i))
	}
	file := sweepFile(t, fmt.Sprintf("kernel: saxpy\ncheck: none\naxes: {x: [%s]}\nset: {args: {1: x}}\n", strings.Join(values, ", ")))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	c := &faultyCluster{t: t, file: file, store: t.TempDir(), address: listener.Addr().String()}
	c.serve()
	for _, err := os.Stat(filepath.Join(c.store, "queue", "join")); err != nil; _, err = os.Stat(filepath.Join(c.store, "queue", "join")) {
		time.Sleep(50 * time.Millisecond)
	}
	for range 3 {
		c.workers = append(c.workers, c.worker())
	}
	defer func() {
		for _, w := range c.workers {
			w.Process.Signal(syscall.SIGCONT)
			w.Process.Kill()
			w.Wait()
		}
	}()
	r := rand.New(rand.NewPCG(1, 2))
	for kills := 0; ; {
		select {
		case err := <-c.ended:
			if err != nil {
				t.Fatalf("the server ended: %v", err)
			}
			t.Logf("%d faults", kills)
			c.check(file)
			return
		case <-time.After(time.Duration(r.IntN(3000)) * time.Millisecond):
			if kills < *faultKills {
				kills++
				t.Log(c.fault(r))
			}
		}
	}
}

// check compares the results with those of the same sweep without faults.
func (c *faultyCluster) check(file string) {
	t := c.t
	got := new(sweep.Report)
	if err := json.Unmarshal(c.out.Bytes(), got); err != nil {
		t.Fatalf("%v: %s", err, c.out)
	}
	quiet := t.TempDir()
	want, _ := swept(t, file, "--store", quiet)
	if got.Counts.Done != *faultTasks || got.Counts.Failed != 1 {
		t.Errorf("%+v", got.Counts)
	}
	line := func(r *sweep.Report) (list []string) {
		for _, v := range r.Groups[0].Variants {
			list = append(list, fmt.Sprint(v.Point, v.Key, jsonText(t, v.Outcome)))
		}
		slices.Sort(list)
		return list
	}
	if a, b := line(got), line(want); !slices.Equal(a, b) {
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("with faults %s\nwithout %s", a[i], b[i])
			}
		}
	}
}

//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gpa/advisor/tune/sweep"
)

var (
	faultTasks = flag.Int("sweep.tasks", 40, "tasks of TestSweepFaults and TestSweepKilled")
	faultKills = flag.Int("sweep.kills", 8, "faults of TestSweepFaults and TestSweepKilled")
	faultClock = flag.Bool("sweep.clock", false, "run TestSweepClock, which builds the program anew")
	faultAway  = flag.Duration("sweep.away", 4*time.Second, "how long a worker of TestSweepFaults is without network")
)

// A wire is a way to a server that can be cut: what is sent then waits, on both sides, as where packets are lost.
type wire struct {
	net.Listener
	to string
	mu sync.RWMutex // held for writing while it is cut
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: listener, to: to}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

func (w *wire) carry(c net.Conn) {
	defer c.Close()
	w.mu.RLock()
	s, err := net.Dial("tcp", w.to)
	w.mu.RUnlock()
	if err != nil {
		return
	}
	defer s.Close()
	go func() { defer s.Close(); w.copy(s, c) }()
	w.copy(c, s)
}

func (w *wire) copy(to io.Writer, from io.Reader) {
	data := make([]byte, 1<<16)
	for {
		n, err := from.Read(data)
		w.mu.RLock()
		_, failed := to.Write(data[:n])
		w.mu.RUnlock()
		if err != nil || failed != nil {
			return
		}
	}
}

// cut takes the wire away for some time.
func (w *wire) cut(d time.Duration) {
	go func() { w.mu.Lock(); defer w.mu.Unlock(); time.Sleep(d) }()
}

// A faultyCluster is a server and workers as processes, and a second owner of the same sweep.
type faultyCluster struct {
	t       *testing.T
	file    string
	store   string // of the server
	stores  []string
	address string
	wires   []*wire
	server  *owner
	second  *owner
	workers []*exec.Cmd

	cutUntil time.Time // a worker is without network
}

// An owner is a process that runs a sweep to its end.
type owner struct {
	*exec.Cmd
	out   bytes.Buffer
	ended chan error
}

// sweepProcess is the command as a process that ends with the test.
func sweepProcess(args ...string) *exec.Cmd {
	p := exec.Command(os.Args[0], append([]string{"sweep"}, args...)...)
	p.Env = append(os.Environ(), asCommand+"=1", clockJump())
	p.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	p.Stderr = os.Stderr
	return p
}

// clockVariable holds when after its start the clock of a process jumps and how far, in nanoseconds, where it was built so that it can.
const clockVariable = "GPA_TEST_CLOCK"

// clockJump lets the clock of a process jump at random by an hour or a month.
func clockJump() string {
	after, by := time.Duration(rand.IntN(10000))*time.Millisecond, []time.Duration{time.Hour, 30 * 24 * time.Hour}[rand.IntN(2)]
	if rand.IntN(2) == 0 {
		by = -by
	}
	return fmt.Sprintf("%s=%d,%d", clockVariable, after, by)
}

// TestSweepClock runs TestSweepFaults and TestSweepKilled again in a program whose processes have clocks that jump: it is built with a package time
// that was changed for it, as nothing but the kernel can set the clock of a whole machine. It builds everything anew, so by hand:
//
//	go test ./cmd/gpa -run TestSweepClock -v -timeout 1h -sweep.clock
func TestSweepClock(t *testing.T) {
	if !*faultClock {
		t.Skip("without -sweep.clock")
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const now = "sec, nsec, mono := runtimeNow()\n"
	if strings.Count(string(text), now) == 0 {
		t.Fatalf("%s has no %q", name, now)
	}
	changed := strings.Replace(string(text), now, now+"\tif mono-startNano > jumpAfter {\n\t\tsec += jumpBy\n\t}\n", 1) + `
var jumpAfter, jumpBy = func() (after, by int64) {
	text, _ := syscall.Getenv("` + clockVariable + `")
	sign, to := int64(1), &after
	for _, c := range []byte(text) {
		switch {
		case c == ',':
			to = &by
		case c == '-':
			sign = -1
		default:
			*to = 10**to + int64(c-'0')
		}
	}
	return after, sign * by / 1e9
}()
`
	changed = strings.Replace(changed, "import (\n", "import (\n\t\"syscall\"\n", 1)
	dir := t.TempDir()
	patched, overlay, program := filepath.Join(dir, "time.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "gpa.test")
	for file, data := range map[string][]byte{
		patched: []byte(changed),
		overlay: []byte(jsonText(t, map[string]any{"Replace": map[string]string{name: patched}})),
	} {
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("go", "test", "-c", "-overlay", overlay, "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	year := exec.Command(program, "-test.run", "TestSweepJumps", "-test.v")
	year.Env = append(os.Environ(), clockVariable+fmt.Sprintf("=0,%d", 365*24*time.Hour))
	if out, err := year.Output(); err != nil || !strings.Contains(string(out), time.Now().AddDate(0, 0, 365).Format(time.DateOnly)) {
		t.Fatalf("its clock does not jump: %v: %s", err, out)
	}
	p := exec.Command(program, "-test.run", "TestSweep(Faults|Killed)", "-test.v", "-test.timeout", "1h", fmt.Sprint("-sweep.tasks=", *faultTasks),
		fmt.Sprint("-sweep.kills=", *faultKills), fmt.Sprint("-sweep.away=", *faultAway))
	p.Stdout, p.Stderr = os.Stdout, os.Stderr
	if err := p.Run(); err != nil {
		t.Fatal(err)
	}
}

// TestSweepJumps tells the time of its process, to TestSweepClock.
func TestSweepJumps(t *testing.T) { t.Log(time.Now().Format(time.DateOnly)) }

func startOwner(t *testing.T, args ...string) *owner {
	t.Helper()
	o := &owner{Cmd: sweepProcess(args...), ended: make(chan error, 1)}
	o.Stdout = &o.out
	if err := o.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { o.ended <- o.Wait() }()
	return o
}

// kill ends an owner without a word.
func (o *owner) kill() {
	o.Process.Kill()
	<-o.ended
}

func (c *faultyCluster) serve() {
	c.server = startOwner(c.t, "serve", "--jobs", "0", "--window", "64", "--listen", c.address, "--store", c.store, "--silent", "2s", "--json", c.file)
}

func (c *faultyCluster) submitAgain(store string) {
	c.second = startOwner(c.t, "run", "--jobs", "0", "--window", "64", "--join", "@"+c.joinName(), "--store", store, "--silent", "2s", "--json", c.file)
}

func (c *faultyCluster) joinName() string { return filepath.Join(c.store, "queue", "join") }

// worker starts the worker of a number, which reaches the server by its wire.
func (c *faultyCluster) worker(i int) *exec.Cmd {
	data, err := os.ReadFile(c.joinName())
	if err != nil {
		c.t.Fatal(err)
	}
	join, err := url.Parse(strings.TrimSpace(string(data)))
	if err != nil {
		c.t.Fatal(err)
	}
	join.Host = c.wires[i].Addr().String()
	p := sweepProcess("work", "--join", join.String(), "--store", c.stores[i], "--jobs", "1", "--silent", "2s")
	p.Env = append(p.Env, "TMPDIR="+c.stores[i]) // so that the disk of a task is full too
	if err := p.Start(); err != nil {
		c.t.Fatal(err)
	}
	return p
}

// A fault is one of the things that go wrong.
type fault struct {
	name string
	do   func(c *faultyCluster, r *rand.Rand, worker int)
}

var sweepFaults = []fault{
	{"the server is killed", func(c *faultyCluster, _ *rand.Rand, _ int) { c.server.kill(); c.serve() }},
	{"a worker is killed", func(c *faultyCluster, _ *rand.Rand, i int) {
		c.workers[i].Process.Kill()
		c.workers[i].Wait()
		c.workers[i] = c.worker(i)
	}},
	{"a worker has no network", func(c *faultyCluster, _ *rand.Rand, i int) {
		if c.cutUntil.Before(time.Now()) { // one at a time, so that work goes on for the other faults to hit
			c.wires[i].cut(*faultAway)
			c.cutUntil = time.Now().Add(*faultAway)
		}
	}},
	{"a worker sleeps", func(c *faultyCluster, _ *rand.Rand, i int) {
		w := c.workers[i].Process
		w.Signal(syscall.SIGSTOP)
		time.AfterFunc(5*time.Second, func() { w.Signal(syscall.SIGCONT) })
	}},
	{"two disks are full", func(c *faultyCluster, _ *rand.Rand, i int) {
		fill(c.t, c.store, 8*time.Second)
		fill(c.t, c.stores[i], 8*time.Second)
	}},
	{"a file is lost", func(c *faultyCluster, r *rand.Rand, i int) {
		for _, store := range []string{c.store, c.stores[i]} {
			for _, sub := range []string{"results", "blobs"} {
				if names, _ := filepath.Glob(filepath.Join(store, sub, "*", "*")); len(names) > 0 {
					os.Remove(names[r.IntN(len(names))])
				}
			}
		}
	}},
	{"a task's process is killed", func(c *faultyCluster, _ *rand.Rand, i int) { killTask(c.workers[i].Process.Pid) }},
	{"a client leaves before the server answers", func(c *faultyCluster, _ *rand.Rand, _ int) {
		if conn, err := net.Dial("tcp", c.address); err == nil {
			conn.Close()
		}
	}},
}

// killTask kills a process that a worker has started, as the kernel does when memory is short.
func killTask(worker int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", worker))
	for _, name := range threads {
		data, _ := os.ReadFile(name)
		for _, word := range strings.Fields(string(data)) {
			if pid, _ := strconv.Atoi(word); pid > 0 {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
}

// smallDisk makes a file system of some megabytes, where the system lets us; elsewhere it is a folder like others, which never fills.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Logf("no disk is full: %v", err)
		return dir
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill fills a small disk for some time.
func fill(t *testing.T, dir string, d time.Duration) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil || fs.Blocks*uint64(fs.Bsize) > 1<<30 {
		return // not one that smallDisk has made
	}
	name := filepath.Join(dir, "filler")
	file, err := os.Create(name)
	if err != nil {
		t.Log(err)
		return
	}
	for _, size := range []int{1 << 20, 1 << 10} {
		for data := make([]byte, size); err == nil || !errors.Is(err, syscall.ENOSPC); {
			_, err = file.Write(data)
		}
		err = nil
	}
	file.Close()
	time.AfterFunc(d, func() { os.Remove(name) })
}

// faultSweep is a sweep of many quick variants, one poisonous, one slow.
func faultSweep(t *testing.T) string {
	values := []string{"13.5", "17.5"}
	for i := range *faultTasks - len(values) {
		values = append(values, fmt.Sprintf("%d.25", i))
	}
	return sweepFile(t, fmt.Sprintf("kernel: saxpy\ncheck: none\naxes: {x: [%s]}\nset: {args: {1: x}}\n", strings.Join(values, ", ")))
}

// TestSweepFaults runs a sweep on a server and three workers, and submits it a second time while it runs; workers, server, network, disks and
// files fail meanwhile, at random: in the end every variant has one result, the same as without faults, for both owners, the poisonous one is
// given up, and no other. The long form, by hand:
//
//	go test ./cmd/gpa -run 'TestSweep(Faults|Killed)' -v -timeout 1h -sweep.tasks 300 -sweep.kills 40 -sweep.away 1m
func TestSweepFaults(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	c := &faultyCluster{t: t, file: faultSweep(t), store: smallDisk(t), address: listener.Addr().String()}
	c.serve()
	for _, err := os.Stat(c.joinName()); err != nil; _, err = os.Stat(c.joinName()) {
		time.Sleep(50 * time.Millisecond)
	}
	for i := range 3 {
		c.wires, c.stores = append(c.wires, newWire(t, c.address)), append(c.stores, smallDisk(t))
		c.workers = append(c.workers, c.worker(i))
	}
	defer func() {
		for _, w := range c.workers {
			w.Process.Signal(syscall.SIGCONT)
			w.Process.Kill()
			w.Wait()
		}
	}()
	second := t.TempDir()
	c.submitAgain(second)
	r := rand.New(rand.NewPCG(1, 2))
	for faults := 0; ; {
		select {
		case err := <-c.server.ended:
			if err != nil { // a full disk may end it, which is told; the same command goes on
				t.Logf("the server ended: %v", err)
				c.serve()
				continue
			}
			t.Logf("%d faults", faults)
			want := faultless(t, c.file)
			checkFaults(t, "the server", c.server.out.Bytes(), want)
			c.second.kill() // its server is gone: what it lacks is run here
			c.second = startOwner(t, "run", "--store", second, "--json", c.file)
			if err := <-c.second.ended; err != nil {
				t.Fatal(err)
			}
			checkFaults(t, "the second owner", c.second.out.Bytes(), want)
			return
		case err := <-c.second.ended:
			t.Logf("the second owner ended: %v", err)
			c.second.ended = make(chan error, 1)
			c.second.ended <- err
			if err != nil {
				c.submitAgain(second)
			} else {
				time.Sleep(time.Second)
			}
		case <-time.After(time.Duration(r.IntN(3000)) * time.Millisecond):
			if faults < *faultKills {
				f := sweepFaults[faults%len(sweepFaults)] // each kind as often, on workers at random
				faults++
				t.Log(f.name)
				f.do(c, r, r.IntN(len(c.workers)))
			}
		}
	}
}

// TestSweepKilled kills a sweep in one process, with the server in it, again and again, and some of its tasks' processes: the same command goes
// on each time, and in the end the results are those without faults.
func TestSweepKilled(t *testing.T) {
	file, dir := faultSweep(t), t.TempDir()
	r := rand.New(rand.NewPCG(3, 4))
	for kills := 0; ; kills++ {
		o := startOwner(t, "run", "--jobs", "2", "--store", dir, "--json", file)
		wait := time.Hour
		if kills < *faultKills {
			wait = time.Duration(1000+r.IntN(3000)) * time.Millisecond
		}
		select {
		case err := <-o.ended:
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d kills", kills)
			checkFaults(t, "the last one", o.out.Bytes(), faultless(t, file))
			return
		case <-time.After(wait / 2):
			killTask(o.Process.Pid)
			time.Sleep(wait / 2)
			o.kill()
		}
	}
}

// faultless is the results of a sweep in peace.
func faultless(t *testing.T, file string) []string {
	want, _ := swept(t, file, "--store", t.TempDir())
	return outcomeLines(t, want)
}

// outcomeLines are the outcomes of a sweep with their keys.
func outcomeLines(t *testing.T, r *sweep.Report) (list []string) {
	for _, v := range r.Groups[0].Variants {
		list = append(list, fmt.Sprint(v.Point, v.Key, jsonText(t, v.Outcome)))
	}
	slices.Sort(list)
	return list
}

// checkFaults compares results with those of the same sweep in peace.
func checkFaults(t *testing.T, who string, stdout []byte, want []string) {
	t.Helper()
	got := new(sweep.Report)
	if err := json.Unmarshal(stdout, got); err != nil {
		t.Fatalf("%s: %v: %s", who, err, stdout)
	}
	if got.Counts.Done != *faultTasks || got.Counts.Failed != 1 {
		t.Errorf("%s: %+v", who, got.Counts)
	}
	list := outcomeLines(t, got)
	for i := range min(len(list), len(want)) {
		if list[i] != want[i] {
			t.Fatalf("%s: with faults %s\nwithout %s", who, list[i], want[i])
		}
	}
	if len(list) != len(want) {
		t.Errorf("%s: %d outcomes, not %d", who, len(list), len(want))
	}
}

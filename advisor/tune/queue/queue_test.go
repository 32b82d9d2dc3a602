package queue

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const silent = 2 * time.Second

func open(t *testing.T, c *Conn) *Queue {
	t.Helper()
	if err := c.Connected(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	q, err := Open(t.Context(), c, "build", silent)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func inProcess(t *testing.T) *Queue {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return open(t, c)
}

// work begins a worker and ends it with the test.
func work(t *testing.T, q *Queue, w *Worker) {
	t.Helper()
	if w.Tries == 0 {
		w.Tries = 3
	}
	w.GiveUp = func(_ *Task, words string) []byte { return []byte("gave up: " + words) }
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); w.Work(ctx, q) }()
	t.Cleanup(func() { stop(); <-ended })
}

// await collects replies until there are n.
func await(t *testing.T, replies <-chan Reply, n int) map[string]string {
	t.Helper()
	got := make(map[string]string)
	for len(got) < n {
		select {
		case r, ok := <-replies:
			if !ok {
				t.Fatalf("no more replies after %v", got)
			}
			if _, again := got[r.Key]; again {
				t.Errorf("two replies to %s", r.Key)
			}
			got[r.Key] = string(r.Body)
		case <-time.After(60 * time.Second):
			t.Fatalf("%d of %d replies: %v", len(got), n, got)
		}
	}
	return got
}

// TestTasks submits tasks twice, among them one that ends its process each time, one that does so once, and one that this worker cannot do at
// first: each has one reply, and only the first is given up.
func TestTasks(t *testing.T) {
	q := inProcess(t)
	replies, err := q.Replies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const n = 40
	for range 2 {
		for i := range n {
			if err := q.Submit(t.Context(), &Task{Key: fmt.Sprint("t", i), Sweep: "s", Body: []byte{byte(i)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	state, err := q.State(t.Context(), "s")
	if err != nil || len(state.Queued) != n {
		t.Fatalf("%+v, %v", state, err)
	}
	var mu sync.Mutex
	ran := make(map[string]int)
	work(t, q, &Worker{Slots: 4, Do: func(_ context.Context, task *Task) ([]byte, error) {
		mu.Lock()
		defer mu.Unlock()
		ran[task.Key]++
		switch times := ran[task.Key]; {
		case task.Key == "t3", task.Key == "t5" && times == 1:
			return nil, &CrashError{"signal: killed"}
		case task.Key == "t7" && times == 1:
			return nil, errors.New("no room")
		}
		return append([]byte("did "), task.Body...), nil
	}})
	for key, body := range await(t, replies, n) {
		want := "did "
		if key == "t3" {
			want = "gave up: signal: killed"
		}
		if !strings.HasPrefix(body, want) {
			t.Errorf("%s: %q", key, body)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for key, times := range ran {
		if want := map[string]int{"t3": 3, "t5": 2, "t7": 2}[key]; times != max(1, want) {
			t.Errorf("%s ran %d times", key, times)
		}
	}
	if state, err := q.State(t.Context(), "s"); err != nil || len(state.Queued) > 1 { // the last acknowledgement may be on its way
		t.Errorf("%+v, %v", state, err)
	}
}

// TestSilence keeps a task longer than a worker may be silent: its heartbeats keep it.
func TestSilence(t *testing.T) {
	q := inProcess(t)
	replies, err := q.Replies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ran := 0
	do := func(ctx context.Context, _ *Task) ([]byte, error) {
		mu.Lock()
		ran++
		mu.Unlock()
		sleep(ctx, 2*silent)
		return []byte("done"), nil
	}
	work(t, q, &Worker{Slots: 2, Do: do})
	if err := q.Submit(t.Context(), &Task{Key: "slow", Sweep: "s"}); err != nil {
		t.Fatal(err)
	}
	await(t, replies, 1)
	mu.Lock()
	defer mu.Unlock()
	if ran != 1 {
		t.Errorf("it ran %d times", ran)
	}
}

// TestCancel cancels a sweep: what runs is stopped, what waits is dropped, and another sweep goes on.
func TestCancel(t *testing.T) {
	q := inProcess(t)
	replies, err := q.Replies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began, ended := make(chan string, 100), make(chan string, 100)
	work(t, q, &Worker{Slots: 1, Do: func(ctx context.Context, task *Task) ([]byte, error) {
		began <- task.Key
		if task.Sweep == "endless" {
			<-ctx.Done()
			ended <- task.Key
			return nil, ctx.Err()
		}
		return []byte("done"), nil
	}})
	for i := range 5 {
		if err := q.Submit(t.Context(), &Task{Key: fmt.Sprint("e", i), Sweep: "endless"}); err != nil {
			t.Fatal(err)
		}
	}
	first := <-began
	if err := q.Cancel(t.Context(), "endless"); err != nil {
		t.Fatal(err)
	}
	if key := <-ended; key != first {
		t.Errorf("%s was stopped, not %s", key, first)
	}
	if err := q.Submit(t.Context(), &Task{Key: "other", Sweep: "other"}); err != nil {
		t.Fatal(err)
	}
	if got := await(t, replies, 1); got["other"] != "done" {
		t.Errorf("%v", got)
	}
	if key := <-began; key != "other" {
		t.Errorf("%s began after the sweep was canceled", key)
	}
}

// TestMend hands a task out again that the server believes a worker to have, as after its clock was set back, and that no worker speaks of.
func TestMend(t *testing.T) {
	q := inProcess(t)
	replies, err := q.Replies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Submit(t.Context(), &Task{Key: "lost", Sweep: "s"}); err != nil {
		t.Fatal(err)
	}
	c, err := q.tasks.CreateOrUpdateConsumer(t.Context(), jetstream.ConsumerConfig{
		Durable: q.consumer(), AckPolicy: jetstream.AckExplicitPolicy, AckWait: time.Hour, FilterSubject: "gpa.task." + q.build + ".>",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Next(); err != nil {
		t.Fatal(err)
	}
	q.within = 200 * time.Millisecond
	work(t, q, &Worker{Slots: 1, Do: func(context.Context, *Task) ([]byte, error) { return []byte("done"), nil }})
	mend, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for mend.Err() == nil {
			if state, err := q.State(mend, "s"); err == nil {
				q.Mend(mend, state)
			}
			sleep(mend, q.within)
		}
	}()
	await(t, replies, 1)
	stop()
	<-ended
}

// TestMemory lets tasks run together only as far as memory goes.
func TestMemory(t *testing.T) {
	q := inProcess(t)
	replies, err := q.Replies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	used, most := int64(0), int64(0)
	work(t, q, &Worker{Slots: 6, Memory: 100, Do: func(ctx context.Context, task *Task) ([]byte, error) {
		mu.Lock()
		used += task.Memory
		most = max(most, used)
		if task.Memory > 100 && used != task.Memory {
			t.Error("a task that takes all runs beside others")
		}
		mu.Unlock()
		sleep(ctx, 20*time.Millisecond)
		mu.Lock()
		used -= task.Memory
		mu.Unlock()
		return nil, nil
	}})
	for i, m := range []int64{40, 40, 40, 150, 40, 100, 10, 10} {
		if err := q.Submit(t.Context(), &Task{Key: fmt.Sprint("m", i), Sweep: "s", Memory: m}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, replies, 8)
	mu.Lock()
	defer mu.Unlock()
	if most > 150 {
		t.Errorf("%d at a time", most)
	}
}

// TestListen holds who may join: with the token and the right certificate only.
func TestListen(t *testing.T) {
	folder := t.TempDir()
	s, err := Listen("127.0.0.1:0", folder)
	if err != nil {
		t.Fatal(err)
	}
	join, err := url.Parse(s.Join(""))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*url.URL){
		"no token":          func(u *url.URL) { u.User = nil },
		"wrong token":       func(u *url.URL) { u.User = url.User("x") },
		"wrong certificate": func(u *url.URL) { u.Fragment = strings.Repeat("ab", 32) },
		"no certificate":    func(u *url.URL) { u.Fragment = "" },
		"no TLS":            func(u *url.URL) { u.Scheme, u.Fragment = "nats", "" },
	} {
		u := *join
		change(&u)
		c, err := Dial(u.String())
		if err != nil {
			continue
		}
		if err := c.Connected(time.Second); err == nil {
			t.Errorf("%s: connected", name)
		}
		c.Close()
	}
	if c, err := net.DialTimeout("tcp", join.Host, time.Second); err != nil {
		t.Error(err)
	} else {
		c.Close()
	}
	c, err := Dial(join.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	q := open(t, c)
	if err := q.PutBlob(t.Context(), "blob", []byte("contents")); err != nil {
		t.Fatal(err)
	}
	if data, err := q.Blob(t.Context(), "blob"); err != nil || string(data) != "contents" {
		t.Errorf("%q, %v", data, err)
	}
	for _, name := range []string{"token", "key.pem"} {
		if info, err := os.Stat(folder + "/" + name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if err := q.Submit(t.Context(), &Task{Key: "kept", Sweep: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := c.Connected(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	// The same server again, on the same port: the client comes back, and the task is there.
	s.Close()
	if s, err = Listen(join.Host, folder); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := c.Connected(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	if again := s.Join(""); again != join.String() {
		t.Errorf("it is joined by %s now", again)
	}
	if state, err := q.State(t.Context(), "s"); err != nil || !state.Queued["kept"] {
		t.Errorf("%+v, %v", state, err)
	}
}

// TestStart holds that nothing listens by default.
func TestStart(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if at := s.server.Addr(); at != nil || s.Join("") != "" {
		t.Errorf("it listens at %v", at)
	}
	for _, text := range []string{"", "host", "tls://t@h:1#zz", "://"} {
		if _, err := Dial(text); err == nil {
			t.Errorf("%q is a URL of a server", text)
		}
	}
}

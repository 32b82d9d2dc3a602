package queue

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

var (
	clusterTasks = flag.Int("queue.tasks", 96, "tasks of TestCluster")
	clusterSize  = flag.Int("queue.workers", 32, "workers of TestCluster")
	clusterTask  = flag.Duration("queue.task", time.Second, "how long each of them takes")
	clusterDelay = flag.Duration("queue.delay", 5*time.Millisecond, "how long what is sent takes to arrive")
	clusterLoss  = flag.Duration("queue.loss", 20*time.Second, "how long a connection of a worker lasts in the mean")
	clusterIdeal = flag.Float64("queue.ideal", 0.5, "share of the ideal rate below which TestCluster fails")
)

// TestCluster runs tasks that sleep on many workers, each with a way of its own to the server that delays all that is sent and is lost again and again, and logs the
// share of the ideal rate, at which every worker sleeps all the time. By hand, with nothing else on the machine:
//
//	go test ./advisor/tune/queue -run TestCluster -v -timeout 1h -queue.tasks 3200 -queue.ideal 0.9
func TestCluster(t *testing.T) {
	s, err := Listen("127.0.0.1:0", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	owner, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer owner.Close()
	q := open(t, owner)
	replies, err := q.Replies(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ran := make(map[string]int)
	for range *clusterSize {
		c := distant(t, s)
		work(t, open(t, c), &Worker{Slots: 1, Do: func(ctx context.Context, task *Task) ([]byte, error) {
			sleep(ctx, *clusterTask)
			mu.Lock()
			defer mu.Unlock()
			ran[task.Key]++
			return []byte("done"), nil
		}})
	}
	began := time.Now()
	for i := range *clusterTasks {
		if err := q.Submit(t.Context(), &Task{Key: fmt.Sprint("c", i), Sweep: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	got := make(map[string]bool)
	look := time.NewTicker(3 * time.Second) // as the owner of a sweep does
	defer look.Stop()
	for len(got) < *clusterTasks {
		select {
		case r := <-replies:
			got[r.Key] = true
		case <-look.C:
			for i := range *clusterTasks {
				if key := fmt.Sprint("c", i); !got[key] {
					if r, err := q.Reply(t.Context(), key); err == nil && r != nil {
						got[key] = true
					}
				}
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("%d replies", len(got))
		}
	}
	took := time.Since(began)
	mu.Lock()
	defer mu.Unlock()
	twice := 0
	for _, n := range ran {
		twice += n - 1
	}
	ideal := time.Duration((*clusterTasks+*clusterSize-1) / *clusterSize) * *clusterTask
	t.Logf("%d tasks of %s on %d workers took %.1f s, %.1f %% of the ideal rate; %d ran twice", *clusterTasks, *clusterTask, *clusterSize, took.Seconds(), 100*float64(ideal)/float64(took), twice)
	if float64(ideal) < *clusterIdeal*float64(took) {
		t.Errorf("the ideal is %s", ideal)
	}
}

// distant connects to a server by a way that delays and is lost.
func distant(t *testing.T, s *Server) *Conn {
	t.Helper()
	join, err := url.Parse(s.Join(""))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func(to string) {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			d, err := net.Dial("tcp", to)
			if err != nil {
				c.Close()
				continue
			}
			go late(c, d)
			go late(d, c)
			time.AfterFunc(time.Duration(rand.ExpFloat64()*float64(*clusterLoss)), func() { c.Close(); d.Close() })
		}
	}(join.Host)
	join.Host = listener.Addr().String()
	c, err := Dial(join.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// late hands on what comes, after the delay.
func late(to io.WriteCloser, from io.ReadCloser) {
	type piece struct {
		data []byte
		at   time.Time
	}
	pieces := make(chan piece, 1024)
	go func() {
		defer to.Close()
		for p := range pieces {
			time.Sleep(time.Until(p.at))
			if _, err := to.Write(p.data); err != nil {
				break
			}
		}
		for range pieces {
		}
	}()
	defer close(pieces)
	for {
		data := make([]byte, 1<<14)
		n, err := from.Read(data)
		if n > 0 {
			pieces <- piece{data[:n], time.Now().Add(*clusterDelay)}
		}
		if err != nil {
			from.Close()
			return
		}
	}
}

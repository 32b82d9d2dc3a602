package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// A Worker does tasks.
type Worker struct {
	Slots  int   // tasks at a time
	Memory int64 // bytes that they may take together, 0 for no limit; a task that takes more runs by itself
	Tries  int   // a task that ends its process so often is given up
	// Do does a task and returns the reply. A *CrashError says that the task ended its process, any other error that this worker cannot
	// do it now.
	Do func(ctx context.Context, t *Task) ([]byte, error)
	// Far names what a task needs that is not here and takes long to fetch, "" for nothing, nil for never anything. Such a task is left to the worker that has
	// it, or fetches it, as long as there are others, and for a while then, as in delay scheduling (Zaharia et al., EuroSys 2010).
	Far func(t *Task) string
	// GiveUp makes the reply to a task whose process ended again and again.
	GiveUp func(t *Task, words string) []byte
	// Tell is told of what goes wrong.
	Tell func(error)

	mu      sync.Mutex
	free    *sync.Cond
	used    int64
	busy    int
	running map[*Task]func() // to cancel
	id      string           // of this worker, as no other has
}

// A CrashError is the error of a task whose process ended without a result.
type CrashError struct{ Words string } // the last that it said

func (e *CrashError) Error() string { return "the task's process ended: " + e.Words }

// again is how long a worker waits before it turns to a server anew that is away.
const again = time.Second

// Work does tasks until ctx ends. Where the server is away it waits for it.
func (w *Worker) Work(ctx context.Context, q *Queue) error {
	w.free, w.running, w.id = sync.NewCond(&w.mu), make(map[*Task]func()), nuid.Next()
	orders, err := q.conn.nc.Subscribe(q.cancelSubject("*"), func(m *nats.Msg) { w.cancel(string(m.Data)) })
	if err != nil {
		return err
	}
	defer orders.Unsubscribe()
	var group sync.WaitGroup
	for range w.Slots {
		group.Go(func() {
			s := slot{*q, time.Now()}
			for ctx.Err() == nil {
				if err := w.fetch(ctx, &s); err != nil && ctx.Err() == nil {
					w.tell(err)
					sleep(ctx, again)
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// A slot does one task after the other.
type slot struct {
	Queue           // opened anew where the server has forgotten it
	idle  time.Time // since when
}

func (w *Worker) tell(err error) {
	if w.Tell != nil && !lost(err) {
		w.Tell(err)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// fetchWait is how long a worker waits for a task before it asks anew.
const fetchWait = 5 * time.Second

// fetch takes one task, so that none waits unstarted in the hands of a worker that is busy, and does it.
func (w *Worker) fetch(ctx context.Context, s *slot) error {
	q := &s.Queue
	c, err := q.tasks.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: q.consumer(), AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.within, MaxDeliver: -1, MaxAckPending: 1 << 16,
		FilterSubject: "gpa.task." + q.build + ".>",
	})
	if err != nil {
		if fresh, reopened := openOnce(ctx, q.conn, q.build, q.within); reopened == nil { // a server that has forgotten all
			q.tasks, q.replies, q.notes, q.blobs = fresh.tasks, fresh.replies, fresh.notes, fresh.blobs
		}
		return err
	}
	for ctx.Err() == nil {
		wait, done := context.WithTimeout(ctx, fetchWait)
		batch, err := c.Fetch(1, jetstream.FetchContext(wait), jetstream.FetchHeartbeat(answerWithin))
		if err != nil {
			done()
			return err
		}
		for m := range batch.Messages() {
			if err := w.one(ctx, s, m); err != nil {
				w.tell(err)
			}
		}
		done()
		if err := batch.Error(); err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, jetstream.ErrNoHeartbeat) {
			return err
		}
	}
	return nil
}

// one does a task that was handed out.
func (w *Worker) one(ctx context.Context, s *slot, m jetstream.Msg) error {
	q := &s.Queue
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var t Task
	if err := json.Unmarshal(m.Data(), &t); err != nil {
		return errors.Join(fmt.Errorf("a task cannot be read: %w", err), m.Term())
	}
	if left, err := w.leave(ctx, s, m, &t); left {
		return err
	}
	defer func() { s.idle = time.Now() }()
	defer w.cancelable(&t, cancel)()
	go beat(ctx, q, m, &t, cancel)
	// A task can be handed out after Queue.Cancel has noted the sweep and before it has dropped its tasks.
	known := make(chan bool, 1)
	go func() { known <- q.isCanceled(ctx, t.Sweep) }()
	if meta, err := m.Metadata(); (err != nil || meta.NumDelivered > 1) && q.isDone(ctx, t.Key) {
		return m.Ack() // who did it before was not heard to the end
	}
	if <-known {
		cancel()
	}
	if err := w.take(ctx, t.Memory); err != nil {
		return m.Nak()
	}
	defer w.give(t.Memory)
	var body []byte
	var err error
	if ctx.Err() == nil {
		body, err = w.Do(ctx, &t)
	}
	var crash *CrashError
	switch {
	case ctx.Err() != nil:
		if q.isCanceled(context.WithoutCancel(ctx), t.Sweep) {
			return m.Term()
		}
		return m.Nak()
	case errors.As(err, &crash):
		if body, err = w.crashed(ctx, q, &t, crash); body == nil {
			return errors.Join(err, m.NakWithDelay(100*time.Millisecond))
		}
	case err != nil:
		return errors.Join(err, m.NakWithDelay(again))
	}
	if err := w.record(ctx, q, &t, body); err != nil {
		return err
	}
	return m.Ack() // where it is lost, the task comes again, and has a reply
}

// A worker with nothing to do for farPatience does a task whose data lie elsewhere: as long as a few hundred megabytes take from machine to machine. Until then
// it leaves the task for farWait.
const (
	farPatience = 2 * time.Second
	farWait     = farPatience / 10
)

// leave leaves a task to the worker that has its data, or was the first to fetch them. Where the server does not say who that is, nobody is.
func (w *Worker) leave(ctx context.Context, s *slot, m jetstream.Msg, t *Task) (bool, error) {
	if w.Far == nil || time.Since(s.idle) > farPatience {
		return false, nil
	}
	data := w.Far(t)
	if data == "" {
		return false, nil
	}
	ctx, stop := context.WithTimeout(ctx, answerWithin)
	defer stop()
	_, err := s.notes.Create(ctx, fetched+data, []byte(w.id))
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return false, nil
	}
	e, err := s.notes.Get(ctx, fetched+data)
	if err != nil || string(e.Value()) == w.id {
		return false, nil
	}
	return true, m.NakWithDelay(farWait)
}

// answerWithin is how long an answer of the server is awaited before it is asked again, or what it would have said is taken to be nothing.
const answerWithin = time.Second

// isDone reports whether there is a reply to a task. Where the server does not say, there is none: doing it twice does no harm, and waiting does.
func (q *Queue) isDone(ctx context.Context, key string) bool {
	ctx, stop := context.WithTimeout(ctx, answerWithin)
	defer stop()
	r, err := q.Reply(ctx, key)
	return err == nil && r != nil
}

// record brings a reply to the server, however long that is away.
func (w *Worker) record(ctx context.Context, q *Queue, t *Task, body []byte) error {
	for within := answerWithin; ; within = min(2*within, 16*answerWithin) {
		once, stop := context.WithTimeout(ctx, within)
		err := q.reply(once, t.Key, body)
		stop()
		var differ *ConflictError
		if errors.As(err, &differ) {
			w.tell(err)
			return nil
		}
		if err == nil || !lost(err) || ctx.Err() != nil {
			return err
		}
		sleep(ctx, again/4)
	}
}

// beat tells the server and the owner that a task is being done, and cancels it where the order to do so was missed.
func beat(ctx context.Context, q *Queue, m jetstream.Msg, t *Task, cancel func()) {
	ticker := time.NewTicker(q.within / 3)
	defer ticker.Stop()
	for {
		q.conn.nc.Publish(q.beatSubject(), []byte(t.Key)) // one that is lost is followed by another
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			m.InProgress()
			if q.isCanceled(ctx, t.Sweep) {
				cancel()
			}
		}
	}
}

// cancelable lets a task be canceled until what it returns is called.
func (w *Worker) cancelable(t *Task, cancel func()) (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running[t] = cancel
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.running, t)
	}
}

// cancel stops the tasks of a sweep.
func (w *Worker) cancel(sweep string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t, cancel := range w.running {
		if t.Sweep == sweep {
			cancel()
		}
	}
}

// crashed counts that a task ended its process, which is another thing than that a worker did. The body is the reply to one that is given up.
func (w *Worker) crashed(ctx context.Context, q *Queue, t *Task, crash *CrashError) ([]byte, error) {
	count := 0
	if e, err := q.notes.Get(ctx, crashed+t.Key); err == nil {
		number, _, _ := strings.Cut(string(e.Value()), "\n")
		count, _ = strconv.Atoi(number)
	} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, err
	}
	count++
	if count >= w.Tries {
		return w.GiveUp(t, crash.Words), nil
	}
	_, err := q.notes.PutString(ctx, crashed+t.Key, strconv.Itoa(count)+"\n"+crash.Words)
	return nil, err
}

func (q *Queue) isCanceled(ctx context.Context, sweep string) bool {
	ctx, stop := context.WithTimeout(ctx, answerWithin)
	defer stop()
	_, err := q.notes.Get(ctx, canceled+sweep)
	return err == nil
}

// take waits until there is memory for a task. One that takes more than there is runs when no other does.
func (w *Worker) take(ctx context.Context, bytes int64) error {
	stop := context.AfterFunc(ctx, func() { w.mu.Lock(); defer w.mu.Unlock(); w.free.Broadcast() })
	defer stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.Memory > 0 && w.busy > 0 && w.used+bytes > w.Memory && ctx.Err() == nil {
		w.free.Wait()
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.used += bytes
	w.busy++
	return nil
}

func (w *Worker) give(bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used -= bytes
	w.busy--
	w.free.Broadcast()
}

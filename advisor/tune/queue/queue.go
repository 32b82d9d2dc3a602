package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// A Task is what a worker does. Tasks of one key are the same task: who submits it again changes nothing.
type Task struct {
	Key    string `json:"key"`    // of letters, digits and -
	Sweep  string `json:"sweep"`  // that it belongs to, of letters, digits and -
	Memory int64  `json:"memory"` // bytes that it takes, as far as known
	Body   []byte `json:"body"`
}

// A Queue is the tasks and replies of one build of the program on a server. Workers of other builds have queues of their own, as their
// results may differ.
type Queue struct {
	conn    *Conn
	js      jetstream.JetStream
	build   string
	tasks   jetstream.Stream
	replies jetstream.KeyValue
	notes   jetstream.KeyValue    // on tasks that ended their processes, canceled sweeps, and who has fetched what
	blobs   jetstream.ObjectStore // what tasks refer to
	within  time.Duration         // a task whose worker is silent for so long is handed out again
	pulse   *pulse                // of the tasks that workers have, nil where nobody listens for it
}

const (
	taskStream  = "gpa_tasks"
	replyBucket = "gpa_replies"
	noteBucket  = "gpa_notes"
	blobBucket  = "gpa_blobs"
	canceled    = "canceled."
	crashed     = "crashed."
	fetched     = "fetched." // by which worker first
)

// How long a server keeps replies, and blobs. The store of a sweep's owner has them for good, and one in the same process takes replies at once.
const (
	kept       = 7 * 24 * time.Hour
	keptInside = time.Minute
)

// openWithin is how long a server is tried whose connection is lost meanwhile.
const openWithin = time.Minute

// Open finds or makes the queue of a build on a server. within is how long a worker may be silent before its task is handed out again.
func Open(ctx context.Context, conn *Conn, build string, within time.Duration) (*Queue, error) {
	for end := time.Now().Add(openWithin); ; sleep(ctx, again) {
		q, err := openOnce(ctx, conn, build, within)
		if err == nil || !lost(err) || ctx.Err() != nil || time.Now().After(end) {
			return q, err
		}
	}
}

func openOnce(ctx context.Context, conn *Conn, build string, within time.Duration) (*Queue, error) {
	js, err := jetstream.New(conn.nc)
	if err != nil {
		return nil, err
	}
	q := &Queue{conn: conn, js: js, build: build, within: within}
	storage, replies := jetstream.FileStorage, kept
	if conn.memory {
		storage, replies = jetstream.MemoryStorage, keptInside
	}
	q.tasks, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: taskStream, Subjects: []string{"gpa.task.>"}, Retention: jetstream.WorkQueuePolicy, Storage: storage,
		MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, // a task that is there already stays as it is
		Duplicates: time.Second,
	})
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	if q.replies, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: replyBucket, Storage: storage, TTL: replies, MaxValueSize: maxPayload - 1024}); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	if q.notes, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: noteBucket, Storage: storage, TTL: kept}); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	if q.blobs, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: blobBucket, Storage: storage, TTL: kept}); err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return q, nil
}

func (q *Queue) subject(t *Task) string {
	return "gpa.task." + q.build + "." + t.Sweep + "." + t.Key
}

func (q *Queue) cancelSubject(sweep string) string { return "gpa.cancel." + q.build + "." + sweep }

func (q *Queue) beatSubject() string { return "gpa.beat." + q.build }

// Submit queues a task, unless it is queued.
func (q *Queue) Submit(ctx context.Context, t *Task) error {
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = q.js.Publish(ctx, q.subject(t), data)
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == 10077 || strings.Contains(api.Description, "maximum messages per subject")) {
		return nil
	}
	return err
}

// Forget removes the reply to a task and the notes on it, so that it can be done again.
func (q *Queue) Forget(ctx context.Context, key string) error {
	return errors.Join(q.purge(ctx, q.replies, q.build+"."+key), q.purge(ctx, q.notes, crashed+key))
}

func (q *Queue) purge(ctx context.Context, kv jetstream.KeyValue, key string) error {
	if _, err := kv.Get(ctx, key); errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil
	}
	return kv.Purge(ctx, key)
}

// A Reply is what came of a task.
type Reply struct {
	Key  string
	Body []byte
}

// Reply returns the reply to a task, nil where there is none yet.
func (q *Queue) Reply(ctx context.Context, key string) (*Reply, error) {
	e, err := q.replies.Get(ctx, q.build+"."+key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &Reply{key, e.Value()}, nil
}

// Replies sends all replies of the build from now on, until ctx ends. Those that come while the connection is lost are found by [Queue.Reply].
// It also begins to listen for workers, for [Queue.Mend].
func (q *Queue) Replies(ctx context.Context) (<-chan Reply, error) {
	w, err := q.replies.Watch(ctx, q.build+".>", jetstream.UpdatesOnly())
	if err != nil {
		return nil, err
	}
	p := &pulse{heard: make(map[string]time.Time), full: time.Now()}
	beats, err := q.conn.nc.Subscribe(q.beatSubject(), func(m *nats.Msg) { p.hear(string(m.Data)) })
	if err != nil {
		return nil, err
	}
	q.pulse = p
	out := make(chan Reply)
	go func() {
		defer close(out)
		defer beats.Unsubscribe()
		for e := range w.Updates() {
			if e == nil || e.Operation() != jetstream.KeyValuePut {
				continue
			}
			select {
			case out <- Reply{strings.TrimPrefix(e.Key(), q.build+"."), e.Value()}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// A ConflictError is the error of a second reply to a task that is not the first.
type ConflictError struct{ Key string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("two workers came to different results for task %s", e.Key)
}

// reply records a reply. The first counts.
func (q *Queue) reply(ctx context.Context, key string, body []byte) error {
	_, err := q.replies.Create(ctx, q.build+"."+key, body)
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return err
	}
	first, err := q.Reply(ctx, key)
	if err == nil && first != nil && !bytes.Equal(first.Body, body) {
		return &ConflictError{key}
	}
	return err
}

// Cancel drops the tasks of a sweep that are queued, and stops those that run.
func (q *Queue) Cancel(ctx context.Context, sweep string) error {
	_, err := q.notes.PutString(ctx, canceled+sweep, "")
	return errors.Join(err, q.conn.nc.Publish(q.cancelSubject(sweep), []byte(sweep)), q.tasks.Purge(ctx, jetstream.WithPurgeSubject("gpa.task."+q.build+"."+sweep+".*")))
}

// Resume takes back Cancel.
func (q *Queue) Resume(ctx context.Context, sweep string) error {
	return q.purge(ctx, q.notes, canceled+sweep)
}

// Probe writes where workers write, and fails where they would: a server whose disk was full can be read, and takes no replies.
func (q *Queue) Probe(ctx context.Context) error {
	_, err := q.replies.PutString(ctx, q.build+".probe", "")
	if err == nil {
		_, err = q.notes.PutString(ctx, "probe", "")
	}
	return err
}

// State is what a queue holds.
type State struct {
	Queued  map[string]bool // keys of tasks without a reply of a sweep, those that are being done among them
	Running int             // tasks that workers have, of all sweeps of the build
	Waiting int             // of all sweeps of the build
}

// State counts.
func (q *Queue) State(ctx context.Context, sweep string) (*State, error) {
	prefix := "gpa.task." + q.build + "." + sweep + "."
	info, err := q.tasks.Info(ctx, jetstream.WithSubjectFilter(prefix+"*"))
	if err != nil {
		return nil, err
	}
	s := &State{Queued: make(map[string]bool)}
	for subject := range info.State.Subjects {
		s.Queued[strings.TrimPrefix(subject, prefix)] = true
	}
	c, err := q.tasks.Consumer(ctx, q.consumer())
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		s.Waiting = len(s.Queued)
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	i := c.CachedInfo()
	s.Running, s.Waiting = i.NumAckPending, int(i.NumPending)
	return s, nil
}

// Mend makes the consumer anew where tasks are queued that it neither has handed out nor will, or that nobody has any more: it has lost count, as it
// can when a server is killed, or waits for a time that a clock which was set back says is far away. Recording replies twice does no harm.
func (q *Queue) Mend(ctx context.Context, s *State) error {
	if len(s.Queued) == 0 || s.Running+s.Waiting > 0 && !q.pulse.missing(s.Running, q.within) {
		return nil
	}
	err := q.tasks.DeleteConsumer(ctx, q.consumer())
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil
	}
	return err
}

// A pulse is what was heard of the tasks that workers have.
type pulse struct {
	mu    sync.Mutex
	heard map[string]time.Time // by key, the last time
	full  time.Time            // as many were heard of as workers should have, the last time
}

func (p *pulse) hear(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard[key] = time.Now()
}

// missing reports whether for a while fewer tasks were heard of than workers should have.
func (p *pulse) missing(running int, within time.Duration) bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(p.heard, func(_ string, at time.Time) bool { return now.Sub(at) > 2*within })
	if len(p.heard) >= running || now.Sub(p.full) > 4*within {
		missing := len(p.heard) < running
		p.full = now
		return missing
	}
	return false
}

func (q *Queue) consumer() string { return "workers_" + q.build }

// PutBlob sends what tasks refer to, unless it is there.
func (q *Queue) PutBlob(ctx context.Context, key string, data []byte) error {
	if info, err := q.blobs.GetInfo(ctx, key); err == nil && info.Size == uint64(len(data)) {
		return nil
	}
	_, err := q.blobs.Put(ctx, jetstream.ObjectMeta{Name: key, Opts: &jetstream.ObjectMetaOptions{ChunkSize: 1 << 20}}, bytes.NewReader(data))
	return err
}

// Blob fetches what a task refers to. Who gets it checks its hash.
func (q *Queue) Blob(ctx context.Context, key string) ([]byte, error) {
	return q.blobs.GetBytes(ctx, key)
}

// Passing reports whether an error is that of a server that is away or has no room, which may be over the next time.
func Passing(err error) bool {
	var api *jetstream.APIError
	return lost(err) || errors.Is(err, nats.ErrConnectionReconnecting) || errors.As(err, &api) && api.Code >= 500
}

// lost reports whether an error says that the server is away, or has forgotten what it had.
func lost(err error) bool {
	return errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrDisconnected) || errors.Is(err, nats.ErrTimeout) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrNoResponders) || errors.Is(err, jetstream.ErrNoStreamResponse) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabled)
}

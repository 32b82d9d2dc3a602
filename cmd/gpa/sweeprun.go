package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"gpa/advisor/tune/queue"
	"gpa/advisor/tune/search"
	"gpa/profiler/store"
	"gpa/reports"
)

// reportFile is the name of the report in the result of a variant.
const reportFile = "report.json"

// A sweepRun is a sweep that is under way.
type sweepRun struct {
	*sweep
	queue      *queue.Queue
	remote     bool // workers elsewhere need the blobs
	window     int  // variants at a time
	noCache    bool
	journal    *sweepJournal
	events     *json.Encoder // nil for none
	warn       func(string)
	strategies []search.Strategy
	outcomes   map[int]*search.Outcome
	groupOf    []int // by point
	best       []int // by group, -1 for none yet
	flying     map[store.Key][]*sweepVariant
	preparing  int
	prepared   chan preparation
	counts     sweepCounts
	began      time.Time
}

// A preparation is a variant that was compiled, or why it was not.
type preparation struct {
	point, group int
	variant      *sweepVariant
	err          error
}

// sweepCounts says how far a sweep has come.
type sweepCounts struct {
	Variants int `json:"variants"` // of the space
	Done     int `json:"done"`     // with an outcome
	Cached   int `json:"cached"`   // of these: from the store
	Ran      int `json:"ran"`
	Running  int `json:"running"`
	Failed   int `json:"failed"` // of those done: disqualified
}

// String is the line of progress.
func (r *sweepRun) String() string {
	c := r.counts
	text := fmt.Sprintf("%d of %d variants, %d cached, %d failed, %d under way", c.Done, c.Variants, c.Cached, c.Failed, c.Running)
	if c.Ran > 0 && c.Running > 0 {
		rate := time.Since(r.began) / time.Duration(c.Ran)
		text += fmt.Sprintf(", %s each", rate.Round(time.Millisecond))
	}
	return text
}

// run searches all groups to their ends, or until ctx ends.
func (r *sweepRun) run(ctx context.Context) error {
	r.outcomes, r.flying = make(map[int]*search.Outcome), make(map[store.Key][]*sweepVariant)
	r.prepared, r.began = make(chan preparation), time.Now()
	r.counts.Variants = len(r.space.Points)
	r.groupOf = make([]int, len(r.space.Points))
	for g, group := range r.groups {
		for _, i := range group {
			r.groupOf[i] = g
		}
		s, err := search.NewStrategy(r.spec, r.space, group, g)
		if err != nil {
			return err
		}
		r.strategies, r.best = append(r.strategies, s), append(r.best, -1)
	}
	if err := r.queue.Resume(ctx, r.id()); err != nil {
		return err
	}
	replies, err := r.queue.Replies(ctx)
	if err != nil {
		return err
	}
	err = r.loop(ctx, replies)
	if err != nil {
		late, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		err = errors.Join(err, r.queue.Cancel(late, r.id()))
		for r.preparing > 0 {
			<-r.prepared
			r.preparing--
		}
	}
	return err
}

// looksEvery is how often the owner of a sweep compares what it waits for with what the server has.
const looksEvery = 3 * time.Second

func (r *sweepRun) loop(ctx context.Context, replies <-chan queue.Reply) error {
	ticker := time.NewTicker(looksEvery)
	defer ticker.Stop()
	pool := make(chan struct{}, runtime.NumCPU())
	for {
		r.ask(ctx, pool)
		r.counts.Running = len(r.flying) + r.preparing
		if r.counts.Running == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case p := <-r.prepared:
			r.preparing--
			if err := r.begin(ctx, p); err != nil {
				return err
			}
		case reply, ok := <-replies:
			if !ok {
				return ctx.Err()
			}
			if err := r.answer(ctx, reply); err != nil {
				return err
			}
		case <-ticker.C:
			if r.journal.canceled() {
				return failure{errors.New("canceled")}
			}
			if err := r.look(ctx); err != nil && ctx.Err() == nil {
				r.warn(err.Error()) // a server that is away comes back
			}
		}
	}
}

// ask prepares the next variants of all groups.
func (r *sweepRun) ask(ctx context.Context, pool chan struct{}) {
	for again := true; again; {
		again = false
		for g, s := range r.strategies {
			room := r.window - len(r.flying) - r.preparing
			if room <= 0 {
				return
			}
			for _, point := range s.Next((room + len(r.strategies) - 1) / len(r.strategies)) {
				again = true
				r.preparing++
				go func() {
					pool <- struct{}{}
					v, err := r.variant(ctx, point)
					<-pool
					r.prepared <- preparation{point, g, v, err}
				}()
			}
		}
	}
}

// begin takes the result of a variant from the store, or submits it.
func (r *sweepRun) begin(ctx context.Context, p preparation) error {
	var no refused
	switch {
	case errors.As(p.err, &no):
		return r.tell(p.point, &search.Outcome{Status: search.Refused, Why: reports.OneLine(no.Error())}, nil, false)
	case p.err != nil:
		return p.err
	}
	v := p.variant
	if !r.noCache {
		files, err := r.store.Result(v.key)
		if err == nil {
			return r.done(p.point, v, files[reportFile], true)
		}
		if err != store.ErrMissing {
			r.warn(err.Error())
		}
	}
	r.flying[v.key] = append(r.flying[v.key], v)
	if len(r.flying[v.key]) > 1 {
		return nil // the same code and launch as another one
	}
	if found, err := r.replied(ctx, v); found || err != nil {
		return err
	}
	return r.submit(ctx, v)
}

// replied takes a result that came while nobody owned the sweep. What else the server has of a task is forgotten, so that it runs.
func (r *sweepRun) replied(ctx context.Context, v *sweepVariant) (bool, error) {
	if !r.noCache && !r.remote {
		return false, nil
	}
	reply, err := r.queue.Reply(ctx, v.task.Key)
	if err != nil {
		return false, err
	}
	var what sweepReply
	if !r.noCache && reply != nil && json.Unmarshal(reply.Body, &what) == nil && what.How == taskDone {
		return true, r.answer(ctx, *reply)
	}
	return false, r.queue.Forget(ctx, v.task.Key)
}

// submit sends a variant to the workers.
func (r *sweepRun) submit(ctx context.Context, v *sweepVariant) error {
	if stop := r.spec.Search.Stop; stop > 0 {
		if best := r.best[r.groupOf[v.point]]; best >= 0 {
			var t sweepTask
			if err := json.Unmarshal(v.task.Body, &t); err != nil {
				return err
			}
			t.MaxCycles = int64(math.Ceil(stop * float64(r.outcomes[best].Cycles)))
			var err error
			if v.task.Body, err = json.Marshal(t); err != nil {
				return err
			}
		}
	}
	if r.remote {
		for _, key := range v.blobs {
			data, err := r.store.Blob(key)
			if err != nil {
				return err
			}
			if err := r.queue.PutBlob(ctx, key.String(), data); err != nil {
				return err
			}
		}
	}
	return r.queue.Submit(ctx, v.task)
}

// answer records a reply. One to a task that nobody waits for is another sweep's.
func (r *sweepRun) answer(ctx context.Context, reply queue.Reply) error {
	key, err := store.ParseKey(reply.Key)
	if err != nil || len(r.flying[key]) == 0 {
		return nil
	}
	list := r.flying[key]
	delete(r.flying, key)
	var what sweepReply
	if err := json.Unmarshal(reply.Body, &what); err != nil {
		return fmt.Errorf("the reply to task %s cannot be read: %w", key, err)
	}
	switch what.How {
	case taskDone:
		err := r.store.Record(key, map[string][]byte{reportFile: what.Report})
		var differ *store.ConflictError
		switch {
		case errors.As(err, &differ):
			return failure{err}
		case err != nil: // a full disk costs a computation, and nothing else
			r.warn("the result is not kept: " + err.Error())
		}
		for i, v := range list {
			if err := r.done(v.point, v, what.Report, i > 0); err != nil {
				return err
			}
		}
		return nil
	}
	status := map[string]search.Status{taskRefused: search.Refused, taskStopped: search.Stopped, taskPoison: search.Poison}[what.How]
	if status == "" {
		return fmt.Errorf("the reply to task %s ends in an unknown way, %q", key, what.How)
	}
	for _, v := range list {
		if err := r.tell(v.point, &search.Outcome{Status: status, Why: what.Why}, v, false); err != nil {
			return err
		}
	}
	return nil
}

// done reads the report of a variant.
func (r *sweepRun) done(point int, v *sweepVariant, report []byte, cached bool) error {
	o, err := search.ReadReport(report, r.spec.Objective, r.spec.Check == "outputs")
	if err != nil {
		return err
	}
	return r.tell(point, o, v, cached)
}

// tell notes an outcome everywhere.
func (r *sweepRun) tell(point int, o *search.Outcome, v *sweepVariant, cached bool) error {
	r.outcomes[point] = o
	g := r.groupOf[point]
	r.counts.Done++
	if cached {
		r.counts.Cached++
	} else {
		r.counts.Ran++
	}
	if o.Status != search.OK {
		r.counts.Failed++
	} else if b := r.best[g]; b < 0 || r.better(o, r.outcomes[b]) {
		r.best[g] = point
	}
	r.strategies[g].Tell(point, o)
	line := journalLine{Point: r.space.At(r.space.Points[point]), Cached: cached, Outcome: o}
	if v != nil {
		line.Key = v.key.String()
	}
	if r.events != nil {
		event := struct {
			Event string `json:"event"`
			journalLine
			Progress sweepCounts `json:"progress"`
		}{"outcome", line, r.counts}
		if err := r.events.Encode(event); err != nil {
			return err
		}
	}
	return r.journal.add(line)
}

func (r *sweep) better(a, b *search.Outcome) bool {
	if r.spec.Goal == "max" {
		return a.Objective > b.Objective
	}
	return a.Objective < b.Objective
}

// look finds replies that were missed and tasks that were lost, and submits these again.
func (r *sweepRun) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, looksEvery)
	defer cancel()
	state, err := r.queue.State(ctx, r.id())
	if err != nil {
		return err
	}
	for key, list := range r.flying {
		reply, err := r.queue.Reply(ctx, key.String())
		if err != nil {
			return err
		}
		if reply != nil {
			if err := r.answer(ctx, *reply); err != nil {
				return err
			}
			continue
		}
		if !state.Queued[key.String()] {
			if err := r.submit(ctx, list[0]); err != nil {
				return err
			}
		}
	}
	return r.queue.Mend(ctx, state)
}

// A journalLine is the outcome of a variant in the journal and in events.
type journalLine struct {
	Point   map[string]search.Value `json:"point"`
	Key     string                  `json:"key,omitempty"` // of the result in the store
	Cached  bool                    `json:"cached"`
	Outcome *search.Outcome         `json:"outcome"`
}

// A sweepJournal is the file of a sweep's outcomes, in the order in which they came. The results themselves are in the store.
type sweepJournal struct {
	name string
	mu   sync.Mutex
	file io.WriteCloser
}

func (j *sweepJournal) add(line journalLine) error {
	data, err := json.Marshal(line)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	_, err = j.file.Write(append(data, '\n'))
	return err
}

// canceled reports whether gpa sweep cancel was called since the sweep began.
func (j *sweepJournal) canceled() bool {
	_, err := os.Stat(j.name + cancelEnd)
	return err == nil
}

// cancelEnd is the end of the name of the file that says so.
const cancelEnd = ".cancel"

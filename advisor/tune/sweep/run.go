package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"gpa/advisor/tune/queue"
	"gpa/advisor/tune/search"
	"gpa/profiler/store"
	"gpa/reports"
)

// Options say how a sweep is run. The zero value lets nobody run its variants: at least [Workers].Slots, Conn or Listen says who does.
type Options struct {
	Workers             // of this process
	Window  int         // variants under way at most; 0: as many as Slots where outcomes decide what comes next, or else 1024
	Again   bool        // what is in the store is run again; a result that is not that in the store is a [*store.ConflictError]
	Conn    *queue.Conn // to the server, nil for one in this process
	Listen  string      // as host:port, where the server in this process takes workers of other machines; "" for no port
	Host    string      // under which workers reach this machine; "" for the address of Listen, or this machine's name

	// Asked, where it is there, brings the points to run, by axis, instead of the search, until it is closed. What is not a point of the sweep is told as
	// refused, and one that has an outcome is told again.
	Asked <-chan map[string]search.Value

	Listening func(file string) // is told of the file that holds what [queue.Dial] takes to reach the server
	Outcome   func(Event) error // is told each outcome when it is known
	Progress  func(Counts)      // is told how far the sweep has come
}

// An Event tells that an outcome is known.
type Event struct {
	Event string `json:"event"` // outcome
	Result
	Progress Counts `json:"progress"`
}

// ErrCanceled is the error of a sweep that [Sweep.Cancel] ended.
var ErrCanceled = errors.New("canceled")

// batchWindow is how many variants are queued at a time where outcomes do not decide what comes next.
const batchWindow = 1024

// Run runs what the search asks for and the store lacks, until it is done, ctx ends, or the sweep is canceled. What came out is for
// [Sweep.Results] to tell, also where Run ends with an error.
func (s *Sweep) Run(ctx context.Context, o Options) (err error) {
	if o.Slots == 0 && o.Conn == nil && o.Listen == "" {
		return errors.New("nobody would run the variants")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	r := &run{Sweep: s, Options: o, remote: o.Conn != nil || o.Listen != ""}
	if r.Window == 0 {
		r.Window = max(1, r.Slots)
		if slices.Contains([]string{"grid", "random", "halving"}, s.spec.Search.Method) {
			r.Window = batchWindow
		}
	}
	if r.Conn == nil {
		end, err := r.serve()
		if err != nil {
			return err
		}
		defer end()
	}
	if r.queue, err = r.open(ctx, r.Conn, s.build); err != nil {
		return err
	}
	if r.journal, err = s.openJournal(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.journal.close()) }()
	if r.Slots > 0 {
		worked := make(chan struct{})
		own := *r.queue // search writes to its own: it begins to listen for workers
		go func() { defer close(worked); r.work(ctx, &own, &runner{Workers: r.Workers, store: s.store}) }()
		defer func() { stop(); <-worked }()
	}
	return r.search(ctx)
}

// serve starts a server in this process and connects to it.
func (r *run) serve() (end func(), err error) {
	if r.Listen == "" {
		r.server, err = queue.Start()
	} else {
		r.server, err = queue.Listen(r.Listen, filepath.Join(r.store.Dir(), "queue"))
	}
	if err != nil {
		return nil, err
	}
	server := r.server
	if r.Conn, err = server.Connect(); err != nil {
		server.Close()
		return nil, err
	}
	end = func() { r.Conn.Close(); server.Close() }
	if r.Listen == "" {
		return end, nil
	}
	name := filepath.Join(r.store.Dir(), "queue", "join")
	if err := os.WriteFile(name, []byte(server.Join(r.Host)+"\n"), 0o600); err != nil {
		end()
		return nil, err
	}
	if r.Listening != nil {
		r.Listening(name)
	}
	return end, nil
}

// reportFile is the name of the report in the result of a variant.
const reportFile = "report.json"

// A run is a sweep that is under way.
type run struct {
	*Sweep
	Options
	queue      *queue.Queue
	server     *queue.Server      // of this process, nil for none
	failures   int                // of look, in a row
	seen       int                // outcomes at the last look
	missed     map[store.Key]bool // under way at the last look, and not queued
	remote     bool               // workers elsewhere need the blobs
	journal    *journal
	strategies []search.Strategy
	outcomes   map[int]*search.Outcome
	groupOf    []int        // by point
	best       []int        // by group, -1 for none yet
	under      map[int]bool // points that are being prepared, or whose outcome is awaited
	flying     map[store.Key][]*variant
	preparing  int
	prepared   chan preparation
	pool       chan struct{} // of what is prepared at a time
	closed     bool          // Asked
	counts     Counts
}

// A preparation is a variant that was compiled, or why it was not.
type preparation struct {
	point   int
	variant *variant
	err     error
}

// search searches all groups to their ends, or until ctx ends.
func (r *run) search(ctx context.Context) error {
	r.outcomes, r.flying, r.prepared = make(map[int]*search.Outcome), make(map[store.Key][]*variant), make(chan preparation)
	r.under, r.pool = make(map[int]bool), make(chan struct{}, runtime.NumCPU())
	r.counts.Variants = len(r.space.Points)
	r.groupOf = make([]int, len(r.space.Points))
	for g, group := range r.groups {
		for _, i := range group {
			r.groupOf[i] = g
		}
		if r.spec.Search.Method == "grid" && r.spec.Search.Stop == 0 { // a long one that is stopped early takes none of the time
			group = r.longestFirst(group)
		}
		s, err := search.NewStrategy(r.spec, r.space, group, g)
		if err != nil {
			return err
		}
		r.strategies, r.best = append(r.strategies, s), append(r.best, -1)
	}
	told, err := r.readTold()
	if err != nil {
		return err
	}
	tell := r.Outcome
	if r.Asked != nil { // who asks for them is told of them
		r.Outcome = nil
	}
	for _, t := range told {
		if err := r.note(t.point, t.Outcome, nil, true); err != nil {
			return err
		}
	}
	r.Outcome = tell
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

func (r *run) loop(ctx context.Context, replies <-chan queue.Reply) error {
	ticker := time.NewTicker(looksEvery)
	defer ticker.Stop()
	for {
		if r.Asked == nil {
			r.ask(ctx)
		}
		r.count()
		if r.Progress != nil {
			r.Progress(r.counts)
		}
		if r.counts.Running == 0 && (r.Asked == nil || r.closed) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case at, ok := <-r.room():
			if !ok {
				r.closed = true
			} else if err := r.askedFor(ctx, at); err != nil {
				return err
			}
		case p := <-r.prepared:
			r.preparing--
			if err := r.begin(ctx, p); err != nil {
				return err
			}
		case came, ok := <-replies:
			if !ok {
				return ctx.Err()
			}
			if err := r.answer(came); err != nil {
				return err
			}
		case <-ticker.C:
			if r.journal.canceled() {
				return ErrCanceled
			}
			if err := r.looked(ctx); err != nil {
				return err
			}
		}
	}
}

// count counts what is under way and what is to come.
func (r *run) count() {
	r.counts.Running, r.counts.Left = len(r.under), 0
	if r.Asked != nil {
		return
	}
	for _, s := range r.strategies {
		r.counts.Left += s.Left()
	}
}

// ask prepares the next variants of all groups.
func (r *run) ask(ctx context.Context) {
	for again := true; again; {
		again = false
		for _, s := range r.strategies {
			room := r.Window - len(r.flying) - r.preparing
			if room <= 0 {
				return
			}
			for _, point := range s.Next((room + len(r.strategies) - 1) / len(r.strategies)) {
				again = true
				r.prepare(ctx, point)
			}
		}
	}
}

func (r *run) prepare(ctx context.Context, point int) {
	r.under[point] = true
	r.preparing++
	go func() {
		r.pool <- struct{}{}
		v, err := r.variant(ctx, point)
		<-r.pool
		r.prepared <- preparation{point, v, err}
	}()
}

// room is where points come from that others ask for, nil while no more may be under way.
func (r *run) room() <-chan map[string]search.Value {
	if r.closed || len(r.flying)+r.preparing >= r.Window {
		return nil
	}
	return r.Asked
}

// askedFor prepares a point that others ask for, or tells what is known of it.
func (r *run) askedFor(ctx context.Context, at map[string]search.Value) error {
	point := r.point(at)
	result := Result{Point: at, Outcome: &search.Outcome{Status: search.Refused, Why: "that is not a variant of the sweep: an axis lacks its value, or a constraint leaves it out"}}
	switch {
	case r.under[point]:
		return nil // it is told when it is known
	case point >= 0 && r.outcomes[point] == nil:
		r.prepare(ctx, point)
		return nil
	case point >= 0:
		result = Result{Point: at, Cached: true, Outcome: r.outcomes[point]}
	}
	if r.Outcome == nil {
		return nil
	}
	return r.Outcome(Event{"outcome", result, r.counts})
}

// begin takes the result of a variant from the store, or submits it.
func (r *run) begin(ctx context.Context, p preparation) error {
	var no refused
	switch {
	case errors.As(p.err, &no):
		return r.note(p.point, &search.Outcome{Status: search.Refused, Why: reports.OneLine(no.Error())}, nil, false)
	case p.err != nil:
		return p.err
	}
	v := p.variant
	if !r.Again {
		files, err := r.store.Result(v.key)
		if err == nil {
			return r.done(p.point, v, files[reportFile], true)
		}
		if err != store.ErrMissing {
			r.tell(err)
		}
	}
	r.flying[v.key] = append(r.flying[v.key], v)
	if len(r.flying[v.key]) > 1 {
		return nil // the same code and launch as another one
	}
	found, err := r.replied(ctx, v.key)
	if err == nil && !found {
		err = r.submit(ctx, v)
	}
	if queue.Passing(err) && ctx.Err() == nil { // look submits it once the server is back
		r.tell(err)
		return nil
	}
	return err
}

// replied takes a result that came while nobody owned the sweep. What else the server has of a task is forgotten, so that it runs.
func (r *run) replied(ctx context.Context, key store.Key) (bool, error) {
	if !r.Again && !r.remote {
		return false, nil
	}
	came, err := r.queue.Reply(ctx, key.String())
	if err != nil {
		return false, err
	}
	var what reply
	if !r.Again && came != nil && json.Unmarshal(came.Body, &what) == nil && what.How == taskDone {
		return true, r.answer(*came)
	}
	return false, r.queue.Forget(ctx, key.String())
}

// submit sends a variant to the workers.
func (r *run) submit(ctx context.Context, v *variant) error {
	t := v.task
	t.Again = r.Again
	if stop, best := r.spec.Search.Stop, r.best[r.groupOf[v.point]]; stop > 0 && best >= 0 {
		t.MaxCycles = int64(math.Ceil(stop * float64(r.outcomes[best].Cycles)))
	}
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if r.remote {
		for _, key := range t.Files {
			data, err := r.store.Blob(key)
			if errors.Is(err, store.ErrMissing) { // lost since it was put there
				r.memo.forget()
				if _, err = r.variant(ctx, v.point); err == nil {
					data, err = r.store.Blob(key)
				}
			}
			if err != nil {
				return err
			}
			if err := r.queue.PutBlob(ctx, key.String(), data); err != nil {
				return err
			}
		}
	}
	return r.queue.Submit(ctx, &queue.Task{Key: v.key.String(), Sweep: r.id(), Memory: v.memory, Body: body})
}

// answer records a reply. One to a task that nobody waits for is another sweep's.
func (r *run) answer(came queue.Reply) error {
	key, err := store.ParseKey(came.Key)
	if err != nil || len(r.flying[key]) == 0 {
		return nil
	}
	list := r.flying[key]
	delete(r.flying, key)
	var what reply
	if err := json.Unmarshal(came.Body, &what); err != nil {
		return fmt.Errorf("the reply to task %s cannot be read: %w", key, err)
	}
	switch what.How {
	case taskDone:
		err := r.store.Record(key, map[string][]byte{reportFile: what.Report})
		var differ *store.ConflictError
		switch {
		case errors.As(err, &differ):
			return err
		case err != nil: // a full disk costs a computation, and nothing else
			r.tell(fmt.Errorf("the result is not kept: %w", err))
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
		if err := r.note(v.point, &search.Outcome{Status: status, Why: what.Why}, v, false); err != nil {
			return err
		}
	}
	return nil
}

// done reads the report of a variant.
func (r *run) done(point int, v *variant, report []byte, cached bool) error {
	o, err := search.ReadReport(report, r.spec.Objective, r.spec.Check == "outputs")
	if try := r.space.At(r.space.Points[point])[search.TryAxis]; err == nil && try != "" {
		o, err = o.Suppose(report, string(try))
	}
	if err != nil {
		return err
	}
	return r.note(point, o, v, cached)
}

// note tells an outcome to everybody.
func (r *run) note(point int, o *search.Outcome, v *variant, cached bool) error {
	r.outcomes[point] = o
	delete(r.under, point)
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
	result := Result{Point: r.space.At(r.space.Points[point]), Cached: cached, Outcome: o}
	if v != nil {
		result.Key = v.key.String()
	}
	if r.Outcome != nil {
		if err := r.Outcome(Event{"outcome", result, r.counts}); err != nil {
			return err
		}
	}
	if err := r.journal.add(&result); err != nil { // it is written with a later one
		r.tell(err)
	}
	return nil
}

func (s *Sweep) better(a, b *search.Outcome) bool {
	if s.spec.Goal == "max" {
		return a.Objective > b.Objective
	}
	return a.Objective < b.Objective
}

// mostFailures is how often in a row look may fail before a server of this process is started again: it does not recover by itself from a disk
// that was full.
const mostFailures = 4

// looked looks, and bears what may be over the next time. Its error is that of two results that differ.
func (r *run) looked(ctx context.Context) error {
	err := r.look(ctx)
	var differ *store.ConflictError
	switch {
	case errors.As(err, &differ):
		return err
	case err == nil || ctx.Err() != nil:
		r.failures = 0
		return nil
	}
	r.tell(err)
	if r.failures++; r.failures >= mostFailures && r.server != nil {
		r.failures = 0
		if err := r.server.Restart(); err != nil {
			r.tell(err)
		}
	}
	return nil
}

// look finds replies that were missed and tasks that were lost, and submits these again.
func (r *run) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, looksEvery)
	defer cancel()
	if r.counts.Done == r.seen && len(r.flying) > 0 { // for a while nothing came: perhaps nothing can
		if err := r.queue.Probe(ctx); err != nil {
			return err
		}
	}
	r.seen = r.counts.Done
	state, err := r.queue.State(ctx, r.id())
	if err != nil {
		return err
	}
	missed := make(map[store.Key]bool)
	for key, list := range r.flying {
		if state.Queued[key.String()] {
			continue // one with a reply is handed out again, and taken from the queue then
		}
		if !r.missed[key] { // its reply may be on its way still
			missed[key] = true
			continue
		}
		came, err := r.queue.Reply(ctx, key.String())
		switch {
		case err != nil:
			return err
		case came != nil:
			err = r.answer(*came)
		default:
			err = r.submit(ctx, list[0])
		}
		if err != nil {
			return err
		}
	}
	r.missed = missed
	return r.queue.Mend(ctx, state)
}

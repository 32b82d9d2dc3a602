package sweep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"gpa"
	"gpa/advisor/tune/queue"
	"gpa/cubin/compile"
	"gpa/emu"
	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/profiler/store"
	"gpa/reports"
)

// A task is what a worker has to know to run a variant: all files are named by the hash of their contents, and lie in the store.
type task struct {
	Build      store.Key   `json:"build"`
	Launch     string      `json:"launch"` // launch file
	Files      []store.Key `json:"files"`  // that it names
	Sizes      []int64     `json:"sizes"`  // of these, bytes; not a part of the key
	GPU        string      `json:"gpu"`
	Reconverge string      `json:"reconverge"`
	Try        int         `json:"try"`
	MaxCycles  int64       `json:"max_cycles,omitempty"` // not a part of the key
	Again      bool        `json:"again,omitempty"`      // samples in the store are taken again; not a part of the key
}

// byBudget is the number of pieces of advice to try where those are tried that gpa profile tries by default.
const byBudget = -1

// key encodes all that the report of a task depends on, with the key of all figures of the GPU.
func (t *task) key(figures store.Key) (store.Key, error) {
	e := store.NewEncoder("sweep 2")
	e.Field("build", t.Build)
	e.Field("launch", t.Launch)
	e.Field("gpu", figures)
	e.Field("reconverge", t.Reconverge)
	e.Field("try", t.Try)
	return e.Sum()
}

// A reply is what comes of a task.
type reply struct {
	How    string `json:"how"`
	Report []byte `json:"report,omitempty"` // JSON, as gpa profile writes it
	Why    string `json:"why,omitempty"`
}

// How tasks end.
const (
	taskDone    = "done"
	taskRefused = "refused"
	taskStopped = "stopped" // at MaxCycles
	taskPoison  = "poison"
	taskUnable  = "unable" // nothing is known of the variant: this machine could not run it now
)

// A job is what the process of a task reads.
type job struct {
	Task    json.RawMessage `json:"task"`
	Store   string          `json:"store"`
	Folder  string          `json:"folder"`  // that it may write to, which who started it removes
	Workers int             `json:"workers"` // SMs at a time
}

// Task is the process of a variant, which the command of [Workers] runs: it reads from in what to run, and prints what came of it.
func Task(ctx context.Context, in io.Reader, out io.Writer) error {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("the task cannot be read: %w", err)
	}
	r, err := j.run(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil: // a full disk is not the variant's doing, as an end without a word may be
		r = &reply{How: taskUnable, Why: reports.OneLine(err.Error())}
	}
	return json.NewEncoder(out).Encode(r)
}

// run runs a job. Its error is that of a machine that cannot do it; one of the variant is the reply.
func (j *job) run(ctx context.Context) (*reply, error) {
	var t task
	if err := json.Unmarshal(j.Task, &t); err != nil {
		return nil, fmt.Errorf("the task cannot be read: %w", err)
	}
	results, err := store.Open(j.Store)
	if err != nil {
		return nil, err
	}
	if err := t.unpack(results, j.Folder); err != nil {
		return nil, err
	}
	r, err := t.profile(ctx, j.Folder, j.Workers, results)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		why := strings.ReplaceAll(err.Error(), j.Folder+string(filepath.Separator), "") // the same on every machine
		return &reply{How: taskRefused, Why: reports.Clipped(reports.OneLine(why))}, nil
	case t.MaxCycles > 0 && cyclesOf(r) > t.MaxCycles:
		return &reply{How: taskStopped, Why: fmt.Sprintf("more than %d cycles", t.MaxCycles)}, nil
	}
	var report bytes.Buffer
	err = reports.WriteJSON(&report, r.WithoutHostTimes().Report())
	return &reply{How: taskDone, Report: report.Bytes()}, err
}

// profile runs the launches of a task, blames and advises. Launches that fault, or that were stopped at MaxCycles, are a result. Samples are kept where
// another program can advise on them.
func (t *task) profile(ctx context.Context, folder string, workers int, results *store.Folder) (*gpa.Result, error) {
	target, err := gpa.Load(filepath.Join(folder, kernels.LaunchFile), gpa.LoadOptions{GPU: t.GPU})
	if err != nil {
		return nil, err
	}
	o := gpa.Options{MaxInstructions: emu.DefaultMaxInstructions, Workers: workers, Reconvergence: t.Reconverge, MaxCycles: t.MaxCycles}
	if gpa.Committed() {
		o.Keep = gpa.Keeping{Store: results, Again: t.Again}
	}
	r, err := target.Profile(ctx, o)
	switch {
	case r == nil || ctx.Err() != nil || err != nil && r.Stopped == nil:
		return nil, err
	case t.Try == 0 || r.Stopped != nil:
		return r, r.Advise(gpa.AdviceOptions{})
	}
	return r, r.Try(ctx, gpa.TryOptions{First: max(0, t.Try)}) // with byBudget as many as gpa profile tries
}

// cyclesOf adds up the cycles of all launches.
func cyclesOf(r *gpa.Result) int64 {
	sum := int64(0)
	for _, l := range r.Profile.Launches {
		sum += l.Facts.Cycles * l.Facts.Count()
	}
	return sum
}

// hashName are the names of files in tasks.
var hashName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// unpack writes the files of a task into a folder. A task may come from elsewhere: it names files by hashes only, so that none leads out of
// the folder.
func (t *task) unpack(s *store.Folder, folder string) error {
	file, err := launch.Parse(kernels.LaunchFile, []byte(t.Launch), launch.OSDir(folder))
	if err != nil {
		return err
	}
	for _, name := range append(file.Files(), file.Module) {
		if !hashName.MatchString(name) {
			return fmt.Errorf("the task names a file %q, which is no hash", name)
		}
		key, err := store.ParseKey(name)
		if err != nil {
			return err
		}
		data, err := s.Blob(key)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, kernels.LaunchFile), []byte(t.Launch), 0o600)
}

// Workers say how this machine runs variants.
type Workers struct {
	Slots   int           // variants at a time
	Memory  int64         // bytes that they may take together, 0 for no limit
	Tries   int           // a variant whose process ended so often without a result is given up; 0 is 1
	Timeout time.Duration // after which the process of a variant is ended, 0 for none
	Silent  time.Duration // the variant of a worker that has not been heard of for so long is handed out again; 0 for half a minute
	// Command is that of a program which calls [Task] with its standard input and output, for a process of its own for each variant. Without it
	// variants run in this process, which one that ends it takes along.
	Command []string
	Tell    func(error) // is told of what goes wrong and does not end the work, nil for nobody

	far int64 // a blob of so many bytes is rather not fetched while another worker has it, 0 for defaultFar
}

// defaultFar is about what goes from machine to machine in the time in which a small variant runs.
const defaultFar = 32 << 20

// defaultSilent is that of Workers.Silent.
const defaultSilent = 30 * time.Second

func (w *Workers) silent() time.Duration {
	if w.Silent == 0 {
		return defaultSilent
	}
	return w.Silent
}

func (w *Workers) tell(err error) {
	if w.Tell != nil {
		w.Tell(err)
	}
}

// joinWithin is how long a server is tried to be reached at first.
const joinWithin = time.Minute

// open opens the queue of this program on a server.
func (w *Workers) open(ctx context.Context, conn *queue.Conn, build store.Key) (*queue.Queue, error) {
	if err := conn.Connected(joinWithin); err != nil {
		return nil, err
	}
	return queue.Open(ctx, conn, build.String()[:16], w.silent())
}

// Work runs variants of the sweeps of a server until ctx ends. What they need is fetched from the server, and kept in a store. The server and its
// workers have to be the same program.
func Work(ctx context.Context, conn *queue.Conn, results *store.Folder, w Workers) error {
	build, err := store.Program()
	if err != nil {
		return err
	}
	q, err := w.open(ctx, conn, build)
	if err != nil {
		return err
	}
	return w.work(ctx, q, &runner{Workers: w, store: results, blobs: q})
}

// work does the tasks of a queue until ctx ends.
func (w *Workers) work(ctx context.Context, q *queue.Queue, r *runner) error {
	worker := queue.Worker{Slots: w.Slots, Memory: w.Memory, Tries: w.Tries, Do: r.do, Far: r.lacks, GiveUp: poison, Tell: w.tell}
	return worker.Work(ctx, q)
}

// poison is the reply to a task that is given up.
func poison(_ *queue.Task, words string) []byte {
	data, _ := json.Marshal(reply{How: taskPoison, Why: words}) // strings have a form in JSON
	return data
}

// A runner runs tasks.
type runner struct {
	Workers
	store *store.Folder
	blobs *queue.Queue // where blobs come from that the store lacks, nil for nowhere
	locks sync.Map     // of blobs that are fetched, by key: *sync.Mutex
}

// taskPatience is how long a task's process that was killed has to close its outputs.
const taskPatience = 2 * time.Second

// do runs a task and returns its reply.
func (r *runner) do(ctx context.Context, t *queue.Task) ([]byte, error) {
	if err := r.fetch(ctx, t); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "gpa-task-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	in, err := json.Marshal(job{Task: t.Body, Store: r.store.Name(), Folder: folder, Workers: max(1, runtime.NumCPU()/r.Slots)})
	if err != nil {
		return nil, err
	}
	inner := ctx
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, r.Timeout)
		defer cancel()
	}
	out, err := r.process(inner, in)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case inner.Err() != nil:
		return nil, &queue.CrashError{Words: fmt.Sprintf("no result within %s", r.Timeout)}
	case err != nil:
		return nil, err
	}
	var what reply
	switch err := json.Unmarshal(out, &what); {
	case err != nil:
		return nil, &queue.CrashError{Words: "its reply cannot be read"}
	case what.How == taskUnable:
		return nil, errors.New(what.Why)
	}
	return out, nil
}

// process hands a job to a process of its own, where there is a command for it.
func (r *runner) process(ctx context.Context, in []byte) ([]byte, error) {
	var out bytes.Buffer
	if len(r.Command) == 0 {
		err := Task(ctx, bytes.NewReader(in), &out)
		return out.Bytes(), err
	}
	var said compile.Said
	c := exec.CommandContext(ctx, r.Command[0], r.Command[1:]...)
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = bytes.NewReader(in), &out, &said, taskPatience
	compile.OwnGroup(c)
	err := c.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) { // other errors are of a process that could not be started
		return nil, &queue.CrashError{Words: strings.TrimSpace(exit.String() + ": " + lastWords(said.String()))}
	}
	return out.Bytes(), err
}

// lastWords is the last line of what a process said.
func lastWords(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for _, line := range lines { // a panic begins with what happened, and ends with the stack
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return reports.Clipped(reports.OneLine(line))
		}
	}
	return reports.Clipped(reports.OneLine(lines[len(lines)-1]))
}

// lacks names the largest blob of a task that has to be fetched and is large, "" for none.
func (r *runner) lacks(t *queue.Task) string {
	var body task
	if r.blobs == nil || json.Unmarshal(t.Body, &body) != nil || len(body.Sizes) != len(body.Files) {
		return ""
	}
	name, most := "", cmp.Or(r.far, defaultFar)-1
	for i, key := range body.Files {
		if body.Sizes[i] > most && !r.store.Holds(key) {
			name, most = key.String(), body.Sizes[i]
		}
	}
	return name
}

// fetch brings what a task refers to into the store.
func (r *runner) fetch(ctx context.Context, t *queue.Task) error {
	var body task
	if err := json.Unmarshal(t.Body, &body); err != nil {
		return fmt.Errorf("task %s cannot be read: %w", t.Key, err)
	}
	for _, key := range body.Files {
		if err := r.fetchBlob(ctx, key); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// fetchBlob brings a blob into the store, once where several tasks want it.
func (r *runner) fetchBlob(ctx context.Context, key store.Key) error {
	if r.store.Holds(key) { // what is damaged is found, and removed, when the task reads it
		return nil
	}
	if r.blobs == nil {
		return store.ErrMissing
	}
	lock, _ := r.locks.LoadOrStore(key, new(sync.Mutex))
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if r.store.Holds(key) {
		return nil
	}
	data, err := r.blobs.Blob(ctx, key.String())
	if err != nil {
		return err
	}
	if store.KeyOf(data) != key {
		return errors.New("it came with another hash")
	}
	_, err = r.store.Put(data)
	return err
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gpa/advisor/tune/queue"
	"gpa/profiler/store"
	"gpa/reports"
)

// sweepFlags are the flags of gpa sweep.
type sweepFlags struct {
	store   storeFlags
	axes    []string
	jobs    int
	window  int
	tries   int
	memory  int64
	timeout time.Duration
	silent  time.Duration
	join    string
	listen  string
	host    string
	events  string
	json    bool
	csv     bool
	html    string
	all     bool
	folder  string // of a task
	sms     int
}

// Defaults of gpa sweep.
const (
	defaultTries  = 3
	defaultSilent = 30 * time.Second
	batchWindow   = 1024 // variants that are queued at a time where outcomes do not decide what comes next
)

func sweepCommand() command {
	return command{
		name: "sweep", args: "[plan|run|status|results|compare|cancel|serve|work] FILE", short: "run variants of a kernel over macros, launches and GPUs, and say which is best and why",
		long: `FILE is a sweep file (YAML): the kernel, axes with their values, constraints between them, an objective, and how to search. docs/sweep.md
describes it. Results are kept in a store by all that they depend on, so that nothing runs twice: the same command again goes on
where the last one stopped.

    gpa sweep plan FILE            how many variants there are, how many the constraints leave out, and which results are there
    gpa sweep [run] FILE           run what the search asks for, each variant in a process of its own, and print the results
    gpa sweep status FILE          how far it has come, also from another terminal
    gpa sweep results FILE         what came out: the best of each group and why; --csv, --json, --html FILE
    gpa sweep compare FILE FILE    two sweeps, variant by variant of the same values
    gpa sweep cancel FILE          stop it, from another terminal; what is done stays
    gpa sweep serve --listen A FILE  as run, with workers of other machines; prints where the text to join is
    gpa sweep work --join URL      be a worker; URL may be @FILE with the text in it, or that of a NATS server

Without serve or --join no port is open.`,
		setup: func(flags *pflag.FlagSet) action {
			var f sweepFlags
			f.register(flags)
			return f.run
		},
	}
}

func (f *sweepFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.store.dir, "store", "", "keep results in `DIR` (default: $"+storeVariable+", or else gpa in the user's folder of caches)")
	flags.BoolVar(&f.store.not, "no-cache", false, "run again what is in the store; a result that is not that in the store is an error")
	flags.StringArrayVarP(&f.axes, "axis", "a", nil, "take only these values of an axis of the file, as in `NAME=V,V`; a value with a comma has x for it, as 16x16")
	flags.IntVarP(&f.jobs, "jobs", "j", runtime.NumCPU(), "run `N` variants at a time on this machine, 0 for none (serve, --join)")
	flags.IntVar(&f.window, "window", 0, "have `N` variants under way at most (default: as many as jobs where outcomes decide what comes next, or else 1024)")
	flags.IntVar(&f.tries, "tries", defaultTries, "give a variant up whose process ended `N` times without a result")
	flags.Int64Var(&f.memory, "mem", 0, "start no variant beyond `MIB` of memory on this machine (default: no limit)")
	flags.DurationVar(&f.timeout, "task-timeout", 0, "end a variant's process after a `TIME` (default: none)")
	flags.DurationVar(&f.silent, "silent", defaultSilent, "hand out the variant of a worker again that has not been heard of for a `TIME`")
	flags.StringVar(&f.join, "join", "", "`URL` of the server, or @FILE that holds it")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDRESS` of serve, as host:port")
	flags.StringVar(&f.host, "host", "", "`NAME` under which workers reach the machine of serve (default: the address, or this machine's name)")
	flags.StringVar(&f.events, "events", "", "write a line of JSON for each outcome to `FILE`, - for standard error")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON")
	flags.BoolVar(&f.csv, "csv", false, "print the results as CSV, one line a variant")
	flags.StringVar(&f.html, "html", "", "write the results as one web page to `FILE`")
	flags.BoolVar(&f.all, "all", false, "list all variants, not only the ten best of each group")
	flags.StringVar(&f.folder, "folder", "", "of a task")
	flags.IntVar(&f.sms, "sms", 1, "of a task")
	flags.MarkHidden("folder")
	flags.MarkHidden("sms")
}

// verbs of gpa sweep, beside task, which is the process of one variant.
var sweepVerbs = []string{"plan", "run", "status", "results", "compare", "cancel", "serve", "work", "task"}

func (f *sweepFlags) run(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("the sweep file is missing")
	}
	verb := "run"
	if slices.Contains(sweepVerbs, args[0]) {
		verb, args = args[0], args[1:]
	}
	if f.jobs < 0 || f.window < 0 || f.tries < 1 || f.memory < 0 || f.silent < time.Second || f.timeout < 0 {
		return usagef("--jobs, --window, --mem and --task-timeout are not negative, --tries is 1 at least, --silent a second")
	}
	folder, err := f.open()
	if err != nil {
		return err
	}
	switch verb {
	case "task":
		return runTask(ctx, os.Stdin, e.stdout, folder, f.folder, f.sms)
	case "work":
		return f.work(ctx, e, folder, args)
	case "compare":
		return f.compare(e, folder, args)
	}
	name, err := oneArgument(args, "the sweep file")
	if err != nil {
		return err
	}
	s, err := openSweep(name, f.axes, folder, os.Getenv)
	if err != nil {
		return err
	}
	switch verb {
	case "plan":
		return f.plan(ctx, e, s)
	case "status":
		return f.status(e, s)
	case "results":
		return f.results(e, s)
	case "cancel":
		return os.WriteFile(s.journalName()+cancelEnd, nil, 0o666)
	}
	return f.search(ctx, e, s, verb == "serve")
}

// open opens the store that the flags name, or the user's.
func (f *sweepFlags) open() (*store.Folder, error) {
	if f.store.dir == "" && os.Getenv(storeVariable) == "" {
		caches, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("--store is missing: %w", err)
		}
		f.store.dir = filepath.Join(caches, "gpa")
	}
	return f.store.open()
}

// journalName is the file of a sweep's outcomes in the store.
func (s *sweep) journalName() string {
	return filepath.Join(s.store.Dir(), "sweeps", s.id()+".jsonl")
}

// openJournal begins the journal of a sweep anew: what was found is found again in the store.
func (s *sweep) openJournal() (*sweepJournal, error) {
	name := s.journalName()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	if err := os.Remove(name + cancelEnd); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file, err := os.Create(name)
	return &sweepJournal{name: name, file: file}, err
}

// plan tells what a sweep would run, and compiles what is needed to say so.
func (f *sweepFlags) plan(ctx context.Context, e *env, s *sweep) error {
	grid := 1
	for _, a := range s.space.Axes {
		grid *= len(a.Values)
	}
	there, same, unable := 0, make(map[store.Key]bool), 0
	defer e.progress.stage("compiling")()
	for i := range s.space.Points {
		v, err := s.variant(ctx, i)
		var no refused
		switch {
		case errors.As(err, &no):
			unable++
			continue
		case err != nil:
			return err
		case same[v.key]:
			continue
		}
		same[v.key] = true
		if _, err := s.store.Result(v.key); err == nil {
			there++
		}
	}
	w := e.stdout
	fmt.Fprintf(w, "%d combinations of %d axes\n", grid, len(s.space.Axes))
	for _, p := range s.space.Pruned {
		fmt.Fprintf(w, "  %d left out by %s\n", p.Count, p.Where)
	}
	fmt.Fprintf(w, "%d variants in %d groups, %d of them different, %d results in the store\n", len(s.space.Points), len(s.groups), len(same), there)
	if unable > 0 {
		fmt.Fprintf(w, "%d variants cannot be compiled or launched\n", unable)
	}
	return nil
}

// search runs a sweep and prints its results.
func (f *sweepFlags) search(ctx context.Context, e *env, s *sweep, serve bool) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	conn, end, err := f.connect(e, s.store, serve)
	if err != nil {
		return err
	}
	defer end()
	defer conn.Close()
	q, err := f.openQueue(ctx, conn, s.build)
	if err != nil {
		return err
	}
	journal, err := s.openJournal()
	if err != nil {
		return err
	}
	defer journal.file.Close()
	r := &sweepRun{sweep: s, queue: q, remote: serve || f.join != "", window: f.window, noCache: f.store.not, journal: journal}
	r.warn = func(text string) { fmt.Fprintf(e.stderr, "gpa sweep: %s\n", reports.OneLine(text)) }
	if r.window == 0 {
		r.window = max(1, f.jobs)
		if m := s.spec.Search.Method; m == "grid" || m == "random" || m == "halving" {
			r.window = batchWindow
		}
	}
	endEvents, err := f.openEvents(e, r)
	if err != nil {
		return err
	}
	defer endEvents()
	if f.jobs > 0 {
		worked := make(chan struct{})
		w, err := f.worker(s.store, q, false, r.warn)
		if err != nil {
			return err
		}
		go func() { defer close(worked); w.Work(ctx, q) }()
		defer func() { stop(); <-worked }()
	}
	defer e.progress.watch(r)()
	ran := r.run(ctx)
	if err := f.results(e, s); err != nil {
		return err
	}
	if ran != nil && ctx.Err() != nil {
		return endedEarly(ctx)
	}
	return ran
}

// openEvents opens the file of --events.
func (f *sweepFlags) openEvents(e *env, r *sweepRun) (end func(), err error) {
	switch f.events {
	case "":
		return func() {}, nil
	case "-":
		r.events = json.NewEncoder(e.stderr)
		return func() {}, nil
	}
	file, err := os.Create(f.events)
	if err != nil {
		return nil, err
	}
	r.events = json.NewEncoder(file)
	return func() { file.Close() }, nil
}

// connect reaches the server: one in this process, one that others join, or one elsewhere.
func (f *sweepFlags) connect(e *env, folder *store.Folder, serve bool) (*queue.Conn, func(), error) {
	if f.join != "" {
		if serve {
			return nil, nil, usagef("--join: serve is the server")
		}
		conn, err := f.dial()
		return conn, func() {}, err
	}
	var server *queue.Server
	var err error
	if serve {
		server, err = queue.Listen(f.listen, filepath.Join(folder.Dir(), "queue"))
	} else if f.jobs == 0 {
		return nil, nil, usagef("--jobs 0: nobody would run the variants")
	} else {
		server, err = queue.Start()
	}
	if err != nil {
		return nil, nil, err
	}
	if serve {
		name := filepath.Join(folder.Dir(), "queue", "join")
		if err := os.WriteFile(name, []byte(server.Join(f.host)+"\n"), 0o600); err != nil {
			return nil, nil, err
		}
		fmt.Fprintf(e.stderr, "gpa sweep: workers join by gpa sweep work --join @%s\n", name)
	}
	conn, err := server.Connect()
	return conn, server.Close, err
}

// dial reaches the server that --join names.
func (f *sweepFlags) dial() (*queue.Conn, error) {
	text := f.join
	if name, ok := strings.CutPrefix(text, "@"); ok {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("--join: %w", err)
		}
		text = string(data)
	}
	conn, err := queue.Dial(text)
	if err != nil {
		return nil, usagef("--join: %w", err)
	}
	return conn, nil
}

// joinWithin is how long a worker tries to reach a server at first.
const joinWithin = time.Minute

func (f *sweepFlags) openQueue(ctx context.Context, conn *queue.Conn, build store.Key) (*queue.Queue, error) {
	if err := conn.Connected(joinWithin); err != nil {
		return nil, err
	}
	return queue.Open(ctx, conn, build.String()[:16], f.silent)
}

// worker is one that runs variants in processes of their own.
func (f *sweepFlags) worker(folder *store.Folder, q *queue.Queue, remote bool, warn func(string)) (*queue.Worker, error) {
	blobs := q
	if !remote {
		blobs = nil
	}
	r, err := newTaskRunner(folder, blobs, f.jobs, f.timeout)
	if err != nil {
		return nil, err
	}
	return &queue.Worker{
		Slots: f.jobs, Memory: f.memory << 20, Tries: f.tries, Do: r.do, GiveUp: poison, Tell: func(err error) { warn(err.Error()) },
	}, nil
}

// work is gpa sweep work.
func (f *sweepFlags) work(ctx context.Context, e *env, folder *store.Folder, args []string) error {
	if len(args) > 0 || f.join == "" || f.jobs == 0 {
		return usagef("a worker needs --join and --jobs of 1 at least, and no sweep file")
	}
	conn, err := f.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	build, err := simulation()
	if err != nil {
		return err
	}
	q, err := f.openQueue(ctx, conn, build)
	if err != nil {
		return failure{err}
	}
	w, err := f.worker(folder, q, true, func(text string) { fmt.Fprintf(e.stderr, "gpa sweep: %s\n", reports.OneLine(text)) })
	if err != nil {
		return err
	}
	return w.Work(ctx, q)
}

// status counts the outcomes in the journal.
func (f *sweepFlags) status(e *env, s *sweep) error {
	t, err := s.table()
	if err != nil {
		return err
	}
	c := t.counts()
	if f.json {
		return reports.WriteJSON(e.stdout, c)
	}
	_, err = fmt.Fprintf(e.stdout, "%d of %d variants have an outcome: %d from the store, %d ran, %d failed\n", c.Done, c.Variants, c.Cached, c.Ran, c.Failed)
	return err
}

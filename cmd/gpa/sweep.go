package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"gpa/advisor/tune/queue"
	"gpa/advisor/tune/search"
	"gpa/advisor/tune/sweep"
	"gpa/profiler/store"
	"gpa/reports"
	"gpa/reports/files"
)

// sweepFlags are the flags of gpa sweep.
type sweepFlags struct {
	store   storeFlags
	options sweep.Options
	axes    []string
	memory  int64 // MiB
	join    string
	listen  string
	events  string
	json    bool
	csv     bool
	html    string
	page    string
	all     bool

	// of compare
	markdown   bool
	junit      string
	sarif      string
	minSpeedup float64
}

func sweepCommand() command {
	return command{
		name: "sweep", args: "[plan|run|status|results|compare|cancel|serve|work|ask|tell] FILE", short: "run variants of a kernel over macros, launches and GPUs, and say which is best and why",
		setup: func(flags *pflag.FlagSet) action {
			var f sweepFlags
			f.register(flags)
			return f.run
		},
	}
}

func (f *sweepFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.store.dir, "store", "", "keep results in `DIR`, or s3://BUCKET/PREFIX (default: $"+store.Variable+", or else gpa in the user's folder of caches)")
	flags.BoolVar(&f.store.not, "no-cache", false, "run again what is in the store; a result that is not that in the store is an error")
	flags.StringArrayVarP(&f.axes, "axis", "a", nil, "take only these values of an axis of the file, as in `NAME=V,V`; a value with a comma has x for it, as 16x16")
	flags.IntVarP(&f.options.Slots, "jobs", "j", runtime.NumCPU(), "run `N` variants at a time on this machine, 0 for none (serve, --join)")
	flags.IntVar(&f.options.Window, "window", 0, "have `N` variants under way at most (default: as many as jobs where outcomes decide what comes next, or else 1024)")
	flags.IntVar(&f.options.Tries, "tries", 3, "give a variant up whose process ended `N` times without a result")
	flags.Int64Var(&f.memory, "mem", 0, "start no variant beyond `MIB` of memory on this machine (default: no limit)")
	flags.DurationVar(&f.options.Timeout, "task-timeout", 0, "end a variant's process after a `TIME` (default: none)")
	flags.DurationVar(&f.options.Silent, "silent", 30*time.Second, "hand out the variant of a worker again that has not been heard of for a `TIME`")
	flags.StringVar(&f.join, "join", "", "`URL` of the server, or @FILE that holds it")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:0", "`ADDRESS` of serve, as host:port")
	flags.StringVar(&f.options.Host, "host", "", "`NAME` under which workers reach the machine of serve (default: the address, or this machine's name)")
	flags.StringVar(&f.events, "events", "", "write a line of JSON for each outcome to `FILE`, - for standard error")
	flags.BoolVar(&f.json, "json", false, "print the results as JSON")
	flags.BoolVar(&f.csv, "csv", false, "print the results as CSV, one line a variant")
	flags.StringVar(&f.html, "html", "", "write the results as one web page to `FILE`")
	flags.StringVar(&f.page, "page", "", "show the results while the sweep runs as a web page at `ADDRESS` of this machine, as 127.0.0.1:8080")
	flags.BoolVar(&f.markdown, "markdown", false, "compare: print a table for a pull request")
	flags.StringVar(&f.junit, "junit", "", "compare: write JUnit's XML to `FILE`")
	flags.StringVar(&f.sarif, "sarif", "", "compare: write what is worse to `FILE` as SARIF 2.1.0, with the lines of the source")
	flags.Float64Var(&f.minSpeedup, "min-speedup", 0, "compare: fail where a variant's speedup is below `X`, as in 0.98")
	flags.BoolVar(&f.all, "all", false, "list all variants, not only the ten best of each group")
}

// verbs of gpa sweep, beside task, which is the process of one variant.
var sweepVerbs = []string{"plan", "run", "status", "results", "compare", "cancel", "serve", "work", "ask", "tell", "task"}

func (f *sweepFlags) run(ctx context.Context, e *env, args []string) error {
	if len(args) == 0 {
		return usagef("the sweep file is missing")
	}
	verb := "run"
	if slices.Contains(sweepVerbs, args[0]) {
		verb, args = args[0], args[1:]
	}
	if o := &f.options; o.Slots < 0 || o.Window < 0 || o.Tries < 1 || f.memory < 0 || o.Silent < time.Second || o.Timeout < 0 {
		return usagef("--jobs, --window, --mem and --task-timeout are not negative, --tries is 1 at least, --silent a second")
	}
	if verb == "task" {
		return sweep.Task(ctx, os.Stdin, e.stdout)
	}
	folder, err := store.FindAny(f.store.dir)
	if err != nil {
		return err
	}
	switch verb {
	case "work":
		return f.work(ctx, e, folder, args)
	case "compare":
		return f.compare(e, folder, args)
	}
	name, err := oneArgument(args, "the sweep file")
	if err != nil {
		return err
	}
	s, err := sweep.Open(name, folder, f.axes...)
	if err != nil {
		return err
	}
	switch verb {
	case "plan":
		defer e.progress.Stage("compiling")() // what is needed to say what would run
		p, err := s.Plan(ctx)
		if err != nil {
			return err
		}
		return p.Text(e.stdout)
	case "status":
		return f.status(e, s)
	case "results":
		return f.results(e, s)
	case "cancel":
		return s.Cancel()
	case "tell":
		list, err := sweep.ReadOutcomes(os.Stdin)
		if err != nil {
			return usagef("%w", err)
		}
		return s.Tell(list)
	}
	return f.search(ctx, e, s, verb)
}

// search runs a sweep and prints its results, or, to who asks for points, each as it comes.
func (f *sweepFlags) search(ctx context.Context, e *env, s *sweep.Sweep, verb string) error {
	serve, asked := verb == "serve", verb == "ask"
	o, err := f.complete(e)
	switch {
	case err != nil:
		return err
	case f.join != "" && serve:
		return usagef("--join: serve is the server")
	case f.join != "":
		if o.Conn, err = f.dial(); err != nil {
			return err
		}
		defer o.Conn.Close()
	case serve:
		o.Listen = f.listen
		o.Listening = func(file string) {
			fmt.Fprintf(e.stderr, "gpa sweep: workers join by gpa sweep work --join @%s\n", file)
		}
	case o.Slots == 0:
		return usagef("--jobs 0: nobody would run the variants")
	}
	var endEvents func()
	if o.Outcome, endEvents, err = sweep.OpenEvents(f.events, e.stderr); err != nil {
		return err
	}
	defer endEvents()
	var asking *sweep.Points
	if asked {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		asking = sweep.ReadPoints(ctx, os.Stdin)
		o.Asked, o.Outcome = asking.C, func(x sweep.Event) error { return json.NewEncoder(e.live()).Encode(x) }
	}
	p := sweep.NewProgress()
	o.Progress = p.Count
	if f.page != "" {
		at, end, err := s.ServePage(f.page, p.Last)
		if err != nil {
			return usagef("--page: %w", err)
		}
		fmt.Fprintf(e.stderr, "gpa sweep: its page is http://%s/\n", at)
		defer end()
	}
	defer e.progress.Watch(p)()
	ran := s.Run(ctx, o)
	if asked && ran == nil && asking.Err() != nil {
		ran = usagef("%w", asking.Err())
	}
	if !asked {
		if err := f.results(e, s); err != nil {
			return err
		}
	}
	var differ *store.ConflictError
	switch {
	case ran != nil && ctx.Err() != nil:
		return endedEarly(ctx)
	case errors.Is(ran, sweep.ErrCanceled) || errors.As(ran, &differ):
		return failure{ran}
	}
	return ran
}

// dial reaches the server that --join names.
func (f *sweepFlags) dial() (*queue.Conn, error) {
	conn, err := queue.Dial(f.join)
	if err != nil {
		return nil, usagef("--join: %w", err)
	}
	return conn, nil
}

// complete adds to the options what no flag says: variants run in processes of this program.
func (f *sweepFlags) complete(e *env) (sweep.Options, error) {
	o := f.options
	o.Memory, o.Again = f.memory<<20, f.store.not
	o.Tell = func(err error) { fmt.Fprintf(e.stderr, "gpa sweep: %s\n", reports.OneLine(err.Error())) }
	name, err := os.Executable()
	o.Command = []string{name, "sweep", "task"}
	return o, err
}

// work is gpa sweep work.
func (f *sweepFlags) work(ctx context.Context, e *env, folder *store.Folder, args []string) error {
	if len(args) > 0 || f.join == "" || f.options.Slots == 0 {
		return usagef("a worker needs --join and --jobs of 1 at least, and no sweep file")
	}
	conn, err := f.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	o, err := f.complete(e)
	if err != nil {
		return err
	}
	if err := sweep.Work(ctx, conn, folder, o.Workers); !stopped(err) {
		return failed(err)
	}
	return ctx.Err()
}

// status counts the outcomes in the journal.
func (f *sweepFlags) status(e *env, s *sweep.Sweep) error {
	r, err := s.Results()
	if err != nil {
		return err
	}
	c := r.Counts()
	if f.json {
		return reports.WriteJSON(e.stdout, c)
	}
	_, err = fmt.Fprintf(e.stdout, "%d of %d variants have an outcome: %d from the store, %d ran, %d failed\n", c.Done, c.Variants, c.Cached, c.Ran, c.Failed)
	return err
}

// results prints what came out of a sweep.
func (f *sweepFlags) results(e *env, s *sweep.Sweep) error {
	r, err := s.Results()
	if err != nil {
		return err
	}
	if err := files.Save(f.html, func(w io.Writer) error { return r.HTML(w, 0, nil) }); err != nil {
		return err
	}
	switch {
	case f.json:
		return reports.WriteJSON(e.stdout, r.Report())
	case f.csv:
		return r.CSV(e.stdout)
	}
	return r.Text(e.stdout, e.style(), f.all)
}

// compare holds two sweeps against each other, each the sweep file or what --json has written.
func (f *sweepFlags) compare(e *env, folder *store.Folder, args []string) error {
	if len(args) != 2 {
		return usagef("two sweeps are compared, not %d", len(args))
	}
	if f.json && f.markdown {
		return usagef("--json and --markdown exclude each other")
	}
	var sides [2]*sweep.Report
	for k, name := range args {
		var err error
		if sides[k], err = sweep.ReportOf(name, folder, f.axes...); err != nil {
			return err
		}
	}
	c, err := sweep.Compare(sides[0], sides[1])
	if err != nil {
		return err
	}
	if err := files.Save(f.junit, func(w io.Writer) error { return c.JUnit(w, f.minSpeedup) }); err != nil {
		return err
	}
	find := func(at map[string]search.Value, file string) string { return sweep.SourceOf(args[1], at, file) }
	if err := files.Save(f.sarif, func(w io.Writer) error { return reports.WriteRemarks(w, version, c.Remarks(f.minSpeedup, find)) }); err != nil {
		return err
	}
	switch {
	case f.json:
		err = reports.WriteJSON(e.stdout, c)
	case f.markdown:
		err = c.Markdown(e.stdout, f.minSpeedup)
	default:
		err = c.Text(e.stdout, e.style())
	}
	if err != nil {
		return err
	}
	return failed(c.Failure(f.minSpeedup))
}

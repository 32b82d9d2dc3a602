package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/reports"
	"gpa/reports/terminal"
)

// Exit statuses, the same for every command.
const (
	exitDone   = 0
	exitFailed = 1 // the kernel or a check failed
	exitUsage  = 2 // the command line or an input is wrong
	exitPanic  = 3 // gpa itself is wrong
)

// env is what a command touches of its surroundings. The result goes to stdout, everything else to stderr.
type env struct {
	stdout, stderr io.Writer
	prints         io.Writer // what kernels print by themselves, to standard error; as it is where that is no terminal
	terminal       terminal.Outputs
	dump           bool               // the stack of a panic
	progress       *terminal.Progress // nil for none
}

// A command is one verb. What --help says of it stands in help/NAME.txt and help/examples.txt. setup declares its flags and returns the function that runs it after they are parsed.
type command struct {
	name  string
	args  string // for the usage line
	short string // one line for the list of commands
	setup func(*pflag.FlagSet) action
	raw   action // instead of setup: takes the arguments as they are
	runs  bool   // runs kernels, and has --timeout
}

// An action runs a command with its positional arguments.
type action func(ctx context.Context, e *env, args []string) error

// commands lists the commands in the order in which a user meets them.
func commands() []command {
	return []command{
		profileCommand(),
		watchCommand(),
		initCommand(),
		runCommand(),
		captureCommand(),
		serveCommand(),
		envCommand(),
		adviseCommand(),
		reportCommand(),
		compareCommand(),
		checkCommand(),
		tuneCommand(),
		sweepCommand(),
		pprofCommand(),
		evaluateCommand(),
		reconvergeCommand(),
		importCommand(),
		exportCommand(),
		disasmCommand(),
		asmCommand(),
		cfgCommand(),
		rewriteCommand(),
		archCommand(),
		benchCommand(),
		completionCommand(),
		versionCommand(),
	}
}

// A programStatus is how a program that gpa ran ended, where gpa has nothing to add.
type programStatus int

func (s programStatus) Error() string { return fmt.Sprintf("the program ended with status %d", int(s)) }

// A usageError is a mistake in the command line; its message is followed by a hint at --help.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// A failure is a kernel or a check that failed, after the result was printed.
type failure struct{ error }

// failed is a failure where err is one.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

// failureOf is the error of a result whose launches were stopped, or did not end as expected; nil for others.
func failureOf(r *gpa.Result) error {
	err := r.Failure()
	var stopped *gpa.StoppedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &stopped):
		err = fmt.Errorf("%s in launch %d of %d; the result is of what ran until then", howEnded(stopped.Cause), stopped.Launch, stopped.Launches)
	}
	return failure{err}
}

// plain returns the surroundings with outputs that are fit to be read: messages, and everything on a terminal.
func (e *env) plain() *env {
	out := *e
	out.stderr, out.prints = &reports.PlainWriter{W: e.stderr}, e.stderr
	if e.terminal.Messages > 0 {
		out.prints = out.stderr
	}
	if e.terminal.Width > 0 {
		out.stdout = &reports.PlainWriter{W: e.stdout}
	}
	return &out
}

// run executes a command line and returns the exit status. It is apart from main so that tests can call it.
func run(ctx context.Context, e *env, args []string) int {
	e = e.plain()
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" || args[0] == "help" && (len(args) == 1 || args[1] == "help") {
		var list strings.Builder
		for _, c := range commands() {
			fmt.Fprintf(&list, "  %-10s %s\n", c.name, c.short)
		}
		fmt.Fprintln(e.stdout, strings.Replace(helpText("gpa"), "{COMMANDS}\n", list.String(), 1))
		return exitDone
	}
	if args[0] == "help" {
		args = []string{args[1], "--help"}
	}
	var names []string
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, e, args[1:])
		}
		names = append(names, c.name)
	}
	near := reports.Suggestion(args[0], names)
	if near == "" {
		near = "; gpa --help lists them"
	}
	fmt.Fprintf(e.stderr, "gpa: there is no command %q%s\n", args[0], near)
	return exitUsage
}

func (c *command) run(ctx context.Context, e *env, args []string) (status int) {
	defer c.recovered(e, args, &status)
	if c.raw != nil {
		return c.runRaw(ctx, e, args)
	}
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.Usage = func() {}
	act := c.setup(flags)
	var timeout time.Duration
	if c.runs {
		flags.DurationVar(&timeout, "timeout", 0, "stop after a `TIME` as in 90s or 10m, and print what there is until then (default: none)")
	}
	e.register(flags)
	err := flags.Parse(args)
	if errors.Is(err, pflag.ErrHelp) {
		c.printHelp(e, flags)
		return exitDone
	}
	if err != nil {
		return c.report(e, usageError{suggestFlag(err, flags)})
	}
	if timeout < 0 {
		return c.report(e, usagef("--timeout: %s is negative", timeout))
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	e.progress.Start("gpa " + c.name)
	held := &terminal.Held{W: e.stdout}
	inner := *e
	inner.stdout = held
	err = handOn(held, act(ctx, &inner, flags.Args()))
	e.progress.Finish()
	return c.report(e, err)
}

// recovered turns a panic into one line that names the arguments, and status 3. The dump of the stack is there for who reports it.
func (c *command) recovered(e *env, args []string, status *int) {
	if e.dump {
		return
	}
	if r := recover(); r != nil {
		*status = exitPanic
		fmt.Fprintf(e.stderr, "gpa %s: a mistake in gpa, at %s: %s; please report it with the input and with what --dump-stack prints\n",
			c.name, reports.Clipped(strconv.Quote(strings.Join(args, " "))), reports.Clipped(reports.OneLine(fmt.Sprint(r))))
	}
}

// register declares the flags that every command has.
func (e *env) register(flags *pflag.FlagSet) {
	flags.BoolVar(&e.dump, "dump-stack", false, "where gpa itself fails, dump the stack instead of printing one line")
	flags.Var(&e.terminal.Color, "color", "`WHEN` to use colours: auto (on a terminal, unless NO_COLOR is set), always, never")
}

// runRaw runs a command that parses its arguments itself.
func (c *command) runRaw(ctx context.Context, e *env, args []string) int {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		c.printHelp(e, pflag.NewFlagSet(c.name, pflag.ContinueOnError))
		return exitDone
	}
	return c.report(e, c.raw(ctx, e, args))
}

// report prints an error as one line and chooses the exit status.
func (c *command) report(e *env, err error) int {
	if err == nil {
		return exitDone
	}
	var program programStatus
	if errors.As(err, &program) {
		return int(program)
	}
	if stopped(err) {
		err = failure{errors.New(howEnded(err))}
	}
	err = explained(err)
	fmt.Fprintf(e.stderr, "%s %s\n", e.terminal.MessageStyle().Bad("gpa "+c.name+":"), reports.OneLine(err.Error()))
	var failed failure
	if errors.As(err, &failed) {
		return exitFailed
	}
	var usage usageError
	if errors.As(err, &usage) {
		fmt.Fprintf(e.stderr, "gpa %s --help shows the arguments and flags\n", c.name)
	}
	return exitUsage
}

// stopped reports whether a command ended because its context did.
func stopped(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// howEnded says why a context ended.
func howEnded(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "stopped by --timeout"
	}
	return "interrupted"
}

// endedEarly is the error of a command that has printed what there was when ctx ended; nil where it has not.
func endedEarly(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return failure{errors.New(howEnded(ctx.Err()) + "; the result is of what ran until then")}
}

// usage is what follows the command's name.
func (c *command) usage() string {
	if c.raw != nil {
		return c.args
	}
	return strings.TrimSpace(c.args + " [FLAG ...]")
}

// withArgument is the action of a command that takes exactly one argument.
func withArgument(what string, run func(ctx context.Context, e *env, name string) error) action {
	return func(ctx context.Context, e *env, args []string) error {
		name, err := oneArgument(args, what)
		if err != nil {
			return err
		}
		return run(ctx, e, name)
	}
}

// oneArgument is the positional argument of a command that takes exactly one.
func oneArgument(args []string, what string) (string, error) {
	switch len(args) {
	case 0:
		return "", usagef("%s is missing", what)
	case 1:
		return args[0], nil
	}
	return "", usagef("%s is one argument, not %d", what, len(args))
}

package main

import (
	"bytes"
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
	"strconv"
	"strings"
	"time"

	"gpa/advisor/tune/queue"
	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/profiler/store"
	"gpa/reports"
)

// A sweepReply is what comes of a task.
type sweepReply struct {
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
)

// hashName are the names of files in tasks.
var hashName = regexp.MustCompile(`^[0-9a-f]{64}$`)

// runTask is the process of a task: it reads the task from standard input, takes its files from the store, and prints the reply. It writes
// below folder only, which who started it removes.
func runTask(ctx context.Context, in io.Reader, out io.Writer, s *store.Folder, folder string, workers int) error {
	var t sweepTask
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return fmt.Errorf("the task cannot be read: %w", err)
	}
	if err := t.unpack(s, folder); err != nil {
		return err
	}
	result := filepath.Join(folder, "result")
	args := []string{"profile", filepath.Join(folder, kernels.LaunchFile), "--json", "--arch", t.GPU, "--reconvergence", t.Reconverge, "--try", strconv.Itoa(t.Try),
		"--workers", strconv.Itoa(workers), "--max-cycles", strconv.FormatInt(t.MaxCycles, 10), "--out", result}
	var said bytes.Buffer
	status := run(ctx, &env{stdout: io.Discard, stderr: &limitedWriter{&said, maxSaid}}, args)
	reply := sweepReply{How: taskDone}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case status == exitUsage:
		reply.How, reply.Why = taskRefused, lastWords(strings.ReplaceAll(said.String(), folder+string(filepath.Separator), "")) // the same on every machine
	case status == exitDone || status == exitFailed:
		var err error
		if reply.Report, err = os.ReadFile(filepath.Join(result, "advice.json")); err != nil {
			return fmt.Errorf("%w: %s", err, lastWords(said.String()))
		}
		if t.MaxCycles > 0 && stoppedAt(reply.Report, t.MaxCycles) {
			reply = sweepReply{How: taskStopped, Why: fmt.Sprintf("more than %d cycles", t.MaxCycles)}
		}
	default:
		return errors.New(lastWords(said.String()))
	}
	return json.NewEncoder(out).Encode(reply)
}

// stoppedAt reports whether the launches of a report were stopped by a limit.
func stoppedAt(data []byte, most int64) bool {
	var report reports.ProfileReport
	if err := json.Unmarshal(data, &report); err != nil {
		return false
	}
	sum := int64(0)
	for i := range report.Launches {
		sum += report.Launches[i].Cycles * max(1, report.Launches[i].Count)
	}
	return sum > most
}

// unpack writes the files of a task into a folder. A task may come from elsewhere: it names files by hashes only, so that none leads out of
// the folder.
func (t *sweepTask) unpack(s *store.Folder, folder string) error {
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

// taskPatience is how long a task's process that was killed has to close its outputs.
const taskPatience = 2 * time.Second

// maxSaid bounds what is kept of a task's messages, bytes.
const maxSaid = 64 << 10

// A limitedWriter keeps what there is room for and takes all.
type limitedWriter struct {
	to   *bytes.Buffer
	most int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	w.to.Write(p[:min(len(p), max(0, w.most-w.to.Len()))])
	return len(p), nil
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

// A taskRunner runs tasks in processes of their own.
type taskRunner struct {
	store   *store.Folder
	queue   *queue.Queue // where blobs come from that the store lacks, nil for nowhere
	workers int          // SMs at a time in each
	command []string     // that runs a task
	timeout time.Duration
}

// newTaskRunner shares the processors among slots.
func newTaskRunner(s *store.Folder, q *queue.Queue, slots int, timeout time.Duration) (*taskRunner, error) {
	name, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &taskRunner{s, q, max(1, runtime.NumCPU()/slots), []string{name, "sweep", "task"}, timeout}, nil
}

// do runs a task and returns its reply.
func (r *taskRunner) do(ctx context.Context, t *queue.Task) ([]byte, error) {
	if err := r.fetch(ctx, t); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "gpa-task-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	inner := ctx
	if r.timeout > 0 {
		var cancel context.CancelFunc
		inner, cancel = context.WithTimeout(ctx, r.timeout)
		defer cancel()
	}
	args := append(r.command[1:len(r.command):len(r.command)], "--store", r.store.Dir(), "--folder", folder, "--sms", strconv.Itoa(r.workers))
	c := exec.CommandContext(inner, r.command[0], args...)
	var out, said bytes.Buffer
	c.Stdin, c.Stdout, c.Stderr, c.WaitDelay = bytes.NewReader(t.Body), &out, &limitedWriter{&said, maxSaid}, taskPatience
	c.Env = append(os.Environ(), storeVariable+"=") // who submitted the task keeps its result
	childOf(c)
	err = c.Run()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case inner.Err() != nil:
		return nil, &queue.CrashError{Words: fmt.Sprintf("no result within %s", r.timeout)}
	case err != nil:
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return nil, err // the process could not be started
		}
		return nil, &queue.CrashError{Words: strings.TrimSpace(exit.String() + ": " + lastWords(said.String()))}
	}
	var reply sweepReply
	if err := json.Unmarshal(out.Bytes(), &reply); err != nil {
		return nil, &queue.CrashError{Words: "its reply cannot be read"}
	}
	return out.Bytes(), nil
}

// fetch brings what a task refers to into the store.
func (r *taskRunner) fetch(ctx context.Context, t *queue.Task) error {
	var body sweepTask
	if err := json.Unmarshal(t.Body, &body); err != nil {
		return fmt.Errorf("task %s cannot be read: %w", t.Key, err)
	}
	for _, name := range body.Files {
		key, err := store.ParseKey(name)
		if err != nil {
			return err
		}
		_, err = r.store.Blob(key)
		if err == nil || r.queue == nil {
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			continue
		}
		data, err := r.queue.Blob(ctx, name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if store.KeyOf(data) != key {
			return fmt.Errorf("%s came with another hash", name)
		}
		if _, err := r.store.Put(data); err != nil {
			return err
		}
	}
	return nil
}

// poison is the reply to a task that is given up.
func poison(_ *queue.Task, words string) []byte {
	data, _ := json.Marshal(sweepReply{How: taskPoison, Why: words}) // strings have a form in JSON
	return data
}

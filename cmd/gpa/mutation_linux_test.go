package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpa/cubin"
	"gpa/emu/launch"
	"gpa/kernels"
	"gpa/profiler/store"
)

// TestMutatedFiles spoils 12 files. For more, by hand:
//
//	go test ./cmd/gpa -run TestMutatedFiles -v -timeout 0 -mutation-time 10h -mutation-seed 2 -mutation-keep DIR
//
// The N-th file depends on the seed and N alone: -mutation-first N -mutations 1 spoils it again. -mutation-time counts processor time of
// the commands, not the clock. With -mutation-keep, what a command complains of is kept in a folder DIR/SEED-N with the command line,
// and the count so far stands in DIR/count. docs/files.md keeps the sum of such runs.
var (
	mutations     = flag.Int("mutations", 12, "files to mutate in TestMutatedFiles")
	mutationTime  = flag.Duration("mutation-time", 0, "mutate files until commands have taken this processor time, instead of -mutations")
	mutationSeed  = flag.Uint64("mutation-seed", 1, "seed of TestMutatedFiles")
	mutationFirst = flag.Int("mutation-first", 0, "number of the first file to mutate")
	mutationOnly  = flag.String("mutation-only", "", "mutate only files whose format or name has this text in it")
	mutationKeep  = flag.String("mutation-keep", "", "folder for the inputs of which TestMutatedFiles complains")
)

// What a command may take on a spoilt file of a small kernel: the memory beside what the launch asks for, and time, of which the
// commands that run kernels give up by themselves after half.
const (
	mutatedMemory = 1 << 30
	mutatedSpace  = 6 << 30 // of addresses; what gpa takes without asking how much is left fails there
	mutatedTime   = 10 * time.Second
	mutatedClock  = 2 * time.Minute // by the clock, which also ends who waits for nothing
	groupsOfFile  = 4               // of the commands that read a file
)

// The ways in which a command may not end.
const (
	panics = "panic"
	hangs  = "hang"
	swells = "memory"
	leaves = "status"
)

// A mutation is a spoilt file in a copy of its folder.
type mutation struct {
	number    int
	subject   *subject
	dir, file string
	out       string // a folder for what commands write
}

// mutated makes the mutation of a number: its subject, file, changes and commands depend on nothing else.
func mutated(t *testing.T, list []*subject, number int) (mutation, *rand.Rand) {
	m := mutator{rand.New(rand.NewPCG(*mutationSeed, uint64(number)))}
	s := choose(m.Rand, list)
	from := s.folder(t)
	mu := mutation{number: number, subject: s, dir: t.TempDir(), out: t.TempDir()}
	if err := os.CopyFS(mu.dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	mu.file = filepath.Join(mu.dir, s.file)
	data, err := os.ReadFile(mu.file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mu.file, m.mutate(data), 0o600); err != nil {
		t.Fatal(err)
	}
	return mu, m.Rand
}

// choose takes a format first, so that all have their turn however many files of it there are; cubins and launch files, which most commands
// read, more often.
func choose(r *rand.Rand, list []*subject) *subject {
	var formats []string
	for _, s := range list {
		if !slices.Contains(formats, s.format) {
			formats = append(formats, s.format)
		}
	}
	for _, often := range []string{"cubin", "cubin", "cubin", "cubin", "launch file", "launch file"} {
		if slices.Contains(formats, often) {
			formats = append(formats, often)
		}
	}
	format := formats[r.IntN(len(formats))]
	of := slices.DeleteFunc(slices.Clone(list), func(s *subject) bool { return s.format != format })
	return of[r.IntN(len(of))]
}

// A mutationCount is how far a run has come.
type mutationCount struct {
	files, commands int
	spent           time.Duration
	formats         map[string]int // files by format
	statuses        map[int]int    // commands by exit status
	findings        map[string]int // by kind
}

func (c *mutationCount) String() string {
	return fmt.Sprintf("seed %d, files %d to %d, %d commands, %.0f s of processor time, findings %v\n%v, exit statuses %v\n", *mutationSeed, *mutationFirst,
		*mutationFirst+c.files-1, c.commands, c.spent.Seconds(), c.findings, c.formats, c.statuses)
}

// TestMutatedFiles spoils files of all formats and runs whole commands on them, each in a process of its own. None may panic,
// take long, take much memory, or end with a status that is not documented.
func TestMutatedFiles(t *testing.T) {
	t.Parallel()
	list := subjects(t)
	list = slices.DeleteFunc(list, func(s *subject) bool { return !strings.Contains(s.format+" "+s.name+" "+s.file, *mutationOnly) })
	c := mutationCount{formats: make(map[string]int), statuses: make(map[int]int), findings: make(map[string]int)}
	for number := *mutationFirst; *mutationTime > 0 && c.spent < *mutationTime || *mutationTime == 0 && c.files < *mutations; number++ {
		mu, random := mutated(t, list, number)
		groups := mu.subject.commands(mu.dir, mu.file, mu.out)
		random.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
		for _, args := range slices.Concat(groups[:min(len(groups), groupsOfFile)]...) {
			kind, why, status, took := mu.misbehaves(t, args)
			c.commands, c.spent = c.commands+1, c.spent+took
			c.statuses[status]++
			if kind != "" {
				c.findings[kind]++
				t.Errorf("-mutation-seed %d -mutation-first %d, gpa %s: %s: %s", *mutationSeed, number, strings.Join(args, " "), kind, why)
				mu.keep(t, args, kind+": "+why)
			}
		}
		c.files++
		c.formats[mu.subject.format]++
		os.RemoveAll(mu.dir) // of thousands the disk would be full
		os.RemoveAll(mu.out)
		if *mutationKeep != "" && c.files%20 == 0 {
			if err := os.WriteFile(filepath.Join(*mutationKeep, "count"), []byte(c.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Log(c.String())
}

// misbehaves runs a command in a process and says what is wrong with how it ended, and the processor time that it took.
func (mu *mutation) misbehaves(t *testing.T, args []string) (kind, why string, status int, took time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), mutatedClock)
	defer cancel()
	limited := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, mutatedSpace>>10) // in its address space, so that nothing takes all of the machine
	cmd := exec.CommandContext(ctx, "/bin/sh", append([]string{"-c", limited, os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), asCommand+"=1", "HOME="+mu.out, store.Variable+"=", "TMPDIR="+mu.out, "GOMAXPROCS=1", "GOGC=100")
	cmd.WaitDelay = time.Second // processes of a sweep may hold its standard error
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage")
	}
	took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	status = cmd.ProcessState.ExitCode()
	switch said := stderr.String()[:min(stderr.Len(), 1<<11)]; {
	case ctx.Err() != nil:
		return hangs, "for " + mutatedClock.String() + " by the clock", status, took
	case strings.Contains(stderr.String(), "out of memory"):
		return swells, said, status, took
	case status == exitPanic || strings.Contains(stderr.String(), "goroutine "):
		return panics, said, status, took
	case status < 0 || status > exitPanic:
		return leaves, cmd.ProcessState.String() + ": " + said, status, took
	case took > mutatedTime:
		return hangs, took.String() + " of processor time", status, took
	case usage.Maxrss<<10 > mutatedMemory:
		if declared := mu.declared(); usage.Maxrss<<10 > mutatedMemory+declared {
			return swells, fmt.Sprintf("%d MB, %d of them declared", usage.Maxrss>>10, declared>>20), status, took
		}
	}
	return "", "", status, took
}

// declared is the memory that the launch file and its module ask for, in bytes.
func (mu *mutation) declared() int64 {
	total := int64(0)
	if data, err := os.ReadFile(filepath.Join(mu.dir, kernels.LaunchFile)); err == nil {
		if file, err := launch.Parse(kernels.LaunchFile, data, launch.OSDir(mu.dir)); err == nil {
			total += file.Heap
			for i := range file.Buffers {
				total += sizeOf(&file.Buffers[i])
			}
		}
	}
	if module, err := cubin.Open(mu.file); err == nil {
		total += int64(module.Global.Size)
	}
	return total
}

// sizeOf is the size of a buffer that a launch file gives a shape, in bytes.
func sizeOf(b *launch.Buffer) int64 {
	size := int64(b.Type.Size())
	for _, n := range b.Shape {
		size *= int64(n)
	}
	return max(0, size)
}

// keep saves an input, with the command line, for who looks into it.
func (mu *mutation) keep(t *testing.T, args []string, why string) {
	if *mutationKeep == "" {
		return
	}
	dir := filepath.Join(*mutationKeep, fmt.Sprintf("%d-%d", *mutationSeed, mu.number))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, mu.subject.file)); err != nil {
		if err := os.CopyFS(dir, os.DirFS(mu.dir)); err != nil {
			t.Error(err)
		}
	}
	file, err := os.OpenFile(filepath.Join(dir, "findings"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintf(file, "gpa %s\n%s\n", strings.Join(args, " "), why)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpa"
	"gpa/kernels"
)

// go test ./cmd/gpa -run TestMutatedFiles -mutations 100000 -timeout 12h, with -mutation-seed for other ones. Where something
// is found, the file is kept in the folder of -mutation-keep.
var (
	mutations    = flag.Int("mutations", 40, "files to mutate in TestMutatedFiles")
	mutationSeed = flag.Uint64("mutation-seed", 1, "seed of TestMutatedFiles")
	mutationKeep = flag.String("mutation-keep", "", "folder for the inputs of which TestMutatedFiles complains")
)

// What a command may take on a spoilt file of a small kernel: the memory beside what the launch asks for, and time, of which the
// commands that run kernels give up by themselves after half.
const (
	mutatedMemory = 1 << 30
	mutatedTime   = 10 * time.Second
)

// A subject is a file to spoil and the command lines that read it.
type subject struct {
	dir, file string // the file in the folder, which is copied with all that is in it
	commands  func(dir, file, out string) [][]string
}

// subjects are files of all formats.
func subjects(t *testing.T) []subject {
	limit := func(list [][]string) [][]string {
		for i, args := range list {
			switch args[0] {
			case "run", "check", "profile", "compare", "reconverge":
				list[i] = append(args, "--timeout", "5s")
			}
		}
		return list
	}
	kernel := func(dir, file, out string) [][]string { return limit(commandsOn(dir, file, out)) }
	launch := func(dir, file, out string) [][]string {
		return limit([][]string{{"run", dir}, {"check", dir}, {"profile", dir}})
	}
	saved := func(dir, file, out string) [][]string {
		return [][]string{{"advise", file}, {"report", file, "--html", filepath.Join(out, "page.html")}, {"export", file}, {"compare", file, file}}
	}
	pb := func(dir, file, out string) [][]string { return [][]string{{"pprof", "-top", file}} }
	var list []subject
	for _, name := range []string{"vecadd", "sgemm_tiled", "hotspot"} {
		dir := copyKernel(t, name)
		modules, err := filepath.Glob(filepath.Join(dir, "*.sm_70.cubin"))
		if err != nil || len(modules) == 0 {
			t.Fatal("no cubin", err)
		}
		list = append(list, subject{dir, filepath.Base(modules[0]), kernel}, subject{dir, kernels.LaunchFile, launch})
	}
	result := savedResult(t, "vecadd")
	return append(list, subject{result, gpa.SavedFile, saved}, subject{result, "profile.pb.gz", pb})
}

// TestMutatedFiles spoils files of all formats and runs whole commands on them, each in a process of its own. None may panic,
// take long, take much memory, or end with a status that is not documented.
func TestMutatedFiles(t *testing.T) {
	t.Parallel()
	m := mutator{rand.New(rand.NewPCG(*mutationSeed, 0))}
	list := subjects(t)
	commands, spent := 0, time.Duration(0)
	for i := range *mutations {
		s := list[i%len(list)]
		dir, out := t.TempDir(), t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, s.file)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data = m.mutate(data)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range s.commands(dir, name, out) {
			why, took := misbehaves(t, args)
			commands, spent = commands+1, spent+took
			if why != "" {
				t.Errorf("mutation %d, gpa %s: %s", i, strings.Join(args, " "), why)
				keep(t, s.file, i, data)
			}
		}
		os.RemoveAll(dir) // of thousands the disk would be full
		os.RemoveAll(out)
	}
	t.Logf("%d files, %d commands, %.0f s of processor time", *mutations, commands, spent.Seconds())
}

// misbehaves runs a command in a process and says what is wrong with how it ended, and the processor time that it took.
func misbehaves(t *testing.T, args []string) (why string, took time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), 3*mutatedTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no usage")
	}
	took = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	switch status := cmd.ProcessState.ExitCode(); {
	case status < 0 || status > exitUsage || strings.Contains(stderr.String(), "goroutine "):
		return "status " + cmd.ProcessState.String() + ": " + stderr.String()[:min(stderr.Len(), 1<<11)], took
	case took > mutatedTime:
		return took.String() + " of processor time", took
	case usage.Maxrss<<10 > mutatedMemory:
		return "over 1 GB of memory", took
	}
	return "", took
}

// keep saves an input for who looks into it.
func keep(t *testing.T, file string, i int, data []byte) {
	if *mutationKeep == "" {
		return
	}
	name := filepath.Join(*mutationKeep, strings.Join([]string{t.Name(), time.Now().Format("150405.000"), file}, "-"))
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Error(err)
	}
	t.Logf("mutation %d is in %s", i, name)
}

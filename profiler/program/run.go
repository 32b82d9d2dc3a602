package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"gpa"
	"gpa/cubin/compile"
	"gpa/reports"
)

// Run runs a command with its arguments as the program, to its end, and returns its status as a shell gives it: 128 and the number of the signal
// that ended it. The program has the standard streams of this process, but stdout, and gets the signals that this process gets: what it still
// launches after an interrupt is carried out. Where ctx has a deadline the program is ended then.
func (p *Program) Run(ctx context.Context, stdout *os.File, args ...string) (status int, err error) {
	path, err := find(args[0])
	if err != nil {
		return 0, err
	}
	if p.folder = p.options.Sources; p.folder == "" && filepath.Base(args[0]) != args[0] {
		p.folder = filepath.Dir(args[0])
	}
	if err := p.Start(context.WithoutCancel(ctx)); err != nil {
		return 0, err
	}
	command := exec.Command(path, args[1:]...)
	command.Args[0] = args[0]
	command.Env = p.Environment(os.Environ())
	if p.options.Keep {
		if hook, err := compile.HookTriton(); err == nil { // without it there is less to try
			p.triton = hook
			command.Env = hook.Environment(command.Env)
		}
	}
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, stdout, os.Stderr
	status, err = runChild(ctx, command, p.enough)
	if p.triton != nil {
		p.triton.Ended()
	}
	if closed := p.Close(); err == nil {
		err = closed
	}
	if err != nil {
		p.forget()
		return 0, fmt.Errorf("%s: %w", args[0], err)
	}
	if p.killed {
		status = 0 // that it was ended is no fault of its
	}
	return status, nil
}

// forget ends what has stayed behind of the program.
func (p *Program) forget() {
	if p.triton != nil {
		p.triton.Close()
		p.triton = nil
	}
}

// Sources looks for source files in the working directory, and in the folder of the options or beside the program that was run.
func (p *Program) Sources() gpa.Sources { return gpa.NewSources(".", p.folder) }

// find returns the path of a program.
func find(name string) (string, error) {
	path, err := exec.LookPath(name)
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist):
		return "", fmt.Errorf("there is no program %q", name)
	case errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%s cannot be executed", name)
	case err != nil && !errors.Is(err, exec.ErrDot):
		return "", err
	}
	return path, nil
}

// mostRows is how many kernels the table lists.
const mostRows = 30

// longestName is how much of a kernel's name the table shows: those of templates can be longer than all of a line that is shown, and would hide the figures.
const longestName = 160

// Table prints the kernels of the program, those first that take most of the time; nothing where it launched none.
func (p *Program) Table(w io.Writer, style reports.Style) error {
	if p.Launches() == 0 {
		return nil
	}
	list := p.Kernels()
	var seconds float64
	var instructions int64
	for _, k := range list {
		seconds += k.Seconds
		instructions += k.Instructions
	}
	t := reports.Table{Style: style, Columns: []reports.Column{{Title: "kernel", Width: longestName}, {Title: "launches", Right: true}, {Title: "warp instructions", Right: true}}}
	if p.options.Timed {
		t.Columns = append(t.Columns, reports.Column{Title: "profiled", Right: true}, reports.Column{Title: "time, us", Right: true})
	}
	t.Columns = append(t.Columns, reports.Column{Title: "share", Right: true})
	shown := list[:min(len(list), mostRows)]
	for _, k := range shown {
		row := []string{k.Name(), strconv.Itoa(k.Launches), strconv.FormatInt(k.Instructions, 10)}
		share := float64(k.Instructions) / float64(max(instructions, 1))
		if p.options.Timed {
			row = append(row, strconv.Itoa(k.Timed), strconv.FormatFloat(k.Seconds*1e6, 'f', 1, 64))
			share = 0
			if seconds > 0 {
				share = k.Seconds / seconds
			}
		}
		t.Add(append(row, fmt.Sprintf("%.1f %%", 100*share))...)
	}
	if _, err := fmt.Fprintf(w, "%d launches of %d kernels on %s\n\n", p.Launches(), len(list), p.options.GPU.Product); err != nil {
		return err
	}
	if err := t.Render(w); err != nil || len(shown) == len(list) {
		return err
	}
	_, err := fmt.Fprintf(w, "and %d kernels that take less\n", len(list)-len(shown))
	return err
}

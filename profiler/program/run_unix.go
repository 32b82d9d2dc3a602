//go:build unix

package program

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"gpa/reports/terminal"
)

// patience is how long a program has to end after it was asked to.
const patience = 5 * time.Second

// runChild runs a program to its end and returns its status, as a shell gives it: 128 and the number of the signal that ended it. Signals
// that gpa gets are handed on. Where ctx has a deadline the program is ended then, and in any case when enough is closed.
func runChild(ctx context.Context, command *exec.Cmd, enough <-chan struct{}) (status int, err error) {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := command.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	var late <-chan time.Time
	deadline := ctx.Done()
	end := func() {
		command.Process.Signal(syscall.SIGTERM)
		late = time.After(patience)
	}
	for {
		select {
		case err := <-ended:
			return childStatus(err)
		case s := <-signals:
			if s != syscall.SIGINT || !terminal.Is(os.Stdin) { // a terminal sends its interrupts to the program itself
				command.Process.Signal(s)
			}
		case <-deadline:
			deadline = nil
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				end()
			}
		case <-enough:
			enough = nil
			end()
		case <-late:
			command.Process.Kill()
		}
	}
}

// childStatus is the status of a program that has ended.
func childStatus(err error) (int, error) {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return 0, err
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}
	return exit.ExitCode(), nil
}

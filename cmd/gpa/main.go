// Command gpa finds out why a CUDA kernel is slow and says what to change, on a machine with no GPU. Run gpa --help for
// its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
)

// gcPercent is how much the heap grows, in percent, before it is collected. A command lives for seconds and its heap is small:
// with Go's default of 100 a tenth of the time of a short launch went there.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // the first interrupt asks for what there is, a second one ends the process
	status := run(ctx, newEnv(os.Stdout, os.Stderr, os.Getenv), os.Args[1:])
	stop()
	os.Exit(status)
}

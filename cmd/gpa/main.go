// Command gpa finds out why a CUDA kernel is slow and says what to change, on a machine with no GPU. Run gpa --help for
// its commands.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // the first interrupt asks for what there is, a second one ends the process
	status := run(ctx, newEnv(os.Stdout, os.Stderr, os.Getenv), os.Args[1:])
	stop()
	os.Exit(status)
}

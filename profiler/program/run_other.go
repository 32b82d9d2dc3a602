//go:build !unix

package program

import (
	"context"
	"os/exec"

	"gpa/emu/cuda/solib"
)

func runChild(context.Context, *exec.Cmd, <-chan struct{}) (int, error) { return 0, solib.ErrPlatform }

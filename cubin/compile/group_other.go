//go:build !unix

package compile

import "os/exec"

// OwnGroup does nothing: the command alone ends when its context does.
func OwnGroup(*exec.Cmd) {}

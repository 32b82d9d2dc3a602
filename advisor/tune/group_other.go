//go:build !unix

package tune

import "os/exec"

// ownGroup does nothing: the command alone ends when its context does.
func ownGroup(*exec.Cmd) {}

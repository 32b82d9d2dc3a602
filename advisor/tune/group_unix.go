//go:build unix

package tune

import (
	"os/exec"
	"syscall"
)

// ownGroup makes a command one whose processes end together when its context does.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}

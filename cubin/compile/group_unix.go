//go:build unix && !linux

package compile

import (
	"os/exec"
	"syscall"
)

// OwnGroup makes a command one whose processes end together when its context does.
func OwnGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}

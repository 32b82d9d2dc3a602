package compile

import (
	"os/exec"
	"syscall"
)

// OwnGroup makes a command one whose processes end together when its context does, and that ends when this process is killed, where the system
// can do that. (On Linux the signal comes when the thread that started it ends; Go's runtime keeps its threads.)
func OwnGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}

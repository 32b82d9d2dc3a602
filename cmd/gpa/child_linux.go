package main

import (
	"os/exec"
	"syscall"
)

// childOf makes a command one whose processes end together when its context does, and that ends when gpa is killed. (The signal comes when the
// thread that started it ends; Go's runtime keeps its threads.)
func childOf(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}

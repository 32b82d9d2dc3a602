package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestCompletion holds that every shell's script names every command and its flags.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, stderr, status := invoke(t, "completion", shell)
		if status != exitDone {
			t.Fatal(stderr)
		}
		for _, c := range commands() {
			if !strings.Contains(out, c.name) {
				t.Errorf("%s: %s is missing", shell, c.name)
			}
			for _, f := range flagsOf(&c) {
				if !strings.Contains(out, f.Name) {
					t.Errorf("%s: --%s of %s is missing", shell, f.Name, c.name)
				}
			}
		}
	}
	if _, _, status := invoke(t, "completion", "tcsh"); status != exitUsage {
		t.Errorf("tcsh: status %d", status)
	}
}

// TestBashCompletion asks bash itself.
func TestBashCompletion(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	script, _, _ := invoke(t, "completion", "bash")
	for line, want := range map[string]string{
		`COMP_WORDS=(gpa prof); COMP_CWORD=1`:           "profile",
		`COMP_WORDS=(gpa profile --per); COMP_CWORD=2`:  "--period",
		`COMP_WORDS=(gpa profile hot); COMP_CWORD=2`:    "hotspot",
		`COMP_WORDS=(gpa compare --min-); COMP_CWORD=2`: "--min-speedup",
	} {
		out, err := exec.Command(bash, "-c", script+"\n"+line+"\n_gpa\necho \"${COMPREPLY[@]}\"").CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q, %v, want %q", line, out, err, want)
		}
	}
}

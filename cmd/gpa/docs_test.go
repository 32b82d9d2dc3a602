package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gpa/emu/arch"
	"gpa/emu/reconv"
)

// TestReadmeFacts holds what the README counts and lists against the code: kernels, GPU models, re-convergence models, commands.
func TestReadmeFacts(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("../..", readme))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	folders, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("has %d such folders", len(folders)),
		fmt.Sprintf("outputs of the %d kernels", len(folders)),
		fmt.Sprintf("models of %d GPUs", len(arch.Names())),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the README does not say %q", want)
		}
	}
	for _, m := range reconv.Models() {
		if !strings.Contains(text, "| `"+m.Name()+"` |") {
			t.Errorf("the README's table of re-convergence models lacks %s", m.Name())
		}
	}
	rows := regexp.MustCompile("(?m)^\\| `gpa (\\w+)|; `gpa (export)").FindAllStringSubmatch(text, -1)
	for _, c := range commands() {
		found := false
		for _, row := range rows {
			found = found || row[1] == c.name || row[2] == c.name
		}
		if !found {
			t.Errorf("the README's table of commands lacks gpa %s", c.name)
		}
	}
}

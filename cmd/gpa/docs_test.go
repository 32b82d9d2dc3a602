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

// TestReadmeFacts holds what the README and the pages that it leads to count and list against the code: kernels, GPU models,
// re-convergence models, commands.
func TestReadmeFacts(t *testing.T) {
	text := ""
	for _, name := range []string{readme, "docs/commands.md", "docs/supported.md", "docs/numbers.md"} {
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
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
			t.Errorf("nothing says %q", want)
		}
	}
	for _, m := range reconv.Models() {
		if !strings.Contains(text, "| `"+m.Name()+"` |") {
			t.Errorf("the table of re-convergence models lacks %s", m.Name())
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

package sweep

import (
	"fmt"
	"strings"
	"testing"

	"gpa/profiler/store"
)

// TestTaskFiles holds that a task reaches no file but those that it names by hash.
func TestTaskFiles(t *testing.T) {
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", "/etc/hostname", "x.npy", strings.Repeat("A", 64)} {
		task := task{Launch: fmt.Sprintf("module: %q\nlaunches: [{kernel: k, grid: [1], block: [1], args: []}]\n", name), GPU: "v100"}
		if err := task.unpack(s, t.TempDir()); err == nil || !strings.Contains(err.Error(), "no hash") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"gpa/reports/gpus"
)

func TestArchCommand(t *testing.T) {
	list, stderr, status := invoke(t, "arch")
	if status != exitDone || !strings.Contains(list, "\nv100 ") || !strings.Contains(list, "sm_90 *") {
		t.Errorf("status %d, %s\n%s", status, stderr, list)
	}
	one, stderr, status := invoke(t, "arch", "sm_75")
	if status != exitDone || !strings.HasPrefix(one, "t4: ") || !strings.Contains(one, "\nDRAM.Peak ") {
		t.Errorf("status %d, %s\n%s", status, stderr, one)
	}
	if _, stderr, status = invoke(t, "arch", "sm_13"); status != exitUsage || !strings.Contains(stderr, "rtx2080ti") {
		t.Errorf("an unknown GPU: status %d, %s", status, stderr)
	}
}

// TestArchJSON holds that the table and the JSON of a model say the same.
func TestArchJSON(t *testing.T) {
	text, _, _ := invoke(t, "arch", "h100")
	out, stderr, status := invoke(t, "arch", "h100", "--json")
	if status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	var got gpus.ModelsReport
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.GPUs) != 1 || got.GPUs[0].Name != "h100" || got.GPUs[0].Arch != "sm_90" {
		t.Fatalf("%+v", got)
	}
	if lines := strings.Count(text, "\n") - 3; lines != len(got.GPUs[0].Figures) {
		t.Errorf("%d lines, %d figures", lines, len(got.GPUs[0].Figures))
	}
	for _, f := range got.GPUs[0].Figures {
		if !strings.Contains(text, f.Name+" ") || !strings.Contains(text, f.Source) {
			t.Errorf("the text lacks %+v", f)
		}
	}
}

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/reports"
)

// TestWarnings: the text, the JSON and the page warn of a kernel that may hang, and name the lines.
func TestWarnings(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	args := []string{"profile", "../../cubin/branch/testdata/warnings.sm_70.cubin", "--kernel", "barrier_exception", "--grid", "1",
		"--block", "64", "--arg", "i32[1024]", "--arg", "i32[1024]:iota(0,1)"}
	text, _, status := invoke(t, append(args, "--html", page)...)
	if status != 0 || !strings.Contains(text, "Warning: A warp may hang at the barrier at warnings.cu:62") {
		t.Errorf("status %d, text:\n%s", status, text)
	}
	if html, err := os.ReadFile(page); err != nil || !strings.Contains(string(html), "A warp may hang at the barrier at warnings.cu:62") {
		t.Error("no warning in the page")
	}
	text, _, _ = invoke(t, append(args, "--json")...)
	var report reports.ProfileReport
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	list := report.Launches[0].Warnings
	if len(list) != 1 || list[0].Kind != "warpsync-before-barrier" || list[0].At.Line != 62 || list[0].Branch.Line != 58 {
		t.Errorf("%+v", list)
	}
}

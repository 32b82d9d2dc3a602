package main

import (
	"encoding/json"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gpa/kernels"
)

// probe is a script that uses a page as a reader would and leaves in it what has happened: the errors, and for each instruction
// that waits the arrows that a click on it has drawn.
const probe = `<script>
const errors = [];
window.addEventListener("error", e => errors.push(e.message));
window.addEventListener("load", () => {
  const out = { errors, rows: 0, wrong: [], slowest: 0, lines: 0 };
  for (const row of document.querySelectorAll("tr[data-defs]")) {
    const want = row.dataset.defs.split(" ").map(p => p.split("=")[0]).filter(id => id !== row.id);
    const began = performance.now();
    row.querySelector("code").click();
    document.body.getBoundingClientRect();
    out.slowest = Math.max(out.slowest, performance.now() - began);
    const got = [...document.querySelectorAll("tr.def")].map(r => r.id);
    const arrows = row.closest(".kernel").querySelectorAll(".arrows path").length;
    if (got.length !== new Set(want).size || arrows !== want.length || want.some(id => !got.includes(id))) out.wrong.push(row.id);
    out.rows++;
  }
  for (const row of document.querySelectorAll(".source tr[tabindex]")) {
    row.querySelector("code").click();
    if (!document.querySelector(".sass tr.picked")) out.wrong.push(row.id);
    out.lines++;
  }
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  if (document.querySelector("tr.picked, tr.def")) out.wrong.push("escape");
  const pre = document.createElement("pre");
  pre.id = "probe";
  pre.textContent = JSON.stringify(out);
  document.body.append(pre);
});
</script>`

// browser finds a headless Chromium.
func browser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Skip("no Chromium is installed: the pages are not tried in a browser")
	return ""
}

// TestHTMLInBrowser opens the page of every built-in kernel, clicks every instruction that waits for others and every hot source
// line, and sees that the arrows lead to the right rows.
func TestHTMLInBrowser(t *testing.T) {
	chromium := browser(t)
	for _, name := range kernels.Names() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, name+".html")
			if _, stderr, status := gpa(t, "profile", name, "--html", file); status != exitDone {
				t.Fatalf("status %d: %s", status, stderr)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > 3<<20 {
				t.Errorf("the page takes %d bytes", len(text))
			}
			tried := filepath.Join(dir, "tried.html")
			if err := os.WriteFile(tried, []byte(strings.Replace(string(text), "<style>", probe+"<style>", 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			checkProbe(t, dumpPage(t, chromium, tried))
		})
	}
}

// dumpPage loads a page and returns what it has become.
func dumpPage(t *testing.T, chromium, file string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1400,1000",
		"--virtual-time-budget=20000", "--user-data-dir="+t.TempDir(), "--dump-dom", "file://"+file)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", chromium, err)
	}
	return string(out)
}

func checkProbe(t *testing.T, dom string) {
	t.Helper()
	m := regexp.MustCompile(`<pre id="probe">([^<]*)</pre>`).FindStringSubmatch(dom)
	if m == nil {
		t.Fatal("the page's script did not run to its end")
	}
	var result struct {
		Errors, Wrong []string
		Rows, Lines   int
		Slowest       float64 // milliseconds
	}
	if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &result); err != nil {
		t.Fatal(err)
	}
	if len(result.Errors) > 0 || len(result.Wrong) > 0 || result.Rows == 0 || result.Lines == 0 {
		t.Errorf("%+v", result)
	}
	t.Logf("%d instructions and %d lines clicked, the slowest answered in %.1f ms", result.Rows, result.Lines, result.Slowest)
}

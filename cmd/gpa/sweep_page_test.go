//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"gpa/advisor/tune/sweep"
)

var sweepPicture = flag.String("sweep.picture", "", "file that TestSweepPage takes a picture of the page to")

// TestSweepPage looks at the page of a sweep that waits for its next point: in a browser it has a plot for each axis and a dot for each outcome, and grows while
// the sweep goes on. Others than browsers of this machine get nothing.
func TestSweepPage(t *testing.T) {
	file := sweepFile(t, "kernel: vecadd\naxes: {block: [128, 256, 512], arch: [v100, a100]}\nset: {grid: ['32768 / block']}\n")
	ask := sweepProcess("ask", "--store", t.TempDir(), "--page", "127.0.0.1:0", file)
	ask.Stderr = nil
	in, err1 := ask.StdinPipe()
	out, err2 := ask.StdoutPipe()
	said, err3 := ask.StderrPipe()
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); ask.Wait() }()
	errors, lines := bufio.NewScanner(said), bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	if !errors.Scan() {
		t.Fatal("it says nothing")
	}
	url := regexp.MustCompile(`http://\S+`).FindString(errors.Text())
	go io.Copy(io.Discard, said)
	run := func(points ...string) {
		for _, p := range points {
			io.WriteString(in, p+"\n")
			if !lines.Scan() {
				t.Fatalf("%s: no answer", p)
			}
		}
	}
	run(`{"block": 128, "arch": "v100"}`, `{"block": 256, "arch": "v100"}`, `{"block": 512, "arch": "v100"}`)
	checkSweepAccess(t, url)
	b := openBrowser(t)
	count := func(what string) (n int) {
		b.open(url)
		b.evaluate("document.querySelectorAll('"+what+"').length", &n)
		return n
	}
	if plots, dots := count("figure svg"), count("figure circle"); plots != 2 || dots != 6 {
		t.Errorf("%d plots with %d dots", plots, dots)
	}
	run(`{"block": 128, "arch": "a100"}`, `{"block": 256, "arch": "a100"}`)
	awaitDone(t, url, 5)
	if plots, bars := count("figure svg"), count(".bar .all"); plots != 4 || bars != 5 {
		t.Errorf("%d plots and %d bars after two more", plots, bars)
	}
	var text string
	b.evaluate("document.body.innerText", &text)
	if !strings.Contains(text, "5 of 6 variants") {
		t.Error(text)
	}
	var inside bool
	b.evaluate("[...document.querySelectorAll('figure circle')].every(c => { const d = c.getBoundingClientRect(), s = c.closest('svg').getBoundingClientRect(); return d.left >= s.left && d.right <= s.right && d.top >= s.top && d.bottom <= s.bottom })", &inside)
	if !inside {
		t.Error("dots are outside of their plots")
	}
	b.quietConsole()
	if *sweepPicture != "" {
		b.picture(*sweepPicture)
	}
}

// awaitDone waits until the page counts as many outcomes: they come to it after whoever asked has them.
func awaitDone(t *testing.T, url string, want int) {
	t.Helper()
	var c sweep.Counts
	for range 200 {
		answer, err := http.Get(url + "progress.json")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(answer.Body).Decode(&c)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("progress: %d, %v", answer.StatusCode, err)
		}
		if c.Done == want {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%d outcomes, want %d", c.Done, want)
}

// checkSweepAccess holds who gets what of a page.
func checkSweepAccess(t *testing.T, url string) {
	t.Helper()
	get := func(path, host string) (int, string) {
		r, err := http.NewRequest("GET", url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, _ := io.ReadAll(answer.Body)
		return answer.StatusCode, string(data)
	}
	awaitDone(t, url, 3)
	if status, _ := get("", "gpa.example.com"); status != http.StatusForbidden {
		t.Errorf("by another name: %d", status)
	}
	if status, _ := get("store", ""); status != http.StatusNotFound {
		t.Errorf("another path: %d", status)
	}
	if _, stderr, status := invoke(t, "sweep", sweepFile(t, "kernel: vecadd\n"), "--store", t.TempDir(), "--page", "0.0.0.0:0"); status != exitUsage || !strings.Contains(stderr, "--page") {
		t.Errorf("for all machines: %d, %s", status, stderr)
	}
}

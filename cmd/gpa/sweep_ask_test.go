//go:build linux

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpa/advisor/tune/search"
	"gpa/advisor/tune/sweep"
)

// TestSweepAsk lets another program choose the variants, one after the other, and hears of each; some are none. What is told of a variant is not run, and
// leads the search.
func TestSweepAsk(t *testing.T) {
	file := sweepFile(t, "kernel: vecadd\naxes: {block: [64, 128, 256]}\nset: {grid: ['32768 / block']}\nwhere: [block != 64]\nsearch: {method: tpe, budget: 1}\n")
	dir := t.TempDir()
	ask := sweepProcess("ask", "--store", dir, file)
	in, err := ask.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := ask.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for _, c := range []struct {
		point  string
		status search.Status
		cached bool
	}{
		{`{"block": 256}`, search.OK, false}, {`{"block": "128"}`, search.OK, false}, {`{"block": 256}`, search.OK, true},
		{`{"block": 64}`, search.Refused, false}, {`{"blocks": 128}`, search.Refused, false},
	} {
		if _, err := in.Write([]byte(c.point + "\n")); err != nil {
			t.Fatal(err)
		}
		var e sweep.Event
		if !lines.Scan() {
			t.Fatalf("%s: no answer: %v", c.point, lines.Err())
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Outcome.Status != c.status || e.Cached != c.cached || (e.Outcome.Objective > 0) != (c.status == search.OK) {
			t.Errorf("%s: %s, %v", c.point, lines.Bytes(), err)
		}
	}
	in.Close()
	if err := ask.Wait(); err != nil {
		t.Error(err)
	}

	stdin := func(text string) {
		name := filepath.Join(t.TempDir(), "in")
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		os.Stdin = f
	}
	was := os.Stdin
	t.Cleanup(func() { os.Stdin = was })
	stdin(`{"point": {"block": 256}, "outcome": {"status": "ok", "objective": 7}}` + "\n")
	if _, stderr, status := invoke(t, "sweep", "tell", file, "--store", dir); status != exitDone {
		t.Fatalf("status %d: %s", status, stderr)
	}
	r, _ := swept(t, file, "--store", dir)
	if best := r.Groups[0].Variants[0]; r.Counts.Done != 2 || best.Outcome.Objective != 7 || best.Point["block"] != "256" {
		t.Errorf("%+v: %+v", r.Counts, best)
	}
	for _, text := range []string{"{", `{"point": {"block": 256}}`, `{"point": {"block": 256}, "outcome": {"status": "good"}}`, `{"point": {"block": 64}, "outcome": {"status": "ok"}}`} {
		stdin(text)
		if _, stderr, status := invoke(t, "sweep", "tell", file, "--store", dir); status != exitUsage || strings.TrimSpace(stderr) == "" {
			t.Errorf("%s: status %d, %s", text, status, stderr)
		}
	}
}

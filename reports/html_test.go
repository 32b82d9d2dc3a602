package reports

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// page writes the web page of the made-up profile.
func page(t *testing.T, r *Result) string {
	t.Helper()
	var out bytes.Buffer
	source := func(string) []byte {
		data, err := os.ReadFile("testdata/relax.cu")
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	if err := HTML(&out, r, HTMLOptions{Title: "relax <b>", Version: "test", Source: source}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHTML holds the page together: every link and every row that an instruction waits for is there, ids are unique, the page loads
// nothing, and what comes from outside is escaped.
func TestHTML(t *testing.T) {
	text := page(t, relaxResult(t))
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(`\bid="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		ids[m[1]]++
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %s occurs %d times", id, n)
		}
	}
	links := 0
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if links++; ids[m[1]] == 0 {
			t.Errorf("a link to %q leads nowhere", m[1])
		}
	}
	waits := 0
	for _, m := range regexp.MustCompile(`data-defs="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		for _, pair := range strings.Fields(m[1]) {
			if id, _, _ := strings.Cut(pair, "="); ids[id] == 0 {
				t.Errorf("an instruction waits for %q, which has no row", id)
			}
			waits++
		}
	}
	if links == 0 || waits == 0 {
		t.Errorf("%d links, %d instructions that wait", links, waits)
	}
	for _, part := range []string{"<title>gpa: relax &lt;b&gt;", "LDG.E.SYS R20, [R2]", "relax.cu:23", "long_scoreboard"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if m := regexp.MustCompile(`(?:src|href)="(?:https?:|//)[^"]*"`).FindString(text); m != "" {
		t.Errorf("the page loads %s", m)
	}
}

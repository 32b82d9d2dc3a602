package reports

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// checkPage holds a page together: every link leads somewhere, ids are unique, the page loads nothing. It returns the ids and the
// number of links.
func checkPage(t *testing.T, text string) (ids map[string]int, links int) {
	t.Helper()
	ids = map[string]int{}
	for _, m := range regexp.MustCompile(`\bid="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		ids[m[1]]++
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("id %s occurs %d times", id, n)
		}
	}
	for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(text, -1) {
		if links++; ids[m[1]] == 0 {
			t.Errorf("a link to %q leads nowhere", m[1])
		}
	}
	if m := regexp.MustCompile(`(?:src|href)="(?:https?:|//)[^"]*"`).FindString(text); m != "" {
		t.Errorf("the page loads %s", m)
	}
	return ids, links
}

// TestHTML holds the report together: every row that an instruction waits for is there, and what comes from outside is escaped.
func TestHTML(t *testing.T) {
	var out bytes.Buffer
	if err := HTML(&out, relaxResult(t), HTMLOptions{Title: "relax <b>", Version: "test", Source: relaxSource}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	ids, links := checkPage(t, text)
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
}

// TestCompareHTML compares the made-up profile with itself, half of the stalls at one instruction gone, and holds the page together:
// every line has its twin, which has it.
func TestCompareHTML(t *testing.T) {
	before, after := relaxResult(t), relaxResult(t)
	for _, l := range after.Profile.Launches {
		l.Samples[0].Count /= 2
		l.Facts.Cycles -= 100
	}
	o := CompareOptions{BeforeSource: relaxSource, AfterSource: relaxSource}
	c, err := Compare(before, after, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := CompareHTML(&out, c, before, after, o, "test"); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	ids, links := checkPage(t, text)
	twins := map[string]string{}
	for _, m := range regexp.MustCompile(`<tr id="([^"]+)" data-twin="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		twins[m[1]] = m[2]
	}
	for id, twin := range twins {
		if ids[twin] == 0 || twins[twin] != id {
			t.Errorf("line %s has become %q", id, twin)
		}
	}
	if links == 0 || len(twins) == 0 {
		t.Errorf("%d links, %d lines", links, len(twins))
	}
	for _, part := range []string{"Lines that have changed most", "relax.cu:23", "lg_throttle", "1.020x"} {
		if !strings.Contains(text, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
}

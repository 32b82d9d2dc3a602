package reports

import (
	"bytes"
	"strings"
	"testing"

	"gpa/blamer"
	"gpa/cubin"
	"gpa/profiler"
)

func writeText(t *testing.T, r *Result, o TextOptions) string {
	t.Helper()
	var out strings.Builder
	if err := Text(&out, r, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAdviceText(t *testing.T) {
	one := relaxResult(t)
	one.Profile.Launches = one.Profile.Launches[:1]
	cases := []struct {
		name    string
		result  *Result
		options TextOptions
	}{
		{"advice.txt", one, TextOptions{Source: relaxSource}},
		{"advice_no_source.txt", one, TextOptions{Top: 1}},
		{"advice_top5.txt", one, TextOptions{Top: 5, Source: relaxSource}},
		{"advice_kernels.txt", relaxResult(t), TextOptions{Source: relaxSource}},
		{"advice_fault.txt", faulted(t), TextOptions{Source: relaxSource}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, []byte(writeText(t, c.result, c.options))) })
	}
}

// faulted is a result whose second launch stops before the first sample.
func faulted(t *testing.T) *Result {
	r := relaxResult(t)
	l := r.Profile.Launches[1]
	l.Fault = &profiler.Fault{
		Kind: "out of bounds", Code: l.Samples[0].Code, PC: pcFillLast,
		Message: "kernel fill, relax.cu:31, STG.E.SYS [R2], R5, block (3,0,0), thread (17,0,0): write of 4 bytes at " +
			"0x7f0000001000 is out of bounds, 4 bytes past the end of buffer out",
	}
	l.Samples, l.Period, l.Facts.Cycles = nil, 0, 0
	r.Checks = []Check{
		{Buffer: "out", Mismatches: 2, First: &Mismatch{Index: 7, Got: 0.5, Want: 1.5}}, {Buffer: "in", OK: true},
		{Buffer: "count"},
	}
	return r
}

// The advice on a typical kernel fits one screen.
func TestTextFitsAScreen(t *testing.T) {
	r := relaxResult(t)
	r.Profile.Launches, r.Checks = r.Profile.Launches[:1], nil
	lines := strings.Split(strings.TrimSuffix(writeText(t, r, TextOptions{Source: relaxSource}), "\n"), "\n")
	if len(lines) > 45 {
		t.Errorf("%d lines, more than 45", len(lines))
	}
	for _, line := range lines {
		if len(line) > 100 || strings.TrimRight(line, " ") != line {
			t.Errorf("line of %d characters: %q", len(line), line)
		}
	}
}

// Code without lines is told by its instructions, and how to have lines.
func TestTextWithoutLines(t *testing.T) {
	r := relaxResult(t)
	raw := bytes.ReplaceAll(r.Profile.Modules[0].Raw, []byte(".debug_line"), []byte(".renamed_it"))
	module, err := cubin.NewFile("relax.sm_70.cubin", raw)
	if err != nil {
		t.Fatal(err)
	}
	r.Profile.Modules[0], r.Profile.Launches = module, r.Profile.Launches[:1]
	text := writeText(t, r, TextOptions{})
	for _, want := range []string{"hottest instructions", "relax+0x0680", "F2F.F64.F32 R14, R20 ;", "nvcc -lineinfo"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Blame of the true producers says so, and where there are none.
func TestTextSaysExact(t *testing.T) {
	for _, c := range []struct {
		name  string
		blame blamer.Result
		says  string
	}{
		{"usual", blamer.Result{HasAgreement: true}, ""},
		{"exact", blamer.Result{Exact: true, HasAgreement: true}, "true producers (--exact), which"},
		{"exact without producers", blamer.Result{Exact: true}, "no true producers"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := relaxResult(t)
			r.Launches[0].Blame.Exact, r.Launches[0].Blame.HasAgreement = c.blame.Exact, c.blame.HasAgreement
			text := writeText(t, r, TextOptions{})
			if c.says != "" && !strings.Contains(text, c.says) || c.says == "" && strings.Contains(text, "--exact") {
				t.Errorf("want %q in\n%s", c.says, text)
			}
		})
	}
}

// Names from a hostile cubin must not reach the terminal as they are.
func TestTextIsPlain(t *testing.T) {
	r := relaxResult(t)
	const hostile = "evil\x1b]0;title\a\r\u202e"
	r.Profile.Modules[0].Kernels[0].Demangled = hostile
	for i := range r.Profile.Modules[0].Kernels {
		r.Profile.Modules[0].Kernels[i].Demangled = hostile + string(rune('a'+i))
	}
	r.Launches[0].Advice[0].Match.Suggestions[0] = "suggestion " + hostile
	source := func(string) []byte { return []byte(strings.Repeat("line "+hostile+"\n", 50)) }
	text := writeText(t, r, TextOptions{Source: source})
	for i, c := range text {
		if c != '\n' && (c < ' ' || c > '~') {
			t.Fatalf("character %q at %d:\n%q", c, i, text[max(0, i-40):i])
		}
	}
	if !strings.Contains(text, "evil?]0;title???") {
		t.Errorf("the name is gone:\n%s", text)
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{thousands(0), "0"}, {thousands(999), "999"}, {thousands(1000), "1,000"}, {thousands(-1234567), "-1,234,567"},
		{count(1, "cycle"), "1 cycle"}, {count(0, "cycle"), "0 cycles"},
		{duration(3.75e-6), "3.75 us"}, {duration(0.0123), "12.3 ms"}, {duration(0.5), "500 ms"}, {duration(123), "123 s"},
		{percent(0.1234), "12.3%"}, {short(16), "16"}, {short(2.5), "2.5"}, {short(1.0 / 3), "0.33"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

package blamer_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"gpa/blamer"
	"gpa/blamer/sasstest"
	"gpa/emu/stall"
	"gpa/profiler"
)

// TestConservation holds, for arbitrary code and samples, that the blames of each instruction add up to the stalls seen
// there, for all samples and for latency samples, and that what is reported of them makes sense.
func TestConservation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := sasstest.New(t, sasstest.Draw(rt))
		for _, opt := range []blamer.Options{{}, {Plain: true}, {Exact: true}} {
			r, err := blamer.Analyze(p.Launch, p.Module, opt)
			if err != nil {
				rt.Fatal(err)
			}
			checkConservation(rt, r)
			checkRatios(rt, r)
		}
	})
}

type sums struct{ count, latency float64 }

func checkConservation(t *rapid.T, r *blamer.Result) {
	type key struct {
		inst  int
		class stall.Class
	}
	seen := map[key]sums{}
	for _, s := range r.Launch.Samples {
		if s.Reason != stall.Selected {
			k := key{int(s.PC / 16), s.Reason.Class()}
			seen[k] = sums{seen[k].count + float64(s.Count), seen[k].latency + float64(s.Latency)}
		}
	}
	for _, b := range r.Blames {
		k := key{b.Use.Inst, b.Class}
		seen[k] = sums{seen[k].count - b.Count, seen[k].latency - b.Latency}
		if b.Count < 0 || b.Latency < 0 || b.Latency > b.Count+1e-9 || b.Def != b.Use && b.Distance < 1 {
			t.Fatalf("blame %+v", b)
		}
	}
	for k, rest := range seen {
		if !(math.Abs(rest.count) < 1e-6 && math.Abs(rest.latency) < 1e-6) {
			t.Fatalf("%+v: %+v samples lost", k, rest)
		}
	}
}

func checkRatios(t *rapid.T, r *blamer.Result) {
	before, after := r.SingleDependencyBefore, r.SingleDependencyAfter
	if !(before >= 0 && before <= after && after <= 1) {
		t.Fatalf("single dependency coverage %g before, %g after pruning", before, after)
	}
	if !(r.Agreement >= 0 && r.Agreement <= 1+1e-9 && r.AgreementPlain >= 0 && r.AgreementPlain <= 1+1e-9) {
		t.Fatalf("agreement %g, plain %g", r.Agreement, r.AgreementPlain)
	}
}

// TestDeterminism holds that the same launch gives the same blames, whatever the order of its samples.
func TestDeterminism(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := sasstest.New(t, sasstest.Draw(rt))
		first, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		for range 3 {
			again, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
			if err != nil {
				rt.Fatal(err)
			}
			if fmt.Sprint(first.Blames) != fmt.Sprint(again.Blames) {
				rt.Fatalf("%v\n%v", first.Blames, again.Blames)
			}
		}
	})
}

func TestAnalyzeErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*profiler.Launch)
		want   string
	}{
		{"pc beyond the section", func(l *profiler.Launch) { l.Samples[0].PC = 0x1000 }, "blaming k: sample: pc 0x1000 is not an instruction of k in test.cubin"},
		{"pc inside an instruction", func(l *profiler.Launch) { l.Samples[0].PC = 8 }, "blaming k: sample: pc 0x8 is not an instruction of k in test.cubin"},
		{"section that is not there", func(l *profiler.Launch) { l.Samples[0].Code = 7 }, "blaming k: sample: code section 7 of test.cubin, which has 1"},
		{"producer that is not there", func(l *profiler.Launch) { l.Samples[0].Producer = profiler.Producer{Known: true, PC: 0x1000} },
			"blaming k: producer of the sample at pc 0x0: pc 0x1000 is not an instruction of k in test.cubin"},
		{"unknown reason", func(l *profiler.Launch) { l.Samples[0].Reason = 99 }, "blaming k: sample at pc 0x0: unknown stall reason 99"},
		{"more latency samples than samples", func(l *profiler.Launch) { l.Samples[0].Latency = 99 }, "blaming k: sample at pc 0x0: 10 samples with 99 latency samples among them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := sasstest.New(t, "use: FADD R8, R0, R1 ; // wait=10\n EXIT ;")
			c.change(p.Launch)
			_, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

func TestNoSamples(t *testing.T) {
	p := sasstest.New(t, "FADD R8, R0, R1 ;\n EXIT ;")
	r, err := blamer.Analyze(p.Launch, p.Module, blamer.Options{})
	if err != nil || len(r.Blames) != 0 || r.HasAgreement {
		t.Errorf("result %+v, error %v", r, err)
	}
}

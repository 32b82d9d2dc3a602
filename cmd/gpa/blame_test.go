package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"gpa/blamer"
	"gpa/emu"
	"gpa/profiler/sampler"
)

// agreement adds up, over launches, the samples whose producer is known and how many of them are blamed on it.
type agreement struct{ known, agreed, plain float64 }

func (a *agreement) add(b agreement) {
	a.known += b.known
	a.agreed += b.agreed
	a.plain += b.plain
}

// TestBlameAgreement profiles every kernel and compares the blame, which sees what hardware shows, with the true producers.
// -v prints the table.
func TestBlameAgreement(t *testing.T) {
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no kernels", err)
	}
	var all agreement
	t.Logf("%-24s %9s %9s %9s %9s %9s", "kernel", "samples", "paper's", "agreement", "single", "pruned")
	for _, name := range files {
		kernel, before, after := blameKernel(t, name)
		if kernel.known > 0 {
			t.Logf("%-24s %9.0f %9.3f %9.3f %9.3f %9.3f", filepath.Base(filepath.Dir(name)), kernel.known,
				kernel.plain/kernel.known, kernel.agreed/kernel.known, before, after)
		}
		all.add(kernel)
	}
	t.Logf("%-24s %9.0f %9.3f %9.3f", "all", all.known, all.plain/all.known, all.agreed/all.known)
	if all.agreed < .95*all.known || all.agreed < all.plain {
		t.Errorf("%.3f of the dependency stalls are blamed on their producers, by the paper's rules %.3f", all.agreed/all.known, all.plain/all.known)
	}
}

// blameKernel returns the agreement over the launches of a file, and the single dependency coverage of its first.
func blameKernel(t *testing.T, name string) (sum agreement, before, after float64) {
	t.Helper()
	var tgt target
	r, err := tgt.resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	var m machineFlags
	s, err := m.session(r, emu.TimingFull, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	o, err := sampler.New(sampler.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := newExecution(r)
	if err := x.all(context.Background(), s, o); err != nil {
		t.Fatal(err)
	}
	for i, l := range x.profile.Launches {
		b, err := blamer.Analyze(l, r.module, blamer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			before, after = b.SingleDependencyBefore, b.SingleDependencyAfter
		}
		known := 0.0
		for i := range l.Samples {
			if l.Samples[i].Producer.Known {
				known += float64(l.Samples[i].Count)
			}
		}
		sum.add(agreement{known, known * b.Agreement, known * b.AgreementPlain})
	}
	return sum, before, after
}

package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"gpa/blamer"
	"gpa/emu"
	"gpa/profiler/sampler"
)

// blamed adds up the agreement of launches with the true producers.
type blamed struct {
	all        blamer.Agreement
	byProducer [blamer.NumDetailedReasons]blamer.Agreement
	byRule     [blamer.NumRules]blamer.Agreement

	before, after float64 // single dependency coverage of the first launch
}

func add(a *blamer.Agreement, b blamer.Agreement) {
	a.Known += b.Known
	a.Agreed += b.Agreed
	a.Plain += b.Plain
}

func (s *blamed) add(b *blamed) {
	add(&s.all, b.all)
	for i := range b.byProducer {
		add(&s.byProducer[i], b.byProducer[i])
	}
	for i := range b.byRule {
		add(&s.byRule[i], b.byRule[i])
	}
}

// TestBlameAgreement profiles every kernel and compares the blame, which sees what hardware shows, with the true producers.
// -v prints the table.
func TestBlameAgreement(t *testing.T) {
	files, err := filepath.Glob("../../kernels/*/*/launch.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no kernels", err)
	}
	sum := new(blamed)
	t.Logf("%-24s %9s %9s %9s %9s %9s", "kernel", "samples", "paper's", "agreement", "single", "pruned")
	for _, name := range files {
		b := blameKernel(t, name)
		if b.all.Known > 0 {
			t.Logf("%s %9.3f %9.3f", agreementRow(filepath.Base(filepath.Dir(name)), b.all), b.before, b.after)
		}
		sum.add(b)
	}
	t.Log(agreementRow("all", sum.all))
	t.Log("by the class of the producer")
	for d, a := range sum.byProducer {
		if a.Known > 0 {
			t.Log(agreementRow(blamer.DetailedReason(d).String(), a))
		}
	}
	t.Log("by the rule that decided")
	for r, a := range sum.byRule {
		if a.Known > 0 {
			t.Log(agreementRow(blamer.Rule(r).String(), a))
		}
	}
	if a := sum.all; a.Agreed < .95*a.Known || a.Agreed < a.Plain {
		t.Errorf("%.3f of the dependency stalls are blamed on their producers, by the paper's rules %.3f", a.Agreed/a.Known, a.Plain/a.Known)
	}
}

func agreementRow(name string, a blamer.Agreement) string {
	return fmt.Sprintf("%-24s %9.0f %9.3f %9.3f", name, a.Known, a.Plain/a.Known, a.Agreed/a.Known)
}

// blameKernel blames the launches of a file.
func blameKernel(t *testing.T, name string) *blamed {
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
	sum := new(blamed)
	for i, l := range x.profile.Launches {
		b, err := blamer.Analyze(l, r.module, blamer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			sum.before, sum.after = b.SingleDependencyBefore, b.SingleDependencyAfter
		}
		launch := &blamed{byProducer: b.ByProducer, byRule: b.ByRule}
		for _, a := range b.ByRule {
			add(&launch.all, a)
		}
		sum.add(launch)
	}
	return sum
}

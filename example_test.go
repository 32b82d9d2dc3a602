package gpa_test

import (
	"context"
	"fmt"
	"log"

	"gpa"
)

// Profile a kernel, find out what its stalls come from, and list the changes worth making.
func Example() {
	ctx := context.Background()
	target, err := gpa.Load("kernels/stencil/hotspot", gpa.LoadOptions{GPU: "a100"})
	if err != nil {
		log.Fatal(err)
	}
	result, err := target.Profile(ctx, gpa.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := result.Failure(); err != nil {
		log.Fatal(err)
	}
	if err := result.Try(ctx, gpa.TryOptions{}); err != nil {
		log.Fatal(err)
	}
	for i, launch := range result.Profile.Launches {
		best := result.Launches[i].Advice[0]
		fmt.Printf("%s on %s: %s, worth it: %v\n", launch.Kernel, launch.GPU, best.Optimizer, best.Tried > 1.02)
	}
	// Output: hotspot on a100: strength-reduction, worth it: true
}

// Hold a kernel against the one before a change.
func ExampleCompare() {
	ctx := context.Background()
	before, err := gpa.ResultOf(ctx, "kernels/stencil/hotspot", gpa.LoadOptions{GPU: "v100"}, gpa.Options{}, gpa.Analysis{})
	if err != nil {
		log.Fatal(err)
	}
	after, err := gpa.ResultOf(ctx, "kernels/stencil/hotspot_float", gpa.LoadOptions{GPU: "v100"}, gpa.Options{}, gpa.Analysis{})
	if err != nil {
		log.Fatal(err)
	}
	comparison, err := gpa.Compare(before, after, gpa.CompareOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, pair := range comparison.Pairs {
		fmt.Printf("%s -> %s: faster %v, outputs equal %v\n", pair.Before.Kernel, pair.After.Kernel, pair.Speedup > 1, *pair.OutputsEqual)
	}
	// Output: hotspot -> hotspot_float: faster true, outputs equal true
}

// Run a kernel of a cubin for its outputs.
func ExampleTarget_Run() {
	target, err := gpa.Load("kernels/basic/saxpy/saxpy.sm_80.cubin", gpa.LoadOptions{
		Grid: [3]int{1, 1, 1}, Block: [3]int{32, 1, 1}, Args: []string{"i32:32", "f32:2", "f32[32]:fill(3)", "f32[32]:fill(1)"},
	})
	if err != nil {
		log.Fatal(err)
	}
	result, err := target.Run(context.Background(), gpa.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := result.Failure(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Profile.Launches[0].Facts.WarpInstructions, "warp instructions")
	// Output: 51 warp instructions
}

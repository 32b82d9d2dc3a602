package main

import (
	"gpa/emu/convergence"
)

// The JSON of gpa reconverge.
type (
	reconvergeObject struct {
		Launches []reconvergeLaunch `json:"launches"`
	}
	reconvergeLaunch struct {
		Kernel    string              `json:"kernel"`
		Models    []reconvergeModel   `json:"models"`
		Frontier  reconvergeFrontier  `json:"frontier"`
		Structure reconvergeStructure `json:"structure"`
	}
	reconvergeModel struct {
		Model              string   `json:"model"`
		Status             string   `json:"status"`
		Fault              string   `json:"fault,omitempty"`
		WarpInstructions   *int64   `json:"warp_instructions,omitempty"`
		ThreadInstructions *int64   `json:"thread_instructions,omitempty"`
		WithoutBarriers    *int64   `json:"warp_instructions_without_barriers,omitempty"`
		ActivityFactor     *float64 `json:"activity_factor,omitempty"`
		ActivityFactorCTA  *float64 `json:"activity_factor_cta,omitempty"`
		MaxStack           *int     `json:"max_stack,omitempty"`
		MemoryEfficiency   *float64 `json:"memory_efficiency,omitempty"`
		Cycles             *int64   `json:"cycles,omitempty"`
		OutputsEqual       *bool    `json:"outputs_equal,omitempty"`
	}
	reconvergeFrontier struct {
		Blocks    int     `json:"blocks"`
		Min       int     `json:"min"`
		Average   float64 `json:"average"`
		Max       int     `json:"max"`
		Checks    int     `json:"checks"`
		TFJoins   int     `json:"tf_joins"`
		PDOMJoins int     `json:"pdom_joins"`
	}
	reconvergeStructure struct {
		Unstructured    bool    `json:"unstructured"`
		ForwardCopies   int     `json:"forward_copies"`
		BackwardCopies  int     `json:"backward_copies"`
		Cuts            int     `json:"cuts"`
		CutEdges        int     `json:"cut_edges"`
		CopiedBlocks    int     `json:"copied_blocks"`
		StaticExpansion float64 `json:"static_expansion"`
		TransformMS     float64 `json:"transform_ms"`
	}
)

func reconvergeObjects(list []convergence.Launch) reconvergeObject {
	object := reconvergeObject{Launches: []reconvergeLaunch{}}
	for i := range list {
		object.Launches = append(object.Launches, reconvergeLaunchObject(&list[i]))
	}
	return object
}

func reconvergeLaunchObject(l *convergence.Launch) reconvergeLaunch {
	f, s := &l.Frontier, &l.Structure
	o := reconvergeLaunch{
		Kernel:   l.Kernel.Demangled,
		Frontier: reconvergeFrontier{f.Blocks, f.Min, f.Mean, f.Max, f.Checks, f.TFJoins, f.PDOMJoins},
		Structure: reconvergeStructure{s.Unstructured, s.ForwardCopies, s.BackwardCopies, s.Cuts, s.CutEdges, s.CopiedBlocks,
			s.StaticExpansion(), float64(s.Took.Microseconds()) / 1000},
	}
	for i := range l.Runs {
		o.Models = append(o.Models, reconvergeModelObject(&l.Runs[i]))
	}
	return o
}

func reconvergeModelObject(r *convergence.Run) reconvergeModel {
	o := reconvergeModel{Model: r.Model, Status: string(r.Status), Fault: r.Fault}
	if r.Status != convergence.OK {
		return o
	}
	without := r.WarpInstructions - r.BarrierWarpInstructions
	factor := r.Factor()
	o.WarpInstructions, o.ThreadInstructions, o.WithoutBarriers, o.ActivityFactor = &r.WarpInstructions, &r.ThreadInstructions, &without, &factor
	if r.Bound {
		return o
	}
	block := r.BlockFactor()
	o.ActivityFactorCTA, o.MaxStack, o.OutputsEqual = &block, &r.MaxStack, &r.OutputsEqual
	if r.MemoryInstructions > 0 {
		memory := r.MemoryEfficiency()
		o.MemoryEfficiency = &memory
	}
	if r.Cycles > 0 {
		o.Cycles = &r.Cycles
	}
	return o
}

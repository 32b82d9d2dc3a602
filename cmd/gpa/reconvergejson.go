package main

import (
	"gpa/cubin"
	"gpa/emu/convergence"
)

// The JSON of gpa reconverge.
type (
	reconvergeObject struct {
		Launches []reconvergeLaunch `json:"launches"`
	}
	reconvergeLaunch struct {
		Kernel    string                       `json:"kernel"`
		Models    []reconvergeModel            `json:"models"`
		Frontier  reconvergeFrontier           `json:"frontier"`
		Structure reconvergeStructure          `json:"structure"`
		Activity  *activityObject              `json:"activity,omitempty"`
		Classes   map[string]branchClassObject `json:"branch_classes,omitempty"`
		Branches  []branchObject               `json:"branches,omitempty"`
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
		// Of PDOM's warp instructions: those that thread frontiers do not need, and an upper limit.
		DynamicExpansion *float64 `json:"dynamic_expansion,omitempty"`
		UpperLimit       *float64 `json:"upper_limit,omitempty"`
		TransformMS      float64  `json:"transform_ms"`
	}
)

func reconvergeObjects(module *cubin.File, list []convergence.Launch) reconvergeObject {
	object := reconvergeObject{Launches: []reconvergeLaunch{}}
	for i := range list {
		object.Launches = append(object.Launches, reconvergeLaunchObject(module, &list[i]))
	}
	return object
}

func reconvergeLaunchObject(module *cubin.File, l *convergence.Launch) reconvergeLaunch {
	f, s := &l.Frontier, &l.Structure
	o := reconvergeLaunch{
		Kernel:   l.Kernel.Demangled,
		Frontier: reconvergeFrontier{f.Blocks, f.Min, f.Mean, f.Max, f.Checks, f.TFJoins, f.PDOMJoins},
		Structure: reconvergeStructure{
			Unstructured: s.Unstructured, ForwardCopies: s.ForwardCopies, BackwardCopies: s.BackwardCopies, Cuts: s.Cuts, CutEdges: s.CutEdges,
			CopiedBlocks: s.CopiedBlocks, StaticExpansion: s.StaticExpansion(), TransformMS: float64(s.Took.Microseconds()) / 1000},
	}
	if share, ok := l.DynamicExpansion(); ok {
		o.Structure.DynamicExpansion = &share
	}
	if share, ok := l.ExpansionLimit(); ok {
		o.Structure.UpperLimit = &share
	}
	if l.Activity != nil {
		o.Activity = newActivityObject(l.Activity)
		o.Classes = branchClassObjects(l.Activity.Branches)
		for i := range l.Activity.Branches {
			o.Branches = append(o.Branches, newBranchObject(module, &l.Activity.Branches[i]))
		}
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

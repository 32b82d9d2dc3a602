// Package reconvergence prints how launches ran under each re-convergence model, and what their branches did to the lanes of warps.
package reconvergence

import (
	"gpa/cubin"
	"gpa/emu/convergence"
)

// What gpa reconverge --json prints; the command's help and docs/control-flow.md say what its figures are.
type (
	Report struct {
		Launches []LaunchReport `json:"launches"`
	}
	LaunchReport struct {
		Kernel    string                 `json:"kernel"`
		Models    []ModelReport          `json:"models"`
		Frontier  FrontierReport         `json:"frontier"`
		Structure StructureReport        `json:"structure"`
		Activity  *ActivityReport        `json:"activity,omitempty"`
		Classes   map[string]ClassReport `json:"branch_classes,omitempty"`
		Branches  []BranchReport         `json:"branches,omitempty"`
	}
	ModelReport struct {
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
	FrontierReport struct {
		Blocks    int     `json:"blocks"`
		Min       int     `json:"min"`
		Average   float64 `json:"average"`
		Max       int     `json:"max"`
		Checks    int     `json:"checks"`
		TFJoins   int     `json:"tf_joins"`
		PDOMJoins int     `json:"pdom_joins"`
	}
	StructureReport struct {
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

// NewReport makes the report of a comparison of the launches of a module.
func NewReport(module *cubin.File, list []convergence.Launch) *Report {
	object := &Report{Launches: []LaunchReport{}}
	for i := range list {
		object.Launches = append(object.Launches, launchReport(module, &list[i]))
	}
	return object
}

func launchReport(module *cubin.File, l *convergence.Launch) LaunchReport {
	f, s := &l.Frontier, &l.Structure
	o := LaunchReport{
		Kernel:   l.Kernel.Demangled,
		Frontier: FrontierReport{f.Blocks, f.Min, f.Mean, f.Max, f.Checks, f.TFJoins, f.PDOMJoins},
		Structure: StructureReport{
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
		o.Activity = activityReport(l.Activity)
		o.Classes = classReports(l.Activity.Branches)
		for i := range l.Activity.Branches {
			o.Branches = append(o.Branches, branchReport(module, &l.Activity.Branches[i]))
		}
	}
	for i := range l.Runs {
		o.Models = append(o.Models, modelReport(&l.Runs[i]))
	}
	return o
}

func modelReport(r *convergence.Run) ModelReport {
	o := ModelReport{Model: r.Model, Status: string(r.Status), Fault: r.Fault}
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

package reconvergence

import (
	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/emu/activity"
	"gpa/emu/convergence"
	"gpa/reports"
)

// The part of gpa reconverge's JSON that is about branches. Shares are of 1.
type (
	LanesReport struct {
		Active    float64 `json:"active"`
		Intrinsic float64 `json:"intrinsic"` // inactive because of an intrinsic branch
		Extrinsic float64 `json:"extrinsic"`
		Absent    float64 `json:"absent"` // without a thread, or parted by no branch
	}
	ActivityReport struct {
		Model string `json:"model"`
		LanesReport
		ByScope []ScopeReport `json:"by_scope"`
	}
	ScopeReport struct {
		reports.ScopeReport
		LanesReport
		Share float64 `json:"share"` // of the kernel's lanes
	}
	ClassReport struct {
		Static  float64  `json:"static"`  // share of the branches
		Dynamic float64  `json:"dynamic"` // share of the branches that warps executed
		Taken   *float64 `json:"taken,omitempty"`
	}
	BranchReport struct {
		At           reports.Location `json:"at"`
		Target       *uint64          `json:"target,omitempty"` // offset in the section
		Type         string           `json:"type"`
		Source       string           `json:"source"` // auto or rule
		Automatic    string           `json:"automatic"`
		DependsOn    string           `json:"depends_on,omitempty"`
		Contradicts  bool             `json:"contradicts"`
		Instances    int64            `json:"instances"`
		Taken        *float64         `json:"taken,omitempty"`
		Occupancy    *float64         `json:"occupancy,omitempty"`
		DynamicCount int64            `json:"dynamic_count"`
		Warps        int64            `json:"warps"`
		LostLanes    int64            `json:"lost_lanes"`
		Grade        activity.Grade   `json:"grade,omitempty"`
	}
)

func lanesReport(s *activity.Slots) LanesReport {
	active, intrinsic, extrinsic := s.Fractions()
	o := LanesReport{Active: active, Intrinsic: intrinsic, Extrinsic: extrinsic}
	if total := s.Total(); total > 0 {
		o.Absent = float64(s.Absent) / float64(total)
	}
	return o
}

func activityReport(a *convergence.Activity) *ActivityReport {
	total := a.Total()
	o := &ActivityReport{Model: a.Model, LanesReport: lanesReport(total), ByScope: []ScopeReport{}}
	for i := range a.Scopes {
		s := &a.Scopes[i]
		if s.Total() == 0 {
			continue
		}
		o.ByScope = append(o.ByScope, ScopeReport{
			ScopeReport: reports.ScopeReport{Kind: string(s.Kind), Function: s.Function, File: s.File, Line: s.Line},
			LanesReport: lanesReport(&s.Slots),
			Share:       float64(s.Total()) / float64(total.Total()),
		})
	}
	return o
}

func classReports(uses []activity.BranchUse) map[string]ClassReport {
	objects := make(map[string]ClassReport)
	classes := activity.Classes(uses)
	static, dynamic := activity.Shares(classes)
	for t, c := range classes {
		o := ClassReport{Static: static[t], Dynamic: dynamic[t]}
		if c.Instances > 0 {
			taken := c.TakenFraction()
			o.Taken = &taken
		}
		objects[branch.Type(t).String()] = o
	}
	return objects
}

func branchReport(module *cubin.File, u *activity.BranchUse) BranchReport {
	b := &u.Branch
	o := BranchReport{
		At: reports.Locate(module, b.Code, b.PC), Type: b.Type.String(), Source: "auto", Automatic: b.Origins.Type().String(),
		DependsOn: b.Origins.String(), Contradicts: b.Contradicts(), Instances: u.Instances, DynamicCount: u.Executions, Warps: u.Warps,
		LostLanes: u.Lost, Grade: u.Grade(),
	}
	if b.Rule != nil {
		o.Source = "rule"
	}
	if b.HasTarget {
		o.Target = &b.Target
	}
	if u.Executions > 0 {
		taken, occupancy := u.TakenFraction(), u.Occupancy()
		o.Taken, o.Occupancy = &taken, &occupancy
	}
	return o
}

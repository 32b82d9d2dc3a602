package reconvergence

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"

	"gpa/cubin"
	"gpa/cubin/branch"
	"gpa/emu/activity"
	"gpa/emu/convergence"
	"gpa/reports"
)

// activityText prints where the lanes of warps were, and what the branches did. top bounds the rows of a table, 0 does not.
func activityText(w io.Writer, module *cubin.File, a *convergence.Activity, top int) error {
	if a == nil || a.Total().Total() == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n  lanes under %s\n", a.Model)
	tables := []*reports.Table{scopeTable(a, top)}
	if len(a.Branches) > 0 {
		tables = append(tables, classTable(a.Branches), branchTable(module, a.Branches, top))
	}
	for i, t := range tables {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := t.Render(w); err != nil {
			return err
		}
	}
	for i := range a.Branches {
		if b := &a.Branches[i].Branch; b.Contradicts() {
			fmt.Fprintf(w, "  %s %#x: %s by the rule %s, but it depends on: %s\n",
				place(module, b), b.PC, b.Type, b.Rule, cmp.Or(b.Origins.String(), "nothing that differs"))
		}
	}
	return nil
}

// tableColumns makes the columns of a table, the first few aligned to the left.
func tableColumns(left int, titles ...string) []reports.Column {
	var list []reports.Column
	for i, title := range titles {
		list = append(list, reports.Column{Title: title, Right: i >= left})
	}
	return list
}

// scopeTable lists the kernel, and of its functions and loops those that lose most lanes, in the order of the code. A
// kernel that is one function is not listed twice.
func scopeTable(a *convergence.Activity, top int) *reports.Table {
	t := &reports.Table{Indent: "    ", Columns: tableColumns(3, "scope", "name", "at", "of lanes", "active", "intrinsic", "extrinsic", "no thread")}
	total := a.Total()
	var places []int
	for i := range a.Scopes {
		s := &a.Scopes[i]
		if whole := s.Kind == convergence.FunctionScope && s.Slots == *total; i > 0 && s.Total() > 0 && !whole {
			places = append(places, i)
		}
	}
	lost := func(i int) int64 {
		s := &a.Scopes[i].Slots
		return s.Lost[branch.Intrinsic] + s.Lost[branch.Extrinsic]
	}
	slices.SortStableFunc(places, func(x, y int) int { return cmp.Compare(lost(y), lost(x)) })
	if top > 0 && len(places) > top {
		places = places[:top]
	}
	slices.Sort(places)
	for _, i := range append([]int{0}, places...) {
		s := &a.Scopes[i]
		o, at := lanesReport(&s.Slots), ""
		if s.Line > 0 {
			at = fmt.Sprintf("%s:%d", path.Base(s.File), s.Line)
		}
		t.Add(string(s.Kind), s.Function, at, percent(float64(s.Total())/float64(total.Total())),
			percent(o.Active), percent(o.Intrinsic), percent(o.Extrinsic), percent(o.Absent))
	}
	return t
}

// classTable lists the types of branches.
func classTable(uses []activity.BranchUse) *reports.Table {
	t := &reports.Table{Indent: "    ", Columns: tableColumns(1, "branches", "count", "static", "executed", "dynamic", "taken")}
	classes := activity.Classes(uses)
	static, dynamic := activity.Shares(classes)
	for _, kind := range branch.Types() {
		c := &classes[kind]
		taken := ""
		if c.Instances > 0 {
			taken = fraction(c.TakenFraction())
		}
		t.Add(kind.String(), strconv.Itoa(c.Branches), percent(static[kind]), strconv.FormatInt(c.Executions, 10), percent(dynamic[kind]), taken)
	}
	return t
}

// branchTable lists the branches that lose most lanes, and where none does those that are executed most often.
func branchTable(module *cubin.File, uses []activity.BranchUse, top int) *reports.Table {
	t := &reports.Table{Indent: "    ", Columns: tableColumns(4, "at", "pc", "target", "type", "instances", "taken", "occupancy", "dyn. count", "lost lanes")}
	t.Columns = append(t.Columns, reports.Column{Title: "grade"})
	list := slices.Clone(uses)
	slices.SortStableFunc(list, func(x, y activity.BranchUse) int {
		return cmp.Or(cmp.Compare(y.Lost, x.Lost), cmp.Compare(y.Executions, x.Executions))
	})
	if top > 0 && len(list) > top {
		list = list[:top]
	}
	for i := range list {
		u := &list[i]
		target, taken, occupancy := "", "", ""
		if u.Branch.HasTarget {
			target = fmt.Sprintf("%#x", u.Branch.Target)
		}
		if u.Executions > 0 {
			taken, occupancy = fraction(u.TakenFraction()), fraction(u.Occupancy())
		}
		t.Add(place(module, &u.Branch), fmt.Sprintf("%#x", u.Branch.PC), target, u.Branch.Type.String(), strconv.FormatInt(u.Instances, 10),
			taken, occupancy, strconv.FormatInt(u.Executions, 10), strconv.FormatInt(u.Lost, 10), string(u.Grade()))
	}
	return t
}

// place names the source line of a branch, or its function.
func place(module *cubin.File, b *branch.Branch) string {
	at := reports.Locate(module, b.Code, b.PC)
	if at.Line == 0 {
		return at.Function
	}
	return fmt.Sprintf("%s:%d", path.Base(at.File), at.Line)
}

// percent prints a share of 1.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

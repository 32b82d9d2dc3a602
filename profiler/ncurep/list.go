package ncurep

import (
	"bytes"
	"cmp"
	"strings"
)

// Is says whether a file that begins so is a report file.
func Is(start []byte) bool { return bytes.HasPrefix(start, magic) }

// A Listed is what a file says of a launch.
type Listed struct {
	Launch           int      `json:"launch"` // counted from 0
	Kernel           string   `json:"kernel"`
	GPU              string   `json:"gpu,omitempty"`
	Grid             [3]int   `json:"grid"`
	Block            [3]int   `json:"block"`
	Cycles           int64    `json:"cycles,omitempty"`
	WarpInstructions int64    `json:"warp_instructions,omitempty"`
	Samples          int64    `json:"samples,omitempty"`
	Missing          []string `json:"missing,omitempty"`
	Error            string   `json:"error,omitempty"` // why there is no profile of it
}

// List tells what the file holds. Each launch is read as [Report.Profile] does, so that what stands in the way is told.
func (r *Report) List(name string) []Listed {
	list := make([]Listed, len(r.Results))
	for i := range r.Results {
		x, out := &r.Results[i], &list[i]
		*out = Listed{Launch: i, Kernel: cmp.Or(x.Demangled, x.Function, x.Mangled), Grid: x.Grid, Block: x.Block}
		p, _, err := r.Profile(name, []int{i})
		if err != nil {
			out.Error = err.Error()
			continue
		}
		l := p.Launches[0]
		out.GPU, out.Cycles, out.WarpInstructions = l.GPU, l.Facts.Cycles, l.Facts.WarpInstructions
		out.Samples, out.Missing = l.Totals().Samples, l.Missing
	}
	return list
}

// IsOf says whether the launch is of a kernel that is called by its symbol, its name or its name with parameters.
func (r *Result) IsOf(kernel string) bool {
	base, _, _ := strings.Cut(r.Demangled, "(")
	return kernel == r.Mangled || kernel == r.Function || kernel == r.Demangled || kernel == base
}

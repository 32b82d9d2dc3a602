package reports

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
)

// The part of SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format) that findings need.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool    sarifTool     `json:"tool"`
	Results []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string          `json:"id"`
	ShortDescription sarifMessage    `json:"shortDescription"`
	Properties       sarifProperties `json:"properties"`
}

type sarifProperties struct {
	Tags []string `json:"tags"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
	Count     int64           `json:"occurrenceCount,omitempty"`
}

type sarifLocation struct {
	ID       int            `json:"id,omitempty"`
	Message  *sarifMessage  `json:"message,omitempty"`
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name string `json:"fullyQualifiedName"`
	Kind string `json:"kind"`
}

// A Remark is what there is to say about a place of a source.
type Remark struct {
	Rule   string // as family/kind
	Level  string // error, warning or note
	Text   string
	Kernel string // "" where it is of no function
	File   string // "" where there is no source
	Line   int    // 1-based
}

// WriteSARIF writes findings as SARIF 2.1.0, which code review pages read. Each kind of finding is a rule. Places without a source
// line have a logical location alone, the function.
func WriteSARIF(w io.Writer, version string, findings []Finding) error {
	run := newSARIF(version)
	for i := range findings {
		run.add(&findings[i])
	}
	return run.write(w)
}

// WriteRemarks writes remarks as SARIF 2.1.0.
func WriteRemarks(w io.Writer, version string, remarks []Remark) error {
	run := newSARIF(version)
	for _, r := range remarks {
		family, kind, _ := strings.Cut(r.Rule, "/")
		result := run.result(family, kind, r.Level, r.Text)
		result.Locations = []sarifLocation{sarifPlace(&Party{Location: Location{Function: r.Kernel, File: r.File, Line: r.Line}})}
		run.Results = append(run.Results, result)
	}
	return run.write(w)
}

func newSARIF(version string) *sarifRun {
	return &sarifRun{Tool: sarifTool{sarifDriver{Name: "gpa", Version: version, Rules: []sarifRule{}}}, Results: []sarifResult{}}
}

func (r *sarifRun) write(w io.Writer) error {
	return WriteJSON(w, sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{*r}})
}

// result begins a result, and adds its rule where it is the first of its kind.
func (r *sarifRun) result(family, kind, level, text string) sarifResult {
	id := family + "/" + strings.ReplaceAll(kind, " ", "-")
	rules := &r.Tool.Driver.Rules
	at := slices.IndexFunc(*rules, func(rule sarifRule) bool { return rule.ID == id })
	if at < 0 {
		at = len(*rules)
		*rules = append(*rules, sarifRule{id, sarifMessage{kind}, sarifProperties{[]string{"gpu", family}}})
	}
	return sarifResult{RuleID: id, RuleIndex: at, Level: level, Message: sarifMessage{text}}
}

// add adds a finding.
func (r *sarifRun) add(f *Finding) {
	result := r.result(f.Family, f.Kind, f.Level, f.message())
	result.Count = f.Count
	if f.Kernel != "" {
		result.Locations = []sarifLocation{sarifPlace(&f.At)}
	}
	if f.Other != nil {
		other := sarifPlace(f.Other)
		other.ID, other.Message = 1, &sarifMessage{strings.TrimSuffix(f.relation(), ":") + ", " + f.Other.who()}
		result.Related = []sarifLocation{other}
	}
	r.Results = append(r.Results, result)
}

// message says in a line what a finding is.
func (f *Finding) message() string {
	text := f.Kind
	if f.Kernel != "" {
		text += fmt.Sprintf(" in kernel %s, %s", f.Kernel, f.At.who())
	}
	if where := f.where(); where != "" {
		text += ": " + where
	}
	return text
}

// who names the thread.
func (p *Party) who() string { return "block " + triple(p.Block) + " thread " + triple(p.Thread) }

func sarifPlace(p *Party) sarifLocation {
	at := sarifLocation{}
	if p.Function != "" {
		at.Logical = []sarifLogical{{p.Function, "function"}}
	}
	if p.File != "" && p.Line > 0 {
		at.Physical = &sarifPhysical{sarifArtifact{fileURI(p.File)}, sarifRegion{p.Line}}
	}
	return at
}

// fileURI is the reference to a file: relative to where the reader has the sources, unless the name is absolute.
func fileURI(name string) string {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if path.IsAbs(name) {
		return (&url.URL{Scheme: "file", Path: name}).String()
	}
	return (&url.URL{Path: name}).EscapedPath()
}

package listing

import (
	"fmt"

	"gpa/cubin"
)

// What gpa cfg --json prints.
type (
	GraphReport struct {
		File      string           `json:"file"`
		Arch      string           `json:"arch"`
		Functions []FunctionReport `json:"functions"`
	}
	FunctionReport struct {
		Name       string        `json:"name"`
		Symbol     string        `json:"symbol"`
		Visibility string        `json:"visibility"`
		Section    string        `json:"section"`
		Offset     uint64        `json:"offset"`
		Size       uint64        `json:"size"`
		Blocks     []BlockReport `json:"blocks"`
		Loops      []LoopReport  `json:"loops"`
		Calls      []CallReport  `json:"calls"`
	}
	BlockReport struct {
		ID         int           `json:"id"`
		First      uint64        `json:"first"`
		Last       uint64        `json:"last"`
		Successors []int         `json:"successors"`
		Exits      bool          `json:"exits"`
		Loop       *int          `json:"loop,omitempty"`
		Frames     []FrameReport `json:"frames,omitempty"`
	}
	LoopReport struct {
		ID     int   `json:"id"`
		Header int   `json:"header"`
		Parent *int  `json:"parent,omitempty"`
		Depth  int   `json:"depth"`
		Blocks []int `json:"blocks"`
	}
	CallReport struct {
		PC      uint64        `json:"pc"`
		Callees []string      `json:"callees"`
		Extern  string        `json:"extern,omitempty"`
		Frames  []FrameReport `json:"frames,omitempty"`
	}
)

// NewGraphReport makes the report of the graphs of a module.
func NewGraphReport(module *cubin.File, list []Function) GraphReport {
	object := GraphReport{File: module.Name, Arch: fmt.Sprintf("sm_%d", module.Arch), Functions: []FunctionReport{}}
	for i := range list {
		object.Functions = append(object.Functions, list[i].object())
	}
	return object
}

func (f *Function) object() FunctionReport {
	fn, loops := f.Function, f.loops()
	o := FunctionReport{
		Name: fn.Demangled, Symbol: fn.Name, Visibility: fn.Kind.String(), Section: f.graph.Code.Name, Offset: fn.Offset, Size: fn.Size,
		Blocks: []BlockReport{}, Loops: []LoopReport{}, Calls: []CallReport{},
	}
	for _, id := range f.Blocks {
		b := f.graph.Blocks[id]
		o.Blocks = append(o.Blocks, BlockReport{
			ID: f.blockNumber(id), First: f.pc(b.First), Last: f.pc(b.Last), Successors: f.numbers(b.Succs), Exits: b.Exits,
			Loop: optional(loopNumber(loops, b.Loop)), Frames: jsonFrames(f.frames(b)),
		})
	}
	for i, l := range loops {
		o.Loops = append(o.Loops, LoopReport{
			ID: i, Header: f.blockNumber(l.Header), Parent: optional(loopNumber(loops, l.Parent)), Depth: l.Depth, Blocks: f.numbers(l.Blocks),
		})
	}
	for i := range f.Calls {
		c := &f.Calls[i]
		o.Calls = append(o.Calls, CallReport{
			PC: f.pc(c.Inst), Callees: f.callees(c), Extern: c.Extern, Frames: jsonFrames(f.graph.Code.Frames(f.pc(c.Inst))),
		})
	}
	return o
}

// numbers are the function's numbers of blocks.
func (f *Function) numbers(ids []int) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = f.blockNumber(id)
	}
	return list
}

// optional is nil for a number below zero.
func optional(n int) *int {
	if n < 0 {
		return nil
	}
	return &n
}

func jsonFrames(frames []cubin.Frame) []FrameReport {
	var list []FrameReport
	for _, f := range frames {
		list = append(list, FrameReport{f.Function, f.File, f.Line})
	}
	return list
}

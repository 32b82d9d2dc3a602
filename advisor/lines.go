package advisor

import (
	"gpa/blamer"
	"gpa/cubin"
)

// A lineHead stands for the instructions of a source line: the first of them that was asked for. Code that the compiler has unrolled
// has a line many times, and is one place to people.
type lineHead map[cubin.Frame]blamer.Node

// of returns the instruction that stands for the line of another; without lines, that one.
func (h lineHead) of(in *Input, n blamer.Node) blamer.Node {
	f := in.ownFrame(n)
	if f.Line == 0 {
		return n
	}
	if head, ok := h[f]; ok && head.Code == n.Code {
		return head
	}
	h[f] = n
	return n
}

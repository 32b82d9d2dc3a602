package cuda

import (
	"fmt"
	"os"
	"strings"
)

// nodeNames are kinds of nodes for people.
var nodeNames = map[nodeKind]string{
	kernelNode: "KERNEL", copyNode: "MEMCPY", setNode: "MEMSET", hostNode: "HOST", childNode: "GRAPH", emptyNode: "EMPTY", eventWaitNode: "EVENT_WAIT",
	eventRecordNode: "EVENT_RECORD", memoryAllocNode: "MEM_ALLOC", memoryFreeNode: "MEM_FREE", conditionalNode: "CONDITIONAL",
}

// graphPrint writes a graph as a DOT file: graph, path, flags. The flags ask for more about each node; kernels have their names in any case.
func graphPrint(c *call, g *graph) Result {
	path, r := c.pathOf(c.a[1])
	if r != Success {
		return r
	}
	var b strings.Builder
	b.WriteString("digraph dot {\n")
	g.print(&b)
	b.WriteString("}\n")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		c.server.problem(fmt.Errorf("%s: %w", c.function.name, err))
		return ErrOperatingSystem
	}
	return Success
}

// print writes a graph and the graphs in it as clusters.
func (g *graph) print(b *strings.Builder) {
	fmt.Fprintf(b, "subgraph cluster_%x {\nlabel=\"graph_%x\"\n", g.handle, g.handle)
	for _, n := range g.nodes {
		label := nodeNames[n.work.kind()]
		if w, ok := n.work.(*kernelWork); ok {
			label += " " + w.function.kernel.Name
		}
		fmt.Fprintf(b, "\"node_%x\" [shape=\"box\" label=%q]\n", n.handle, label)
	}
	for _, n := range g.nodes {
		for _, d := range n.after {
			fmt.Fprintf(b, "\"node_%x\" -> \"node_%x\"\n", d.handle, n.handle)
		}
	}
	b.WriteString("}\n")
	for _, n := range g.nodes {
		for _, k := range inner(n.work) {
			k.print(b)
		}
	}
}

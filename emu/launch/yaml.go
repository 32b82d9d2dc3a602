package launch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// A decoder walks the YAML tree. It keeps the first error, so that the functions of decode.go read as a description of
// the format.
type decoder struct {
	file    string
	err     error
	anchors map[string]ast.Node // by name, as far as the file has been read
}

// A node is a value in the tree with the path of its key.
type node struct {
	ast.Node
	key string
}

// parseYAML returns the one document of a file.
func (d *decoder) parseYAML(data []byte) node {
	tokens, fault := tokenize(data)
	if fault != nil {
		fault.File, d.err = d.file, fault
		return node{}
	}
	tree, err := parser.Parse(tokens, 0)
	var syntax *yaml.SyntaxError
	switch {
	case errors.As(err, &syntax):
		d.err = &Error{File: d.file, Line: syntax.Token.Position.Line, Err: errors.New(syntax.Message)}
	case err != nil:
		d.err = &Error{File: d.file, Err: errors.New(firstLine(err.Error()))}
	case len(tree.Docs) == 0 || tree.Docs[0].Body == nil:
		d.err = &Error{File: d.file, Err: errors.New("the file is empty")}
	case len(tree.Docs) > 1:
		d.err = &Error{File: d.file, Line: tree.Docs[1].Start.Position.Line, Err: errors.New("more than one YAML document")}
	default:
		return node{Node: tree.Docs[0].Body}
	}
	return node{}
}

// The size of a launch file, bytes, and how deep its lists and mappings may lie in each other. Four levels are needed; the parser takes
// memory with the square of the depth.
const (
	maxYAML  = 1 << 20
	maxDepth = 32
)

// tokenize takes a file apart, unless it is one that the parser should not see.
func tokenize(data []byte) (token.Tokens, *Error) {
	if len(data) > maxYAML {
		return nil, &Error{Err: fmt.Errorf("%d bytes are too many for a launch file, which has %d at most (contents go into .npy files, pointers into .tsv files)", len(data), maxYAML)}
	}
	tokens := lexer.Tokenize(string(data))
	open, entries := 0, 0 // brackets, and the signs of list items and keys that one line begins with
	for _, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			open++
		case token.SequenceEndType, token.MappingEndType:
			open--
		case token.SequenceEntryType, token.MappingKeyType:
			if entries++; t.Prev == nil || t.Prev.Position.Line != t.Position.Line {
				entries = 1
			}
		}
		if open > maxDepth || entries > maxDepth {
			return nil, &Error{Line: t.Position.Line, Err: fmt.Errorf("more than %d lists and mappings in each other", maxDepth)}
		}
	}
	return tokens, nil
}

// mostAliased is the number of characters of what an alias stands for: shapes and arguments, which programs write once and refer to.
const mostAliased = 1 << 10

// resolve returns the value that an anchor names, or for which an alias stands: one without aliases of its own, so that none grows.
func (d *decoder) resolve(n node) node {
	switch x := n.Node.(type) {
	case *ast.AnchorNode:
		if d.anchors == nil {
			d.anchors = make(map[string]ast.Node)
		}
		n.Node = x.Value
		d.anchors[x.Name.GetToken().Value] = x.Value
	case *ast.AliasNode:
		name := x.Value.GetToken().Value
		value, ok := d.anchors[name]
		switch {
		case !ok:
			d.fail(n, "no &%s stands before *%s", name, name)
		case len(value.String()) > mostAliased || strings.ContainsRune(value.String(), '*'):
			d.fail(n, "*%s stands for more than a short value without aliases", name)
		default:
			n.Node = value
		}
	}
	return n
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// fail records an error at a node, unless there is one already.
func (d *decoder) fail(n node, format string, args ...any) {
	if d.err == nil {
		at := n.at()
		d.err = &Error{File: d.file, Line: at.line, Key: at.key, Err: fmt.Errorf(format, args...)}
	}
}

func (n node) at() position {
	p := position{key: n.key}
	if n.Node != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		p.line = n.GetToken().Position.Line
	}
	return p
}

func (n node) isMapping() bool {
	switch n.Node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// A member is a key of a mapping and its value.
type member struct {
	name  string
	value node
}

// members returns the entries of a mapping in file order.
func (d *decoder) members(n node) []member {
	var values []*ast.MappingValueNode
	switch m := n.Node.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		d.fail(n, "a mapping (key: value) is expected here")
		return nil
	}
	list := make([]member, 0, len(values))
	for _, v := range values {
		name := v.Key.GetToken().Value
		key := strings.TrimPrefix(n.key+"."+name, ".")
		child := d.resolve(node{v.Value, key})
		if _, null := child.Node.(*ast.NullNode); null {
			d.fail(child, "a value is missing")
		}
		list = append(list, member{name, child})
	}
	return list
}

// fields calls the function of each key that is present; a key without one is an error that lists those there are.
func (d *decoder) fields(n node, known map[string]func(node)) {
	for _, m := range d.members(n) {
		set, ok := known[m.name]
		if !ok {
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			d.fail(m.value, "unknown key; the keys here are %s", strings.Join(names, ", "))
			return
		}
		set(m.value)
	}
}

// items returns the elements of a sequence.
func (d *decoder) items(n node) []node {
	s, ok := n.Node.(*ast.SequenceNode)
	if !ok {
		d.fail(n, "a list is expected here")
		return nil
	}
	list := make([]node, len(s.Values))
	for i, v := range s.Values {
		list[i] = d.resolve(node{v, n.key + "[" + strconv.Itoa(i) + "]"})
	}
	return list
}

// text reads a string.
func (d *decoder) text(n node) string {
	switch s := n.Node.(type) {
	case *ast.StringNode:
		return s.Value
	case *ast.LiteralNode:
		return s.Value.Value
	case *ast.IntegerNode, *ast.FloatNode: // a kernel may be called 2 and a file 3.5
		return n.GetToken().Value
	}
	d.fail(n, "a string is expected here")
	return ""
}

func (d *decoder) boolean(n node) bool {
	b, ok := n.Node.(*ast.BoolNode)
	if !ok {
		d.fail(n, "true or false is expected here")
		return false
	}
	return b.Value
}

// number reads an integer exactly or a float. YAML's core schema takes 1e-5 for a string, people do not.
func (d *decoder) number(n node) number {
	switch s := n.Node.(type) {
	case *ast.IntegerNode, *ast.StringNode:
		if v, err := parseNumber(fmt.Sprint(s.(ast.ScalarNode).GetValue())); err == nil {
			return v
		}
	case *ast.FloatNode:
		return floatNumber(s.Value)
	case *ast.InfinityNode:
		return floatNumber(s.Value)
	case *ast.NanNode:
		return floatNumber(math.NaN())
	}
	d.fail(n, "a number is expected here")
	return number{}
}

// integer reads an integer between low and high.
func (d *decoder) integer(n node, low, high int64) int64 {
	v := d.number(n)
	if d.err != nil {
		return 0
	}
	if !v.isInt || v.large || v.i < low || v.i > high {
		d.fail(n, "%s is not an integer from %d to %d", v, low, high)
		return 0
	}
	return v.i
}

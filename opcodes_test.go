package gpa_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"gpa/cubin/sass"
)

// mostAlike is how many opcodes one place outside the instruction table may treat alike. More of them are a list: it should be a property
// of instructions, which that table holds.
const mostAlike = 2

// TestOpcodeLists searches the packages for lists of opcodes. Those of the emulator that say which function executes an instruction are
// the semantics of the instructions themselves.
func TestOpcodeLists(t *testing.T) {
	ops := make(map[string]bool)
	for op := range sass.NumOps {
		ops[op.String()] = true
	}
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(name)
		if entry.IsDir() && (entry.Name() == "testdata" || name != "." && strings.HasPrefix(entry.Name(), ".") || slash == "cubin/sass") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(slash, "emu/exec_") {
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, at := range opcodeLists(file, ops) {
			t.Errorf("%v: a list of opcodes", files.Position(at))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOpcodeListsAreFound holds that the search finds each way in which a list can be written.
func TestOpcodeListsAreFound(t *testing.T) {
	ops := map[string]bool{"LDG": true, "STG": true, "LDS": true}
	for _, text := range []string{
		"switch op { case sass.LDG, sass.STG, sass.LDS: }",
		"switch { case op == sass.LDG, op == sass.STG, op == sass.LDS: }",
		"_ = op == sass.LDG || op == sass.STG || op == sass.LDS",
		"_ = op != sass.LDG && op != sass.STG && op != sass.LDS",
		"_ = []sass.Op{sass.LDG, sass.STG, sass.LDS}",
		"_ = map[sass.Op]bool{sass.LDG: true, sass.STG: true, sass.LDS: false}",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+text+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(opcodeLists(file, ops)) == 0 {
			t.Errorf("not found: %s", text)
		}
	}
}

// opcodeLists returns where a file treats more than mostAlike opcodes alike: in a case, in a condition or as the elements of a literal.
func opcodeLists(file *ast.File, ops map[string]bool) []token.Pos {
	var lists []token.Pos
	ast.Inspect(file, func(n ast.Node) bool {
		count := 0
		switch n := n.(type) {
		case *ast.CaseClause:
			for _, e := range n.List {
				count += named(e, ops)
			}
		case *ast.BinaryExpr:
			if n.Op != token.LOR && n.Op != token.LAND {
				return true
			}
			count = named(n, ops)
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					e = pair.Key
				}
				count += named(e, ops)
			}
		}
		if count > mostAlike {
			lists = append(lists, n.Pos())
			return false
		}
		return true
	})
	return lists
}

// named counts the opcodes that an expression names, or compares with.
func named(e ast.Expr, ops map[string]bool) int {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		if p, ok := e.X.(*ast.Ident); ok && p.Name == "sass" && ops[e.Sel.Name] {
			return 1
		}
	case *ast.BinaryExpr:
		return named(e.X, ops) + named(e.Y, ops)
	case *ast.ParenExpr:
		return named(e.X, ops)
	case *ast.UnaryExpr:
		return named(e.X, ops)
	}
	return 0
}

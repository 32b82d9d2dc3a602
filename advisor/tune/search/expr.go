package search

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
)

// A Value is what an axis has at a point, as text: a number, or anything else, which is compared as text only.
type Value string

// constant is the value in expressions: exact integers and floats, else a string.
func (v Value) constant() constant.Value {
	text := string(v)
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return constant.MakeInt64(i)
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if c := constant.MakeFloat64(f); c.Kind() != constant.Unknown {
			return c
		}
	}
	switch text {
	case "true", "false":
		return constant.MakeBool(text == "true")
	}
	return constant.MakeString(text)
}

// An Expr is an expression over axes, in the syntax of Go, which is that of C here: + - * / % == != < <= > >= && || ! and parentheses, with
// exact numbers. The quotient of integers is cut off as C does it; ceil(a, b) rounds it up; min and max take any number of values. KiB
// and MiB may follow a number.
type Expr struct {
	text string
	tree ast.Expr
	vars []string
}

var binary = regexp.MustCompile(`\b(\d+)\s*(KiB|MiB)\b`)

// ParseExpr reads an expression.
func ParseExpr(text string) (*Expr, error) {
	plain := binary.ReplaceAllStringFunc(text, func(s string) string {
		m := binary.FindStringSubmatch(s)
		shift := map[string]string{"KiB": "1024", "MiB": "1048576"}[m[2]]
		return "(" + m[1] + "*" + shift + ")"
	})
	tree, err := parser.ParseExpr(plain)
	if err != nil {
		return nil, fmt.Errorf("%q is not an expression", text)
	}
	e := &Expr{text: text, tree: tree}
	if err := e.check(tree); err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return e, nil
}

// String is the expression as it was written.
func (e *Expr) String() string { return e.text }

// Vars lists the names in the expression.
func (e *Expr) Vars() []string { return e.vars }

var functions = []string{"ceil", "min", "max"}

func (e *Expr) check(n ast.Expr) error {
	switch x := n.(type) {
	case *ast.BasicLit:
		if x.Kind == token.INT || x.Kind == token.FLOAT || x.Kind == token.STRING {
			return nil
		}
	case *ast.Ident:
		if !slices.Contains(e.vars, x.Name) {
			e.vars = append(e.vars, x.Name)
		}
		return nil
	case *ast.ParenExpr:
		return e.check(x.X)
	case *ast.UnaryExpr:
		if x.Op == token.SUB || x.Op == token.NOT {
			return e.check(x.X)
		}
	case *ast.BinaryExpr:
		return errors.Join(e.check(x.X), e.check(x.Y))
	case *ast.CallExpr:
		name, ok := x.Fun.(*ast.Ident)
		if !ok || !slices.Contains(functions, name.Name) || len(x.Args) == 0 || name.Name == "ceil" && len(x.Args) != 2 {
			return fmt.Errorf("the functions are ceil(a, b), min and max")
		}
		for _, a := range x.Args {
			if err := e.check(a); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("only numbers, names, arithmetic and comparisons have a place here")
}

// Int evaluates an expression to an integer.
func (e *Expr) Int(at map[string]Value) (int64, error) {
	v, err := e.eval(e.tree, at)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", e.text, err)
	}
	n, exact := constant.Int64Val(constant.ToInt(v))
	if v.Kind() != constant.Int && v.Kind() != constant.Float || !exact {
		return 0, fmt.Errorf("%s is %s, no integer", e.text, v)
	}
	return n, nil
}

// Text evaluates an expression to the text of its value.
func (e *Expr) Text(at map[string]Value) (string, error) {
	v, err := e.eval(e.tree, at)
	if err != nil {
		return "", fmt.Errorf("%s: %w", e.text, err)
	}
	if v.Kind() == constant.String {
		return constant.StringVal(v), nil
	}
	if v.Kind() == constant.Float {
		f, _ := constant.Float64Val(v)
		return strconv.FormatFloat(f, 'g', -1, 64), nil
	}
	return v.ExactString(), nil
}

// Bool evaluates a condition.
func (e *Expr) Bool(at map[string]Value) (bool, error) {
	v, err := e.eval(e.tree, at)
	if err != nil {
		return false, fmt.Errorf("%s: %w", e.text, err)
	}
	if v.Kind() != constant.Bool {
		return false, fmt.Errorf("%s is %s, neither true nor false", e.text, v)
	}
	return constant.BoolVal(v), nil
}

func (e *Expr) eval(n ast.Expr, at map[string]Value) (constant.Value, error) {
	switch x := n.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(x.Value, x.Kind, 0), nil
	case *ast.Ident:
		v, ok := at[x.Name]
		if !ok {
			return nil, fmt.Errorf("there is no axis %s", x.Name)
		}
		return v.constant(), nil
	case *ast.ParenExpr:
		return e.eval(x.X, at)
	case *ast.UnaryExpr:
		v, err := e.eval(x.X, at)
		if err != nil {
			return nil, err
		}
		if x.Op == token.NOT && v.Kind() == constant.Bool {
			return constant.MakeBool(!constant.BoolVal(v)), nil
		}
		if x.Op == token.SUB && numeric(v) {
			return constant.UnaryOp(token.SUB, v, 0), nil
		}
		return nil, fmt.Errorf("%s does not apply to %s", x.Op, v)
	case *ast.BinaryExpr:
		return e.both(x, at)
	case *ast.CallExpr:
		return e.call(x, at)
	}
	return nil, errors.New("no value")
}

func numeric(v constant.Value) bool { return v.Kind() == constant.Int || v.Kind() == constant.Float }

// both evaluates a binary expression. && and || leave out their right side as C does.
func (e *Expr) both(x *ast.BinaryExpr, at map[string]Value) (constant.Value, error) {
	a, err := e.eval(x.X, at)
	if err != nil {
		return nil, err
	}
	if x.Op == token.LAND || x.Op == token.LOR {
		if a.Kind() != constant.Bool {
			return nil, fmt.Errorf("%s is neither true nor false", a)
		}
		if constant.BoolVal(a) == (x.Op == token.LOR) {
			return a, nil
		}
		return e.eval(x.Y, at)
	}
	b, err := e.eval(x.Y, at)
	if err != nil {
		return nil, err
	}
	switch x.Op {
	case token.EQL, token.NEQ:
		if numeric(a) != numeric(b) || !numeric(a) && a.Kind() != b.Kind() {
			return constant.MakeBool(x.Op == token.NEQ), nil
		}
		return constant.MakeBool(constant.Compare(a, x.Op, b)), nil
	}
	if !numeric(a) || !numeric(b) {
		return nil, fmt.Errorf("%s %s %s: these are not numbers", a, x.Op, b)
	}
	return arithmetic(a, x.Op, b)
}

func arithmetic(a constant.Value, op token.Token, b constant.Value) (constant.Value, error) {
	switch op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return constant.MakeBool(constant.Compare(a, op, b)), nil
	case token.ADD, token.SUB, token.MUL:
		return constant.BinaryOp(a, op, b), nil
	case token.QUO, token.REM:
		if constant.Sign(b) == 0 {
			return nil, errors.New("division by zero")
		}
		integers := a.Kind() == constant.Int && b.Kind() == constant.Int
		switch {
		case op == token.QUO && integers:
			return constant.BinaryOp(a, token.QUO_ASSIGN, b), nil // of integers
		case op == token.QUO || integers:
			return constant.BinaryOp(a, op, b), nil
		}
	}
	return nil, fmt.Errorf("%s %s %s has no value", a, op, b)
}

func (e *Expr) call(x *ast.CallExpr, at map[string]Value) (constant.Value, error) {
	args := make([]constant.Value, len(x.Args))
	for i, a := range x.Args {
		v, err := e.eval(a, at)
		if err != nil {
			return nil, err
		}
		if !numeric(v) {
			return nil, fmt.Errorf("%s is not a number", v)
		}
		args[i] = v
	}
	name := x.Fun.(*ast.Ident).Name
	if name == "ceil" {
		a, b := args[0], args[1]
		if a.Kind() != constant.Int || b.Kind() != constant.Int || constant.Sign(b) <= 0 {
			return nil, fmt.Errorf("ceil(%s, %s) needs integers, the second above 0", a, b)
		}
		up := constant.BinaryOp(constant.BinaryOp(a, token.ADD, b), token.SUB, constant.MakeInt64(1))
		return constant.BinaryOp(up, token.QUO_ASSIGN, b), nil
	}
	op := map[string]token.Token{"min": token.LSS, "max": token.GTR}[name]
	best := args[0]
	for _, v := range args[1:] {
		if constant.Compare(v, op, best) {
			best = v
		}
	}
	return best, nil
}

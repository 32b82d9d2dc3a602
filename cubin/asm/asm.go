// Package asm assembles text SASS into cubins, and prints cubins as text that assembles back to the same bytes.
// docs/asm.md describes the two forms of the text: kernels, which people write, and sections, which [Print] writes.
package asm

import (
	"errors"
	"fmt"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// An Error is a mistake in the text. Lines and columns count from 1.
type Error struct {
	File         string
	Line, Column int
	Problem      string
}

// Error returns file:line:column: problem.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Problem)
}

// maxText bounds the text: a file of text makes a cubin of about a quarter of its size.
const maxText = 1 << 28

// An assembler holds what the statements so far have said.
type assembler struct {
	file    string
	arch    sass.Arch
	values  map[string]int64 // of .equ
	current position

	codes   []*code
	code    *code // that of the last .kernel or .function
	data    *data // that of the last .global or .constant
	datas   []*data
	symbols map[string]bool // names of functions and data
	exact   *exact          // the section form
}

// Assemble returns the cubin that the text describes. The name is for messages. An error about the text is an [*Error].
func Assemble(name string, text []byte) ([]byte, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%s: %d bytes of text, at most %d", name, len(text), maxText)
	}
	a := &assembler{file: name, values: make(map[string]int64), symbols: make(map[string]bool)}
	statements, err := a.scan(string(text))
	if err != nil {
		return nil, err
	}
	for i := range statements {
		if err := a.statement(&statements[i]); err != nil {
			return nil, err
		}
	}
	data, err := a.finish()
	if err != nil {
		return nil, err
	}
	if _, err := cubin.NewFile(name, data); err != nil && a.exact == nil {
		return nil, fmt.Errorf("the cubin made is not sound: %w", err)
	}
	return data, nil
}

// finish makes the file of all statements.
func (a *assembler) finish() ([]byte, error) {
	if a.exact != nil {
		return a.exact.finish(a)
	}
	if a.arch == 0 {
		return nil, a.errorAt(position{1, 1}, "want .arch sm_NN before the first kernel")
	}
	if len(a.codes) == 0 {
		return nil, a.errorAt(a.current, "want a .kernel")
	}
	return a.build()
}

// A position is a place in the text; both count from 1.
type position struct{ line, column int }

func (a *assembler) errorAt(at position, format string, args ...any) error {
	return &Error{File: a.file, Line: at.line, Column: at.column, Problem: fmt.Sprintf(format, args...)}
}

// wrapSyntax gives an error of an instruction's text its place in the file.
func (a *assembler) wrapSyntax(at position, column func(int) int, err error) error {
	var syntax *sass.SyntaxError
	if errors.As(err, &syntax) {
		return a.errorAt(position{at.line, at.column + column(syntax.Column-1)}, "want %s", syntax.Want)
	}
	return a.errorAt(at, "%s", strings.ReplaceAll(err.Error(), "\n", " "))
}

// statement takes in one statement.
func (a *assembler) statement(s *statement) error {
	a.current = s.at
	switch s.kind {
	case labelStatement:
		return a.label(s)
	case instStatement:
		return a.instruction(s)
	}
	if d, ok := directives[s.name]; ok {
		return d(a, s.args(a))
	}
	return a.errorAt(s.at, "no directive %s; there are %s", s.name, directiveList())
}

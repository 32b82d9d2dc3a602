package arch

import (
	"fmt"
	"reflect"
)

// A NamedFigure is one number of a model with its place in it, as in "L2.Ways" or "Pipes.FMA.Interval".
type NamedFigure struct {
	Name string
	Figure
}

var pipeNames = [NumPipes]string{
	ALU: "ALU", FMA: "FMA", FMAHeavy: "FMAHeavy", FP16: "FP16", FP64: "FP64", Tensor: "Tensor", XU: "XU", LSU: "LSU", Control: "Control",
}

// String returns the pipe's name.
func (p PipeName) String() string {
	if p < NumPipes {
		return pipeNames[p]
	}
	return fmt.Sprintf("pipe %d", uint8(p))
}

var classNames = [NumBoundClasses]string{
	ClassInteger: "Integer", ClassIMAD: "IMAD", ClassPopc: "POPC", ClassPredicate: "Predicate", ClassConvert: "Convert",
	ClassMUFU: "MUFU", ClassFP16: "FP16", ClassFP32: "FP32", ClassFP64: "FP64", ClassShared: "Shared", ClassMemory: "Memory",
	ClassOther: "Other",
}

// String returns the class's name.
func (c BoundClass) String() string {
	if c < NumBoundClasses {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

// Figures returns every number of the model with its source, in the order in which the model lists them. A bound gives
// two, Bounds.<class>.Min and Max.
func (m *Model) Figures() []NamedFigure {
	var out []NamedFigure
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() {
		out = appendFigures(out, v.Type().Field(i).Name, v.Field(i))
	}
	return out
}

func appendFigures(out []NamedFigure, name string, v reflect.Value) []NamedFigure {
	switch f := v.Interface().(type) {
	case Figure:
		return append(out, NamedFigure{name, f})
	case Bound:
		return append(out,
			NamedFigure{name + ".Min", Figure{float64(f.Min), "cycles", f.Source}},
			NamedFigure{name + ".Max", Figure{float64(f.Max), "cycles", f.Source}})
	case [NumPipes]Pipe:
		for p := range NumPipes {
			out = appendFigures(out, name+"."+p.String(), reflect.ValueOf(f[p]))
		}
		return out
	case [NumBoundClasses]Bound:
		for c := range NumBoundClasses {
			out = appendFigures(out, name+"."+c.String(), reflect.ValueOf(f[c]))
		}
		return out
	}
	switch v.Kind() { // a pointer is to another model
	case reflect.Struct:
		for i := range v.NumField() {
			out = appendFigures(out, name+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			out = appendFigures(out, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	}
	return out
}

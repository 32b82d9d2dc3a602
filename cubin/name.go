package cubin

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Bounds of what is demangled; longer names are shown as they are.
const (
	maxMangled   = 1 << 14
	maxDemangled = 14 // as a power of two
)

// Demangle returns a C++ symbol as its author wrote it, with template arguments and without parameters: scale<3> for
// _Z5scaleILi3EEvPfi. Other names are returned as they are.
func Demangle(symbol string) string {
	if len(symbol) > maxMangled {
		return symbol
	}
	name, err := demangle.ToString(symbol, demangle.NoParams, demangle.NoEnclosingParams, demangle.MaxLength(maxDemangled))
	if err != nil {
		return symbol
	}
	return withoutTags(name)
}

// ParameterTypes are the types of a function's parameters as its C++ symbol has them, nil for other names: float const* and int for _Z5scalePKfi.
func ParameterTypes(symbol string) (list []string) {
	if len(symbol) > maxMangled {
		return nil
	}
	tree, err := demangle.ToAST(symbol)
	if err != nil {
		return nil
	}
	typed, ok := tree.(*demangle.Typed)
	if !ok {
		return nil
	}
	function, ok := typed.Type.(*demangle.FunctionType)
	if !ok {
		return nil
	}
	for _, a := range function.Args {
		if name := demangle.ASTToString(a, demangle.MaxLength(maxDemangled)); name != "void" {
			list = append(list, name)
		}
	}
	return list
}

// withoutTags drops ABI tags, [abi:v1]. Numba puts the number of a compilation and its flags there, over a hundred letters.
func withoutTags(name string) string {
	const tag = "[abi:"
	for {
		before, rest, found := strings.Cut(name, tag)
		_, after, closed := strings.Cut(rest, "]")
		if !found || !closed {
			return name
		}
		name = before + after
	}
}

// functionName splits the symbol of a function that lies in the section of that name: the compiler puts
// $kernel$ before the name of a device function and $__internal_0_$ before that of a helper of its own.
func functionName(section, symbol string) (mangled string, kind FunctionKind) {
	if rest, ok := strings.CutPrefix(symbol, "$"+section+"$"); ok {
		return rest, helperKind(rest)
	}
	if rest, ok := strings.CutPrefix(symbol, "$__internal_"); ok {
		if _, name, ok := strings.Cut(rest, "$"); ok {
			return name, InternalFunction
		}
		return symbol, InternalFunction
	}
	return symbol, helperKind(symbol)
}

// helperKind tells the compiler's helpers, which linked files hold under their plain names, from other functions.
func helperKind(name string) FunctionKind {
	if strings.HasPrefix(name, "__cuda_sm") || strings.HasPrefix(name, "__internal_") {
		return InternalFunction
	}
	return DeviceFunction
}

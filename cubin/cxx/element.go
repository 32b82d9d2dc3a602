package cxx

import (
	"slices"
	"strings"
)

// An Element is a type of data in the names of launch files (f32), and how many of it a type holds (4 of float4). The zero value is no such type.
type Element struct {
	Name  string
	Count int
}

// sizes of elements, bytes.
var sizes = map[string]int{"i8": 1, "u8": 1, "i16": 2, "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}

// Bytes is the size of the type.
func (e Element) Bytes() int { return sizes[e.Name] * e.Count }

// elements are the types that CUDA C++ on 64-bit Linux gives names to, vectors aside.
var elements = map[string]string{
	"char": "i8", "signed char": "i8", "int8_t": "i8", "unsigned char": "u8", "uint8_t": "u8", "uchar": "u8", "bool": "u8",
	"short": "i16", "int16_t": "i16", "unsigned short": "u16", "uint16_t": "u16", "ushort": "u16",
	"int": "i32", "signed": "i32", "int32_t": "i32", "unsigned": "u32", "unsigned int": "u32", "uint32_t": "u32", "uint": "u32",
	"long": "i64", "long long": "i64", "long int": "i64", "long long int": "i64", "int64_t": "i64", "ptrdiff_t": "i64", "ssize_t": "i64",
	"unsigned long": "u64", "unsigned long long": "u64", "unsigned long int": "u64", "unsigned long long int": "u64", "uint64_t": "u64", "size_t": "u64", "ulong": "u64", "longlong": "i64", "ulonglong": "u64",
	"half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "nv_bfloat16": "bf16", "float": "f32", "double": "f64",
	"half2": "f16 2", "__half2": "f16 2", "__nv_bfloat162": "bf16 2", "nv_bfloat162": "bf16 2",
}

// ElementOf is the element of a type, qualifiers and references to it aside.
func ElementOf(name string) Element {
	words := strings.FieldsFunc(strings.ReplaceAll(name, "std::", ""), func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' || r == '&' })
	words = slices.DeleteFunc(words, func(w string) bool {
		return slices.Contains([]string{"const", "volatile", "__restrict__", "__restrict", "struct"}, w)
	})
	name = strings.Join(words, " ")
	if e, ok := elements[name]; ok {
		if e, two := strings.CutSuffix(e, " 2"); two {
			return Element{e, 2}
		}
		return Element{e, 1}
	}
	if n := len(name) - 1; n > 0 && '1' <= name[n] && name[n] <= '4' { // float4
		if e, ok := elements[name[:n]]; ok && !strings.HasSuffix(e, " 2") {
			return Element{e, int(name[n] - '0')}
		}
	}
	return Element{}
}

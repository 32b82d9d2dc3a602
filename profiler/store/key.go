// Package store keeps results and memory by content key: what was computed once is not computed again. A [Key] is the SHA-256 of a canonical
// encoding of all that a result depends on ([Encoder]); a [Folder] holds blobs by the hash of their contents, and results by their keys.
// Everything that is read is checked: what is lost or damaged is a miss. The same key twice with results that differ in a byte is an
// error, as results are deterministic.
package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A Key is a SHA-256.
type Key [sha256.Size]byte

// String is the key in hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// ParseKey reads what String writes.
func ParseKey(text string) (k Key, err error) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != len(k) {
		return k, fmt.Errorf("%.80q is not a key of %d hexadecimal digits", text, 2*len(k))
	}
	copy(k[:], data)
	return k, nil
}

// MarshalText makes JSON write keys as String does.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (k *Key) UnmarshalText(text []byte) (err error) {
	*k, err = ParseKey(string(text))
	return err
}

// KeyOf is the key of a blob.
func KeyOf(data []byte) Key { return sha256.Sum256(data) }

// Program is the key of the running program, on which what it computes depends. A number that is raised by hand whenever results may change
// would be forgotten some day, and a result that is wrong without a word is worse than one that is computed again.
var Program = sync.OnceValues(func() (Key, error) {
	name, err := os.Executable()
	if err != nil {
		return Key{}, err
	}
	data, err := os.ReadFile(name)
	return KeyOf(data), err
})

// An Encoder makes keys. What it hashes is a sequence of fields: each a name and a value with its type, both with their lengths before
// them, so that no two different sequences have the same bytes.
type Encoder struct {
	sum hash.Hash
	err error
}

// NewEncoder begins a key. The kind says what it is a key of, and in which version: keys of different kinds never meet.
func NewEncoder(kind string) *Encoder {
	e := &Encoder{sum: sha256.New()}
	e.text('k', kind)
	return e
}

// skipped are the names of fields that say where a figure comes from and change no result.
var skipped = []string{"Source"}

// Field adds a named value: booleans, numbers, strings, bytes, and arrays, slices, maps with string keys, structs and pointers of these. Of
// structs all exported fields count, each with its name, so that one that is added later is a part of the key without anybody's
// doing; only fields called Source do not. Other kinds of values are an error of Sum.
func (e *Encoder) Field(name string, value any) {
	e.text('f', name)
	e.value(reflect.ValueOf(value))
}

// Sum is the key of what was added.
func (e *Encoder) Sum() (k Key, err error) {
	copy(k[:], e.sum.Sum(nil))
	return k, e.err
}

func (e *Encoder) text(tag byte, s string) {
	e.number(tag, uint64(len(s)))
	e.sum.Write([]byte(s))
}

func (e *Encoder) number(tag byte, n uint64) {
	var b [9]byte
	b[0] = tag
	binary.LittleEndian.PutUint64(b[1:], n)
	e.sum.Write(b[:])
}

func (e *Encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		e.number('n', 0)
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		e.number('b', n)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.number('i', uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.number('u', v.Uint())
	case reflect.Float32, reflect.Float64:
		e.number('d', math.Float64bits(v.Float()))
	case reflect.String:
		e.text('s', v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			e.number('n', 0)
			return
		}
		e.value(v.Elem())
	case reflect.Slice, reflect.Array:
		e.number('l', uint64(v.Len()))
		for i := range v.Len() {
			e.value(v.Index(i))
		}
	case reflect.Map:
		e.mapping(v)
	case reflect.Struct:
		e.structure(v)
	default:
		e.fail(v)
	}
}

func (e *Encoder) fail(v reflect.Value) {
	if e.err == nil {
		e.err = fmt.Errorf("a %s has no place in a key", v.Type())
	}
}

// mapping encodes a map by its sorted keys.
func (e *Encoder) mapping(v reflect.Value) {
	if v.Type().Key().Kind() != reflect.String {
		e.fail(v)
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	e.number('m', uint64(len(keys)))
	for _, k := range keys {
		e.text('f', k.String())
		e.value(v.MapIndex(k))
	}
}

func (e *Encoder) structure(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && !slices.Contains(skipped, f.Name) {
			e.text('f', f.Name)
			e.value(v.Field(i))
		}
	}
	e.number('e', 0)
}

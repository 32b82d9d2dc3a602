package launch

import (
	"strings"
	"testing"
)

// What a texture or a surface cannot be is an error that names it.
func TestTextureErrors(t *testing.T) {
	for _, c := range []struct{ arg, want string }{
		{"{texture: {buffer: b, type: f32, dims: [8], colour: 1}}", "colour"},
		{"{texture: {type: f32, dims: [8]}}", "the buffer is missing"},
		{"{texture: {buffer: b, dims: [8]}}", "the type is missing"},
		{"{texture: {buffer: b, type: f32}}", "the dims are missing"},
		{"{texture: {buffer: b, type: f64, dims: [8]}}", "f64"},
		{"{texture: {buffer: b, type: f32, dims: [8], channels: 3}}", "1, 2 or 4 channels"},
		{"{texture: {buffer: b, type: u8, dims: [8], filter: linear}}", "cannot be filtered"},
		{"{texture: {buffer: b, type: f32, dims: [8], address: [wrap]}}", "neither wrap nor mirror"},
		{"{texture: {buffer: b, type: u8, dims: [8], srgb: true}}", "read as fractions"},
		{"{texture: {buffer: b, type: f32, dims: [8], offset: 4}}", "512"},
		{"{surface: {buffer: b, type: f32, dims: [8, 8], pitch: 16}}", "the next begins after 16"},
		{"{surface: {buffer: b, type: f32, dims: [8], filter: linear}}", "filter"},
	} {
		text := "module: m.cubin\nbuffers:\n  b: {type: f32, shape: [64]}\nlaunches:\n  - {kernel: k, grid: [1], block: [1], args: [" + c.arg + "]}\n"
		if _, err := Parse("test.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.arg, err, c.want)
		}
	}
}

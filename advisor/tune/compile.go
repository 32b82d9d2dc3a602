package tune

import (
	"context"
	"errors"
	"slices"

	"gpa/cubin"
	"gpa/cubin/sass"
)

// OutName is the name of the cubin in the folder in which a compiler runs.
const OutName = outName

// Compile makes a cubin of a source file in a folder. [Refused] tells an error that the compiler had against the source from others. A compiler
// that still runs when ctx ends is killed with all that it has started.
func (c *Compiler) Compile(ctx context.Context, folder, in string, arch sass.Arch, flags []string) (*cubin.File, error) {
	return c.compile(ctx, folder, in, arch, flags)
}

// Refused reports whether an error of Compile is what the compiler said against a source.
func Refused(err error) bool {
	var said compileError
	return errors.As(err, &said)
}

// Words are the command's, with its placeholders.
func (c *Compiler) Words() []string { return slices.Clone(c.words) }

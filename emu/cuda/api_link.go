package cuda

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A link is a CUlinkState: the linker and PTX assembler of the driver. gpa has neither. It runs ptxas where the user has it; several
// inputs are not linked.
type link struct {
	handle  uint64
	context *driverContext
	options jitOptions
	input   []byte
	inputs  int
	cubin   *allocation // what cuLinkComplete returned
}

func (l *link) owner() *driverContext { return l.context }
func (l *link) discard(p *process) {
	if l.cubin != nil {
		p.drop(l.cubin)
	}
}

var linkFunctions = []function{
	{"cuLinkCreate_v2", "ioop", currentContext, linkCreate},
	{"cuLinkAddData_v2", "nipnoioo", currentContext, linkAddData},
	{"cuLinkAddFile_v2", "nipioo", currentContext, linkAddFile},
	{"cuLinkComplete", "npo", currentContext, linkComplete},
	{"cuLinkDestroy", "n", currentContext, linkDestroy},
}

// Kinds of inputs (CUjitInputType).
const (
	inputCubin  = 0
	inputPTX    = 1
	inputFatbin = 2
)

func linkCreate(c *call) Result {
	o, r := c.jitOptions(int(c.a[0]), c.a[1], c.a[2])
	if r != Success {
		return r
	}
	l := &link{context: c.context, options: o}
	l.handle = c.add(l)
	return c.out64(c.a[3], l.handle)
}

func linkAddData(c *call) Result {
	if c.a[3] > maxImage {
		return ErrInvalidValue
	}
	data := make([]byte, c.a[3])
	if r := c.load(c.a[2], data); r != Success {
		return r
	}
	return c.addInput(data)
}

func linkAddFile(c *call) Result {
	data, r := c.fileOf(c.a[2])
	if r != Success {
		return r
	}
	return c.addInput(data)
}

func (c *call) addInput(data []byte) Result {
	l, ok := find[*link](c.process, c.a[0])
	if !ok {
		return ErrInvalidHandle
	}
	switch c.a[1] {
	case inputCubin, inputPTX, inputFatbin:
	default:
		return c.server.lack(fmt.Sprintf("%s with input type %d", c.function.name, c.a[1]))
	}
	l.input = data
	l.inputs++
	return Success
}

func linkComplete(c *call) Result {
	l, ok := find[*link](c.process, c.a[0])
	switch {
	case !ok:
		return ErrInvalidHandle
	case l.inputs != 1:
		return c.server.lack(fmt.Sprintf("%s of %d inputs", c.function.name, l.inputs))
	}
	code, r := c.code(l.input, l.options)
	if r != Success {
		return r
	}
	if r := c.mapDevice(); r != Success {
		return r
	}
	l.discard(c.process)
	a, err := c.device.take(uint64(len(code)), stagingMemory, "linked code")
	if err != nil {
		return ErrOutOfMemory
	}
	copy(a.data, code)
	l.cubin = a
	c.out64(c.a[1], a.addr)
	return c.out64(c.a[2], a.size)
}

func linkDestroy(c *call) Result {
	l, ok := find[*link](c.process, c.a[0])
	if !ok {
		return ErrInvalidHandle
	}
	l.discard(c.process)
	delete(c.handles, l.handle)
	return Success
}

// pathOf reads a path of the client, which may begin at the client's own working folder.
func (c *call) pathOf(addr uint64) (string, Result) {
	path, r := c.text(addr, maxName)
	if r == Success && !filepath.IsAbs(path) {
		path = filepath.Join(fmt.Sprintf("/proc/%d/cwd", c.pid), path)
	}
	return path, r
}

// fileOf reads the file that a path of the client names, by the client's own working folder.
func (c *call) fileOf(addr uint64) ([]byte, Result) {
	path, r := c.pathOf(addr)
	if r != Success {
		return nil, r
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, ErrFileNotFound
	case err != nil:
		return nil, ErrInvalidImage
	}
	return data, Success
}

// jitOptions are those of CUjit_option that gpa heeds.
type jitOptions struct {
	registers   uint64 // a thread at most, 0 for any number
	lines       bool
	errorLog    uint64 // where a message goes
	errorLength uint64 // bytes that fit there
}

// Numbers of options.
const (
	optionRegisters   = 0
	optionErrorLog    = 5
	optionErrorLength = 6
	optionDebug       = 11
	optionLines       = 13
	maxOptions        = 64
)

// jitOptions reads options: their numbers, and values each in the place of a pointer.
func (c *call) jitOptions(n int, numbers, values uint64) (o jitOptions, r Result) {
	if n == 0 {
		return o, Success
	}
	if n > maxOptions || numbers == 0 || values == 0 {
		return o, ErrInvalidValue
	}
	list := make([]byte, 4*n)
	if r := c.load(numbers, list); r != Success {
		return o, r
	}
	words, r := c.words(values, n)
	for i, v := range words {
		switch le.Uint32(list[4*i:]) {
		case optionRegisters:
			o.registers = v & 0xffffffff
		case optionErrorLog:
			o.errorLog = v
		case optionErrorLength:
			o.errorLength = v & 0xffffffff
		case optionDebug, optionLines:
			o.lines = v&0xffffffff != 0
		}
	}
	return o, r
}

// assemble has ptxas make a cubin of PTX.
func (c *call) assemble(ptx []byte, o jitOptions) ([]byte, Result) {
	ptx = bytes.TrimRight(ptx, "\x00")
	if !bytes.Contains(ptx, []byte(".version")) {
		return nil, ErrInvalidImage
	}
	tool := c.ptxas()
	if tool == "" {
		c.server.problem(errors.New("the program hands over PTX, and there is no ptxas to assemble it: install a CUDA toolkit, or pip install nvidia-cuda-nvcc-cu12, and have ptxas on PATH"))
		return nil, ErrJITCompilerNotFound
	}
	folder, err := os.MkdirTemp(c.server.folder, "ptx-")
	if err != nil {
		return nil, ErrOperatingSystem
	}
	defer os.RemoveAll(folder)
	in, out := filepath.Join(folder, "in.ptx"), filepath.Join(folder, "out.cubin")
	if err := os.WriteFile(in, ptx, 0o600); err != nil {
		return nil, ErrOperatingSystem
	}
	args := []string{fmt.Sprintf("--gpu-name=sm_%d", c.gpu().Arch), "--output-file=" + out}
	if o.registers > 0 {
		args = append(args, fmt.Sprintf("--maxrregcount=%d", o.registers))
	}
	if o.lines {
		args = append(args, "--generate-line-info")
	}
	message, err := exec.CommandContext(c.server.ctx, tool, append(args, in)...).CombinedOutput()
	if err != nil {
		text := strings.ReplaceAll(string(message), folder+string(filepath.Separator), "")
		c.server.problem(fmt.Errorf("%s: ptxas: %s", c.function.name, strings.TrimSpace(text)))
		if o.errorLog != 0 && o.errorLength > 0 {
			c.store(o.errorLog, append([]byte(text[:min(len(text), int(o.errorLength)-1)]), 0))
		}
		return nil, ErrInvalidPTX
	}
	code, err := os.ReadFile(out)
	if err != nil {
		return nil, ErrOperatingSystem
	}
	return code, Success
}

// ptxas finds the assembler: on PATH, or among the Python packages that the program has loaded libraries from.
func (c *call) ptxas() string {
	if path, err := exec.LookPath("ptxas"); err == nil {
		return path
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", c.pid))
	if err != nil {
		return ""
	}
	const packages = "/site-packages/"
	for line := range strings.Lines(string(maps)) {
		at := strings.Index(line, "/")
		end := strings.Index(line, packages)
		if at < 0 || end < at {
			continue
		}
		for _, place := range []string{"nvidia/cuda_nvcc/bin/ptxas", "nvidia/cu13/bin/ptxas", "triton/backends/nvidia/bin/ptxas"} {
			if path, err := exec.LookPath(filepath.Join(line[at:end+len(packages)], place)); err == nil {
				return path
			}
		}
	}
	return ""
}

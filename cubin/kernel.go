package cubin

import (
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gpa/cubin/sass"
)

// readKernels reads the entry functions: those symbols that carry STO_CUDA_ENTRY.
func (r *reader) readKernels() error {
	seen := make(map[string]bool)
	for i := range r.symbols {
		s := &r.symbols[i]
		if !s.entry || s.section == 0 {
			continue
		}
		if seen[s.name] {
			return fmt.Errorf("two kernels %s", s.name)
		}
		seen[s.name] = true
		k, err := r.readKernel(i, s)
		if err != nil {
			return fmt.Errorf("kernel %s: %w", s.name, err)
		}
		r.file.Kernels = append(r.file.Kernels, k)
	}
	return nil
}

func (r *reader) readKernel(index int, s *symbol) (*Kernel, error) {
	code := r.codes[s.section]
	if code == nil {
		return nil, fmt.Errorf("lies in section %s", r.file.Sections[s.section].Name)
	}
	if s.value%sass.InstSize != 0 || int(s.value/sass.InstSize) >= len(code.Insts) {
		return nil, fmt.Errorf("entry at 0x%x of 0x%x", s.value, len(code.Insts)*sass.InstSize)
	}
	k := &Kernel{
		Name: s.name, Demangled: Demangle(s.name), Code: code, Entry: s.value,
		IndirectTargets: code.IndirectTargets,
	}
	if err := r.readKernelInfo(k); err != nil {
		return nil, fmt.Errorf("section %s%s: %w", prefixInfo, s.name, err)
	}
	if err := r.sizeKernel(k, index); err != nil {
		return nil, err
	}
	return k, checkParams(k)
}

// sharedReserved is how many bytes of shared memory belong to the system on sm_90. There a section .nv.shared counts them,
// and static variables begin behind them.
const sharedReserved = 1024

// sizeKernel finds what a kernel needs of registers and memory.
func (r *reader) sizeKernel(k *Kernel, symbol int) error {
	text, use := &r.file.Sections[k.Code.Section], r.stack[symbol]
	k.Registers = use.registers
	if k.Registers == 0 {
		k.Registers = int(text.Info >> 24) // sh_info of a .text section, up to sm_89
	}
	k.Barriers = int(text.Flags >> 20 & 0x7f)
	k.MinStack, k.LocalFrame = use.minStack, max(use.minStack, r.frames(k, use.frame))
	if shared, ok := r.byName[prefixShared+k.Name]; ok {
		size := r.file.Sections[shared].Size
		if size > maxShared {
			return fmt.Errorf("%d bytes of static shared memory", size)
		}
		k.SharedStatic = int(size)
		if r.file.Arch >= sass.SM90 {
			k.SharedReserved = min(sharedReserved, k.SharedStatic)
			k.SharedStatic -= k.SharedReserved
		}
	}
	if bank, ok := r.byName[".nv.constant0."+k.Name]; ok {
		k.ConstBank0Size = int(r.file.Sections[bank].Size)
	}
	if bank, ok := r.byName[".nv.constant2."+k.Name]; ok {
		k.ConstBank2 = r.file.SectionData(bank)
	}
	return nil
}

// frames adds up the stack frames that a call chain from the kernel can meet without recursion: its own, those of the
// device functions in its section, and those of the sections that hold device functions only. EIATTR_MIN_STACK_SIZE is
// exact, but 0 where the compiler could not follow the calls.
func (r *reader) frames(k *Kernel, own int) int {
	sum := own + r.sharedFrames
	if k.Code.Functions[0].Kind == KernelFunction {
		sum += r.frameSums[k.Code.Index]
	}
	return sum
}

// deviceFrames adds up the stack frames of the functions of the section that are no kernels.
func (c *Code) deviceFrames() int {
	sum := 0
	for i := range c.Functions {
		if f := &c.Functions[i]; f.Kind != KernelFunction {
			sum += f.Frame
		}
	}
	return sum
}

// readKernelInfo reads the kernel's own attributes.
func (r *reader) readKernelInfo(k *Kernel) error {
	list, err := parseInfo(r.infoOf(k.Code.Section))
	if err != nil {
		return err
	}
	for i := range list {
		if err := r.applyAttribute(k, &list[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(k.Params, func(a, b Param) int { return a.Ordinal - b.Ordinal })
	return nil
}

// applyAttribute notes one attribute of a kernel; those that say nothing to a launch are passed over.
func (r *reader) applyAttribute(k *Kernel, a *attribute) error {
	var err error
	switch a.code {
	case attrMaxThreads:
		k.MaxThreads, err = a.threads()
	case attrReqThreads:
		k.ReqThreads, err = a.threads()
	case attrCluster:
		k.Cluster, err = a.threads()
	case attrParam, attrParamV2:
		var p Param
		if p, err = readParam(a); err == nil {
			k.Params = append(k.Params, p)
		}
	case attrParamCBank:
		var words []uint32
		if words, err = a.words(2); err == nil {
			k.ParamBase, k.ParamSize = int(words[1]&0xffff), int(words[1]>>16)
		}
	case attrCBankParamSize:
		if k.ParamSize == 0 {
			k.ParamSize = int(a.short)
		}
	case attrSyscallOffsets:
		k.Syscalls = a.pcs()
	case attrExterns:
		k.Externs, err = r.externs(a)
	}
	return err
}

// threads returns three dimensions.
func (a *attribute) threads() (dims [3]int, err error) {
	words, err := a.words(3)
	if err != nil {
		return dims, err
	}
	for i := range dims {
		dims[i] = int(words[i])
	}
	return dims, nil
}

// externs returns the names of the symbols in an attribute.
func (r *reader) externs(a *attribute) ([]string, error) {
	words, err := a.words(0)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(words))
	for i, w := range words {
		s, err := r.symbolAt(w)
		if err != nil {
			return nil, err
		}
		names[i] = s.name
	}
	return names, nil
}

// readParam reads EIATTR_KPARAM_INFO: u32 index, u16 ordinal, u16 offset, u32 whose bits 18 to 31 are the size. In the second version,
// whose sizes do not fit there, they are bits 0 to 15.
func readParam(a *attribute) (Param, error) {
	if len(a.value) < 12 {
		return Param{}, fmt.Errorf("attribute 0x%02x: %w", a.code, errShortAttribute)
	}
	le := binary.LittleEndian
	size := int(le.Uint32(a.value[8:]) >> 18)
	if a.code == attrParamV2 {
		size = int(le.Uint16(a.value[8:]))
	}
	return Param{Ordinal: int(le.Uint16(a.value[4:])), Offset: int(le.Uint16(a.value[6:])), Size: size}, nil
}

// checkParams makes sure that the parameters are all there and lie in the bank.
func checkParams(k *Kernel) error {
	for i, p := range k.Params {
		if p.Ordinal != i {
			return fmt.Errorf("parameter %d of %d is missing", i, len(k.Params))
		}
		if p.Offset+p.Size > k.ParamSize {
			return fmt.Errorf("parameter %d: bytes %d to %d of %d", i, p.Offset, p.Offset+p.Size, k.ParamSize)
		}
	}
	return nil
}

// Kernel returns the kernel of that name: the symbol, or the demangled name without parameters (scale<3>) where only
// one kernel has it. The error lists the kernels that there are.
func (f *File) Kernel(name string) (*Kernel, error) {
	var found []*Kernel
	for _, k := range f.Kernels {
		if k.Name == name {
			return k, nil
		}
		if k.Demangled == name {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, fmt.Errorf("%s: no kernel %q; %s", f.Name, name, f.kernelList())
	}
	names := make([]string, len(found))
	for i, k := range found {
		names[i] = k.Name
	}
	return nil, fmt.Errorf("%s: %q is ambiguous: %s", f.Name, name, strings.Join(names, ", "))
}

// FindKernel returns the kernel that somebody means: that of the name, as [File.Kernel] has it, else the only one whose name is the same
// but for spaces, anonymous namespaces and the suffixes of numbers (scale<32> is scale<32u>), else the only one that begins so.
func (f *File) FindKernel(name string) (*Kernel, error) {
	k, err := f.Kernel(name)
	if err == nil || slices.ContainsFunc(f.Kernels, func(k *Kernel) bool { return k.Demangled == name }) {
		return k, err
	}
	wanted := spelling(name)
	for _, matches := range []func(k *Kernel) bool{
		func(k *Kernel) bool { return spelling(k.Demangled) == wanted },
		func(k *Kernel) bool {
			return strings.HasPrefix(spelling(k.Demangled), wanted) || strings.HasPrefix(k.Name, name)
		},
	} {
		var found []*Kernel
		for _, k := range f.Kernels {
			if matches(k) {
				found = append(found, k)
			}
		}
		switch {
		case wanted == "" || len(found) == 0:
		case len(found) == 1:
			return found[0], nil
		default:
			var names []string
			for _, k := range found {
				names = append(names, k.Demangled)
			}
			return nil, fmt.Errorf("%s: %q is ambiguous: %s", f.Name, name, strings.Join(names, ", "))
		}
	}
	return nil, err
}

// suffixes are those of unsigned and long numbers.
var suffixes = regexp.MustCompile(`\b([0-9]+)[uUlL]+\b`)

// spelling is a name without what people leave out.
func spelling(name string) string {
	name = strings.ReplaceAll(name, "(anonymous namespace)::", "")
	return suffixes.ReplaceAllString(strings.Join(strings.Fields(name), ""), "$1")
}

// kernelList says which kernels a file has.
func (f *File) kernelList() string {
	const most = 20
	if len(f.Kernels) == 0 {
		return "it has none"
	}
	var names []string
	for _, k := range f.Kernels[:min(len(f.Kernels), most)] {
		names = append(names, k.Demangled)
	}
	if more := len(f.Kernels) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return "it has " + strings.Join(names, ", ")
}

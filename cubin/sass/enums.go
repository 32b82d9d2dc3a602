package sass

import "slices"

// The spellings of modifier values, by code.
var (
	roundNames   = enum{text: []string{"", ".RM", ".RP", ".RZ"}}
	integralName = enum{text: []string{"", ".FLOOR", ".CEIL", ".TRUNC"}}
	ftzNames     = enum{text: []string{"", ".FTZ"}}
	fmzNames     = enum{text: []string{"", ".FMZ", ".FTZ"}, value: []uint16{FTZNone, FTZFMZ, FTZFlush}}
	scaleNames   = enum{text: []string{bad, ".D8", ".D4", ".D2", "", ".M2", ".M4", ".M8"},
		value: []uint16{0, ScaleD8, ScaleD4, ScaleD2, ScaleNone, ScaleM2, ScaleM4, ScaleM8}}
	intCompare = enum{text: []string{".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".T"},
		value: []uint16{CompareF, CompareLT, CompareEQ, CompareLE, CompareGT, CompareNE, CompareGE, CompareT}}
	floatCompare = enum{text: []string{".F", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM",
		".NAN", ".LTU", ".EQU", ".LEU", ".GTU", ".NEU", ".GEU", ".T"}}
	doubleCompare = enum{text: []string{".MIN", ".LT", ".EQ", ".LE", ".GT", ".NE", ".GE", ".NUM",
		".NAN", ".LTU", ".EQU", ".LEU", ".GTU", ".NEU", ".GEU", ".MAX"},
		value: []uint16{CompareMIN, CompareLT, CompareEQ, CompareLE, CompareGT, CompareNE, CompareGE, CompareNUM,
			CompareNAN, CompareLTU, CompareEQU, CompareLEU, CompareGTU, CompareNEU, CompareGEU, CompareMAX}}
	boolNames   = enum{text: []string{".AND", ".OR", ".XOR"}}
	mufuNames   = enum{text: []string{".COS", ".SIN", ".EX2", ".LG2", ".RCP", ".RSQ", bad, bad, ".SQRT"}}
	mufuNames75 = enum{text: append(slices.Clone(mufuNames.text), ".TANH")}
	mufu64Names = enum{text: []string{bad, bad, bad, bad, bad, bad, ".RCP64H", ".RSQ64H"}}
	dirNames    = enum{text: []string{".L", ".R"}}
	shfTypes    = enum{text: []string{".S64", ".U64", ".S32", ".U32"},
		value: []uint16{TypeS64, TypeU64, TypeS32, TypeU32}}
	unsignedNames = enum{text: []string{".U32", ""}, value: []uint16{1, 0}}
	unsigned8     = enum{text: []string{".U8", ""}, value: []uint16{1, 0}}
	prmtNames     = enum{text: []string{"", ".F4E", ".B4E", ".RC8", ".ECL", ".ECR", ".RC16"}}
	byteNames     = enum{text: []string{"", ".B1", ".B2", ".B3"}}
	halfByte      = enum{text: []string{"", ".H1"}}
	swizzleNames  = enum{text: []string{"", ".F32", ".H0_H0", ".H1_H1"}}
	negHighNames  = enum{text: append(slices.Clone(swizzleNames.text), ".H0_NH1")}
	pairNames     = enum{text: []string{".F32x2.HI_LO", ".F32x2.LO_HI", ".F32"}}
	pairSignNames = enum{text: append(append(slices.Clone(pairNames.text), bad), ".F32x2.HI_LO.NP", ".F32x2.LO_HI.NP", ".F32.NP")}
	// descriptorNames spell the bit of described addresses in text for the assembler.
	descriptorNames = enum{text: []string{"", ".101"}}
	signNames       = enum{text: []string{".SIGN"}}
	layoutNames     = enum{text: []string{".ROW", ".COL"}}
	outNames        = enum{text: []string{"", ".F32"}}

	sizeNames    = enum{text: []string{".U8", ".S8", ".U16", ".S16", "", ".64", ".128"}}
	globalSizes  = enum{text: []string{".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".U.128"}}
	constSizes   = enum{text: []string{".U8", ".S8", ".U16", ".S16", "", ".64"}}
	cs2rSizes    = enum{text: []string{".32", ""}, value: []uint16{Size32, Size64}}
	scopeNames   = enum{text: []string{".CTA", ".SM", ".GPU", ".SYS"}}
	membarScopes = enum{text: []string{".CTA", ".SM", ".GPU", ".SYS", bad, ".VC"},
		value: []uint16{ScopeCTA, ScopeSM, ScopeGPU, ScopeSYS, 0, ScopeVC}}
	semNames      = enum{text: []string{".SC", ".ALL", ""}}
	loadOrders    = enum{text: []string{".CONSTANT", "", ".STRONG", ".MMIO"}}
	storeOrders   = enum{text: []string{bad, "", ".STRONG", ".MMIO"}}
	atomOrders    = enum{text: []string{bad, "", ".STRONG"}}
	evictNames    = enum{text: []string{".EF", "", ".EL", ".LU", ".EU", ".NA"}}
	atomOps       = enum{text: []string{".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR", ".EXCH"}}
	globalAtomOps = enum{text: []string{".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR", ".EXCH", ".SAFEADD"}}
	atomTypes     = enum{text: []string{"", ".S32", ".64", ".F32.FTZ.RN", ".F16x2.RN", ".S64", ".F64.RN"},
		value: []uint16{TypeU32, TypeS32, TypeU64, TypeF32, TypeF16x2, TypeS64, TypeF64}}
	intAtoms   = enum{text: []string{"", ".S32", ".64", ".S64"}, value: []uint16{TypeU32, TypeS32, TypeU64, TypeS64}}
	floatAtoms = enum{text: []string{".F16x2.RN", ".F16x4.RN", ".F16x8.RN", ".BF16x2.RN", ".BF16x4.RN", ".BF16x8.RN", bad, bad, bad,
		".F32.FTZ.RN", ".F32x2.FTZ.RN", ".F32x4.FTZ.RN", ".F32.RN", ".F32x2.RN", ".F32x4.RN", ".F64.RN"},
		value: []uint16{TypeF16x2, TypeF16x4, TypeF16x8, TypeBF16x2, TypeBF16x4, TypeBF16x8, 0, 0, 0,
			TypeF32, TypeF32x2, TypeF32x4, TypeF32RN, TypeF32x2RN, TypeF32x4RN, TypeF64}}
	floatRedOps = enum{text: []string{".ADD", ".MIN", ".MAX"}}
	redOps      = enum{text: []string{".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"}}
	casTypes    = enum{text: []string{"", ".S32", ".64"}, value: []uint16{TypeU32, TypeS32, TypeU64}}
	casName     = enum{text: []string{".CAS"}, value: []uint16{AtomCAS}}
	castNames   = enum{text: []string{".CAS", ".CAST", bad, ".CAST.SPIN"}, value: []uint16{AtomCAS, AtomCAST, 0, AtomCASTSPIN}}
	ldcNames    = enum{text: []string{"", ".IL", ".IS", ".ISL"}}
	cctlOps     = enum{text: []string{".PF1", ".PF2", ".WB", ".IV", bad, ".RS"},
		value: []uint16{CctlPF1, CctlPF2, CctlWB, CctlIV, 0, CctlRS}}
	cctlAll = enum{text: []string{bad, bad, bad, bad, ".IVALL", bad, ".IVALLP", ".WBALL", ".WBALLP"},
		value: []uint16{0, 0, 0, 0, CctlIVALL, 0, CctlIVALLP, CctlWBALL, CctlWBALLP}}
	cctlLevels = enum{text: []string{bad, bad, bad, bad, bad, bad, bad, bad, bad, ".PML2", ".DML2", ".RML2"},
		value: []uint16{0, 0, 0, 0, 0, 0, 0, 0, 0, CctlPML2, CctlDML2, CctlRML2}}
	cctllAll = enum{text: []string{bad, bad, bad, bad, ".IVALL", bad, bad, ".WBALL"},
		value: []uint16{0, 0, 0, 0, CctlIVALL, 0, 0, CctlWBALL}}
	prefetchNames = enum{text: []string{"", ".LTC64B", ".LTC128B", ".LTC256B"}, value: []uint16{0, 64, 128, 256}}
	cctlCache     = enum{text: []string{"", ".U", ".C", ".I"}}
	spaceName     = enum{text: []string{".G", ".L", ".S"}, value: []uint16{SpaceG, SpaceL, SpaceS}}

	matrixNames = enum{text: []string{".M88", ".MT88", ".M816", ".M832"}}
	countNames  = enum{text: []string{"", ".2", ".4"}, value: []uint16{Size32, Size64, Size128}}
	laneTypes   = enum{text: []string{".U32", "", ".U16x2", ".S16x2"}, value: []uint16{TypeU32, TypeS32, TypeU16x2, TypeS16x2}}
	shflNames   = enum{text: []string{".IDX", ".UP", ".DOWN", ".BFLY"}}
	voteNames   = enum{text: []string{".ALL", ".ANY", ".EQ"}}
	barReds     = enum{text: []string{".POPC", ".AND", ".OR"}}
	braNames    = enum{text: []string{"", ".U", ".DIV", ".CONV"}}
	depthNames  = enum{text: []string{"", ".INC", ".DEC"}}
	exitNames   = enum{text: []string{"", ".KEEPREFCOUNT", ".PREEMPTED"}}
	bptNames    = enum{text: []string{bad, bad, ".PAUSE", ".TRAP", ".INT", ".DRAIN", ".PAUSE_QUIET"},
		value: []uint16{0, 0, BptPAUSE, BptTRAP, BptINT, BptDRAIN, BptPAUSEQUIET}}

	levelNames   = enum{text: []string{"", ".LZ", ".LB", ".LL", ".LC", ".LB.LC"}}
	levelNames75 = enum{text: append(slices.Clone(levelNames.text), ".LC.FDV")}
	texHalfNames = enum{text: []string{"", ".F16.RN", ".F16.RZ"}}
	texDimNames  = enum{text: []string{"1D", "2D", "3D", "CUBE", "ARRAY_1D", "ARRAY_2D", bad, "ARRAY_CUBE"}}
	surfDimNames = enum{text: []string{".1D", ".1D_BUFFER", ".1D_ARRAY", ".2D", ".2D_ARRAY", ".3D"}}
	clampNames   = enum{text: []string{".IGN", "", ".TRAP"}}
)

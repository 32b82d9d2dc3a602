package sass

// A ModKind names a modifier field, as in Round. The values that a field can have are the constants that begin with the
// field's name, as in RoundRZ; a field without such constants is a flag: 1 where the modifier is printed, 0 where not.
type ModKind uint8

// The modifier fields.
const (
	ModNone ModKind = iota

	// Arithmetic.
	Round    // rounding mode: RoundRN …; of conversions to integral values too
	FTZ      // denormals: FTZNone, FTZFlush, FTZFMZ
	Sat      // .SAT: clamp to [0, 1]; of HMMA .SATFINITE
	Compare  // comparison: CompareLT …
	BoolOp   // how the comparison joins the source predicate: BoolAND …
	BF       // .BF of FSET and HSET2: 1.0 instead of all ones for true
	HAnd     // .H_AND of HSETP2: one result, true when both halves are
	OutF32   // .F32 of HADD2, HMUL2, HFMA2: the result is one single-precision number
	MufuFn   // function of MUFU: MufuRCP …
	NTZ      // .NTZ of F2I: NaN becomes zero
	DstType  // type of the result of a conversion, of D in HMMA: TypeU32 …
	SrcType  // type of the source of a conversion, of C in HMMA: TypeU32 …; of A in IDP
	SrcType2 // type of the second source, B in IDP
	Scale    // factor of the result of FMUL: ScaleNone …

	// Integer.
	U32      // .U32 (of VABSDIFF4 .U8): operands are unsigned
	X        // .X: takes a carry in
	EX       // .EX of ISETP: compares the high words of a 64-bit comparison
	Wide     // .WIDE of IMAD: 64-bit result and addend
	HI       // .HI: the high word of the result
	SX32     // .SX32 of LEA: the high word of A is its sign extension
	Wrap     // .W: the shift is taken modulo the width
	Dir      // direction of SHF: DirL, DirR
	ShfType  // type of SHF: TypeU32, TypeS32, TypeU64, TypeS64
	SH       // .SH of FLO: the result is a shift amount, 31 minus the position
	PAnd     // .PAND of LOP3: Pd is the AND of the source predicate, not the OR
	PrmtMode // mode of PRMT: PrmtIDX …
	ByteSel  // which byte P2R and R2P work on: 0 to 3 (.B1 …)
	Acc      // .ACC of VABSDIFF4
	IdpMode  // mode of IDP: Idp4A, Idp2ALO, Idp2AHI

	// Memory.
	E        // .E: 64-bit address
	Size     // size of the access: SizeU8 …; of CS2R, BMOV Size32, Size64
	LoadU    // .U of a load or CCTL.U
	Scope    // scope of ordering: ScopeCTA …; of MEMBAR too
	Order    // memory ordering: OrderWeak …
	Sem      // semantics of MEMBAR: SemSC …
	MMIO     // .MMIO of MEMBAR
	Private  // .PRIVATE
	Evict    // cache eviction priority: EvictNormal …
	ZD       // .ZD: writes a predicate, zero data where it is false
	AtomOp   // operation of an atomic: AtomADD …
	AtomType // operand type of an atomic: TypeU32, TypeS32, TypeU64, TypeS64, TypeF32, TypeF64, TypeF16x2
	LdcMode  // addressing mode of LDC: LdcIA …
	CctlOp   // operation of CCTL: CctlPF1 …
	CctlSpc  // cache that CCTL works on: 0 data, 1 U, 2 C, 3 I
	Space    // memory space that QSPC asks for: SpaceG …
	Prefetch // .LTC64B …: bytes that a load brings into the L2 cache at the least: 0, 64, 128 or 256
	Bypass   // .BYPASS of LDGSTS: not through the L1 cache
	ZFill    // .ZFILL of LDGSTS: zeros for what lies before the address in its 16 bytes
	Matrix   // shape of LDSM and STSM: MatrixM88 …; their Size is the number of matrices

	// Warp-wide.
	ShflMode  // mode of SHFL: ShflIDX …
	VoteMode  // mode of VOTE: VoteALL …
	MatchMode // mode of MATCH: MatchALL, MatchANY
	MatchU64  // .U64 of MATCH
	ReduxOp   // operation of REDUX: ReduxAND …
	ElectKill // .IGNOREKILL of ELECT

	// Control flow.
	BarMode    // what BAR does: BarSYNC …
	BarRed     // reduction of BAR.RED: BarPOPC …
	Defer      // .DEFER_BLOCKING
	B2RMode    // what B2R reads: B2RBAR, B2RRESULT, B2RWARP
	BraMode    // .U, .DIV, .CONV of BRA: BraPlain …
	CallInc    // .INC, .DEC of the call depth: CallNone, CallINC, CallDEC
	Abs        // .ABS of CALL and RET: the address is absolute; otherwise .REL
	NoInc      // .NOINC of CALL, .NODEC of RET: the call depth stays
	ExitMode   // EXIT: 0, 1 KEEPREFCOUNT, 2 PREEMPTED
	NoAtExit   // .NO_ATEXIT of EXIT
	Clear      // .CLEAR of BMOV: the B register is zero afterwards
	PQuad      // .PQUAD of BMOV
	Collective // .COLLECTIVE of WARPSYNC
	Warp       // .WARP of NANOSLEEP
	Rand       // .RAND of NANOSLEEP
	LE         // .LE of DEPBAR: wait until at most count are outstanding, in order
	BptMode    // what BPT does: BptTRAP …

	// The uniform datapath.
	UR         // an operand is a uniform register; nothing is printed
	Descriptor // an address has a descriptor; nothing is printed
	BF16       // .BF16_V2: the halves are bfloat16
	Addr64     // a register behind a descriptor is a 64-bit address; nothing is printed

	// Tensor.
	MmaShape // shape of HMMA, IMMA, BMMA and DMMA: Mma884 …
	MmaStep  // step 0 to 3 of HMMA.884
	Sparse   // .SP: A has two of each four elements, an operand says which
	MmaOp    // what BMMA does with the bits of A and B: MmaXOR, MmaAND
	GmmaN    // columns of the 64 rows of HGMMA
	GmmaK    // depth of HGMMA
	NegA     // .negA of HGMMA
	NegB     // .negB of HGMMA

	// Half precision and minima.
	NaN     // .NAN of FMNMX and HMNMX2: NaN where a source is one
	XorSign // .XORSIGN of FMNMX and HMNMX2: the sign is the XOR of the sources'
	Relu    // .RELU: no less than zero
	Merge   // .MERGE_C of F2FP
	Lanes   // .S16x2 and the like of VIMNMX: TypeS32, TypeU32, TypeS16x2, TypeU16x2

	// The asynchronous units of sm_80 and sm_90.
	SyncsOp   // what SYNCS.ARRIVE counts: 0 arrivals and transactions, 1 .A1T0, 3 .A0TR, 5 .ART0
	SyncsRed  // 1 .TMASK, 2 .RED of SYNCS.ARRIVE
	OptOut    // .OPTOUT of SYNCS.ARRIVE
	TryWait   // .TRYWAIT of SYNCS.PHASECHK
	SyncSleep // .SYNCS of NANOSLEEP
	Arvcnt    // .ARVCNT of ARRIVES
	FenceView // what FENCE.VIEW.ASYNC orders: 0 shared, 1 global memory
	TmaDim    // dimensions of UTMALDG and UTMASTG: 1 to 5
	Im2Col    // .IM2COL
	Multicast // .MULTICAST
	GroupMode // what WARPGROUP does: 0 ARRIVE, 1 WAIT, 2 DEPBAR
	Flush     // .FLUSH of USETSHMSZ
	Alloc     // what USETMAXREG does: 1 DEALLOC, 2 TRY_ALLOC

	// Texture and surface.
	TexSCR      // .SCR: compact operands
	TexF16      // 1 .F16.RN, 2 .F16.RZ: packed results
	TexLevel    // level of detail: 0 computed, 1 .LZ, 2 .LB, 3 .LL, 4 .LC, 5 .LB.LC
	TexAOFFI    // .AOFFI: offsets in a register
	TexDC       // .DC: depth comparison
	TexNDV      // .NDV
	TexNODEP    // .NODEP
	TexMS       // .MS: multisampled
	TexCL       // .CL
	TexBindless // .B: texture header in a register
	SurfRaw     // .D: unformatted
	SurfBA      // .BA: the coordinate counts bytes
	SurfDim     // dimensions: 0 1D, 1 1D_BUFFER, 2 1D_ARRAY, 3 2D, 4 2D_ARRAY, 5 3D
	SurfClamp   // outside the surface: 0 .IGN, 2 .TRAP

	Fixed   // bits that always have the same value
	Obscure // a modifier that makes the instruction opaque ([Inst.Opaque]) where it is not 0

	NumModKinds
)

// Values of Round. RM, RP and RZ round to minus infinity (.FLOOR of a conversion), to plus infinity (.CEIL) and to
// zero (.TRUNC); RN rounds to nearest even.
const (
	RoundRN uint16 = iota
	RoundRM
	RoundRP
	RoundRZ
)

// Values of FTZ: FTZFlush flushes denormal inputs and results to zero, FTZFMZ additionally makes 0*x = 0.
const (
	FTZNone uint16 = iota
	FTZFlush
	FTZFMZ
)

// Values of Compare. Those with a U at the end are true of unordered operands too, those without are false (NE
// included); NUM is true of ordered ones, NAN of unordered ones. Integer comparisons use F to GE and T.
const (
	CompareF uint16 = iota
	CompareLT
	CompareEQ
	CompareLE
	CompareGT
	CompareNE
	CompareGE
	CompareNUM
	CompareNAN
	CompareLTU
	CompareEQU
	CompareLEU
	CompareGTU
	CompareNEU
	CompareGEU
	CompareT
	CompareMIN // of DSETP: Pd is true where A is the smaller
	CompareMAX
)

// Values of BoolOp.
const (
	BoolAND uint16 = iota
	BoolOR
	BoolXOR
)

// Values of MufuFn.
const (
	MufuCOS uint16 = iota
	MufuSIN
	MufuEX2
	MufuLG2
	MufuRCP
	MufuRSQ
	MufuRCP64H
	MufuRSQ64H
	MufuSQRT
	MufuTANH
)

// Values of the fields that name a type.
const (
	TypeNone uint16 = iota
	TypeU8
	TypeS8
	TypeU16
	TypeS16
	TypeU32
	TypeS32
	TypeU64
	TypeS64
	TypeF16
	TypeF32
	TypeF64
	TypeF16x2
	TypeBF16
	TypeTF32
	TypeU4
	TypeS4
	TypeS16x2
	TypeU16x2
	TypeE4M3
	TypeE5M2
	TypeF16x4
	TypeF16x8
	TypeBF16x2
	TypeBF16x4
	TypeBF16x8
	TypeF32x2
	TypeF32x4
	TypeF32RN // of atomics: denormals are kept
	TypeF32x2RN
	TypeF32x4RN
)

// Values of Dir.
const (
	DirL uint16 = iota
	DirR
)

// Values of PrmtMode.
const (
	PrmtIDX uint16 = iota
	PrmtF4E
	PrmtB4E
	PrmtRC8
	PrmtECL
	PrmtECR
	PrmtRC16
)

// Values of IdpMode.
const (
	Idp4A uint16 = iota
	Idp2ALO
	Idp2AHI
)

// Values of Size. Types narrower than 32 bits are extended when loaded.
const (
	SizeU8 uint16 = iota
	SizeS8
	SizeU16
	SizeS16
	Size32
	Size64
	Size128
	SizeU128 // LDG.U.128
)

// Values of Scope. SM and CTA print as they are encoded; MEMBAR.VC is a scope of its own.
const (
	ScopeCTA uint16 = iota
	ScopeSM
	ScopeGPU
	ScopeSYS
	ScopeVC
)

// Values of Order: CONSTANT promises that the data does not change during the kernel.
const (
	OrderConstant uint16 = iota
	OrderWeak
	OrderStrong
	OrderMMIO
)

// Values of Sem.
const (
	SemSC uint16 = iota
	SemALL
	SemNone
	SemMMIO
)

// Values of Evict: first, normal, last, last use, unchanged, no allocation.
const (
	EvictEF uint16 = iota
	EvictNormal
	EvictEL
	EvictLU
	EvictEU
	EvictNA
)

// Values of AtomOp. CASTSPIN is the compare and swap of shared memory that returns whether it succeeded.
const (
	AtomADD uint16 = iota
	AtomMIN
	AtomMAX
	AtomINC
	AtomDEC
	AtomAND
	AtomOR
	AtomXOR
	AtomEXCH
	AtomSAFEADD
	AtomCAS
	AtomCAST
	AtomCASTSPIN
	AtomPOPCINC // adds the number of lanes with the same address
	AtomARRIVE  // arrives at a transaction barrier
)

// Values of LdcMode.
const (
	LdcIA uint16 = iota
	LdcIL
	LdcIS
	LdcISL
)

// Values of CctlOp.
const (
	CctlPF1 uint16 = iota
	CctlPF2
	CctlWB
	CctlIV
	CctlIVALL
	CctlRS
	CctlIVALLP
	CctlWBALL
	CctlWBALLP
	CctlPML2 // prefetch into the L2 cache
	CctlDML2 // discard there
	CctlRML2 // reset the eviction priority there
)

// Values of Space.
const (
	SpaceS uint16 = iota // shared
	SpaceL               // local
	SpaceG               // global
)

// Values of ShflMode.
const (
	ShflIDX uint16 = iota
	ShflUP
	ShflDOWN
	ShflBFLY
)

// Values of VoteMode.
const (
	VoteALL uint16 = iota
	VoteANY
	VoteEQ
)

// Values of MatchMode.
const (
	MatchALL uint16 = iota
	MatchANY
)

// Values of ReduxOp. AND goes without saying.
const (
	ReduxAND uint16 = iota
	ReduxOR
	ReduxXOR
	ReduxSUM
	ReduxMIN
	ReduxMAX
)

// Values of BarMode.
const (
	BarSYNC uint16 = iota
	BarARV
	BarRED
	BarSCAN
	BarSYNCALL
)

// Values of BarRed.
const (
	BarPOPC uint16 = iota
	BarAND
	BarOR
)

// Values of B2RMode.
const (
	B2RBAR uint16 = iota
	B2RRESULT
	B2RWARP
)

// Values of BraMode: uniform hint, branch when diverged, branch when converged.
const (
	BraPlain uint16 = iota
	BraU
	BraDIV
	BraCONV
)

// Values of CallInc.
const (
	CallNone uint16 = iota
	CallINC
	CallDEC
)

// Values of BptMode.
const (
	BptPAUSE uint16 = iota
	BptTRAP
	BptINT
	BptDRAIN
	BptPAUSEQUIET
)

// Values of MmaShape.
const (
	Mma884 uint16 = iota
	Mma1688
	Mma16816
	Mma1684
	Mma16832
	Mma16864
	Mma8816
	Mma8832
	Mma88128
	Mma168128
	Mma168256
)

// Values of MmaOp.
const (
	MmaXOR uint16 = iota
	MmaAND
)

// Values of Matrix: rows and columns of 8 by 8 halves as they lie in memory, or transposed.
const (
	MatrixM88 uint16 = iota
	MatrixMT88
	MatrixM816
	MatrixM832
)

// Values of Scale: the result is divided (D) or multiplied (M) by 2, 4 or 8.
const (
	ScaleNone uint16 = iota
	ScaleD2
	ScaleD4
	ScaleD8
	ScaleM2
	ScaleM4
	ScaleM8
)

// Values of [Operand.Swz] of an address in shared memory: the factor of its register.
const (
	AddrX1 uint8 = iota
	AddrX4
	AddrX8
	AddrX16
)

// Values of [Operand.Swz] of a matrix (HMMA): its layout.
const (
	LayoutROW uint8 = iota
	LayoutCOL
)

// Values of [Operand.Swz] of the source of a conversion and of R2P: the byte, or for 16-bit types the half, that is
// read; 0 is the lowest.
const (
	SelB0 uint8 = 0
	SelB1 uint8 = 1
	SelB2 uint8 = 2
	SelB3 uint8 = 3
	SelH0 uint8 = 0
	SelH1 uint8 = 1
)

// Values of [Operand.Swz] of half-precision arithmetic: which halves of a packed register are read as the low and the
// high half.
const (
	SwzH1H0  uint8 = iota // low half as low, high half as high: nothing is printed
	SwzF32                // the register is one single-precision number, used for both
	SwzH0H0               // the low half for both
	SwzH1H1               // the high half for both
	SwzH0NH1              // the low half as low, the negative of the high half as high: see [Inst.Opaque]
)

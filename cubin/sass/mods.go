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
	EvictL2  // that of the L2 cache where it is another field: 0 first, 1 normal, 2 last
	ZD       // .ZD: writes a predicate, zero data where it is false
	AtomOp   // operation of an atomic: AtomADD …
	AtomType // operand type of an atomic: TypeU32, TypeS32, TypeU64, TypeS64, TypeF32, TypeF64, TypeF16x2
	LdcMode  // addressing mode of LDC: LdcIA …
	CctlOp   // operation of CCTL: CctlPF1 …
	CctlSpc  // cache that CCTL works on: 0 data, 1 U, 2 C, 3 I
	Deep     // .DEEP of CCTL
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
	BarMode     // what BAR does: BarSYNC …
	BarRed      // reduction of BAR.RED: BarPOPC …
	Defer       // .DEFER_BLOCKING
	B2RMode     // what B2R reads: B2RBAR, B2RRESULT, B2RWARP
	BraMode     // .U, .DIV, .CONV of BRA: BraPlain …
	CallInc     // .INC, .DEC of the call depth: CallNone, CallINC, CallDEC
	Abs         // .ABS of CALL and RET: the address is absolute; otherwise .REL
	NoInc       // .NOINC of CALL, .NODEC of RET: the call depth stays
	ExitMode    // EXIT: 0, 1 KEEPREFCOUNT, 2 PREEMPTED
	NoAtExit    // .NO_ATEXIT of EXIT
	Clear       // .CLEAR of BMOV: the B register is zero afterwards
	PQuad       // .PQUAD of BMOV
	Collective  // .COLLECTIVE of WARPSYNC
	Exclusive   // .EXCLUSIVE of WARPSYNC
	Warp        // .WARP of NANOSLEEP
	Convergence // what BSSY and the like are told of lanes: 1 .RELIABLE, 2 .RECONVERGENT
	Rand        // .RAND of NANOSLEEP
	LE          // .LE of DEPBAR: wait until at most count are outstanding, in order
	BptMode     // what BPT does: BptTRAP …

	// The uniform datapath.
	UR         // an operand is a uniform register; nothing is printed
	Descriptor // an address has a descriptor; nothing is printed
	BF16       // .BF16_V2: the halves are bfloat16
	Broadcast  // .BROADCAST of R2UR
	OrBefore   // .OR of R2UR: the predicate stays true where it has been
	Addr64     // a register behind a descriptor is a 64-bit address; nothing is printed

	// Tensor.
	MmaShape // shape of HMMA, IMMA, BMMA and DMMA: Mma884 …
	MmaStep  // step 0 to 3 of HMMA.884
	Sparse   // .SP: A has two of each four elements, an operand says which
	MmaOp    // what BMMA does with the bits of A and B: MmaXOR, MmaAND
	Scaled   // .SF: blocks of elements of A and B have scales
	GmmaN    // columns of the 64 rows of HGMMA and the like

	// Half precision and minima.
	NaN     // .NAN of FMNMX and HMNMX2: NaN where a source is one
	XorSign // .XORSIGN of FMNMX and HMNMX2: the sign is the XOR of the sources'
	Relu    // .RELU: no less than zero
	Merge   // .MERGE_C of F2FP
	Lanes   // .S16x2 and the like of VIMNMX: TypeS32, TypeU32, TypeS16x2, TypeU16x2

	// The asynchronous units of sm_80 and sm_90.
	SyncsOp   // what SYNCS.ARRIVE counts, e.g. .A1T0
	SyncsRed  // 1 .TMASK, 2 .RED of SYNCS.ARRIVE
	OptOut    // .OPTOUT of SYNCS.ARRIVE
	TryWait   // .TRYWAIT of SYNCS.PHASECHK
	SyncSleep // .SYNCS of NANOSLEEP
	Arvcnt    // .ARVCNT or .TRANSCNT of ARRIVES
	FenceView // what FENCE.VIEW.ASYNC orders: 0 shared, 1 global, 2 tensor memory
	TmaDim    // dimensions of UTMALDG and UTMASTG: 1 to 5
	Im2Col    // .IM2COL
	Multicast // .MULTICAST
	BulkTo    // memory that UBLKCP and UBLKRED write: 0 global, 1 shared
	BulkFrom  // memory that they read, likewise
	GroupMode // what WARPGROUP does: 0 ARRIVE, 1 WAIT, 2 DEPBAR
	Flush     // .FLUSH of USETSHMSZ
	Alloc     // what USETMAXREG does: 1 DEALLOC, 2 TRY_ALLOC

	// Tensor memory of sm_100.
	BlockPair        // .2CTA: for both blocks of a pair
	WeightStationary // .WS of UTCHMMA and the like
	RowShift         // .ASHIFT: A is shifted by a row
	ScaleType        // of scales: TypeE8M0, TypeUE4M3
	ScaleBlock       // of UTCOMMA and OMMA: 1 where 32 elements share a scale, 0 (.4X) where 16 do
	TensorShape      // what LDTM and STTM access at once: Tensor32x32 …
	TensorTimes      // how often that, side by side
	Packs            // .PACK16BIT, .EXPAND16BIT: two elements of 16 bits a register
	TensorCopy       // what UTCCP copies: Copy128x256 …
	Unpacks          // of UTCCP: 1 .U4x16P64, 2 .U6x16P32
	Aligned          // .ALIGN of UTCATOMSWS

	// Texture and surface.
	TexSCR      // .SCR: compact operands
	TexF16      // 1 .F16.RN, 2 .F16.RZ: packed results
	TexLevel    // level of detail: 0 computed, 1 .LZ, 2 .LB, 3 .LL, 4 .LC, 5 .LB.LC, 6 .LC.FDV (from sm_75 on)
	TexAOFFI    // .AOFFI: offsets in a register
	TexDC       // .DC: depth comparison
	TexPTP      // .PTP: an offset for each texel that is gathered
	TexChannel  // the component that TLD4 gathers
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

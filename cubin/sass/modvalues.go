package sass

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
	TypeU2
	TypeS2
	TypeU8x4
	TypeS8x4
	TypeE3M2
	TypeE2M3
	TypeE2M1
	TypeE8M0  // a power of two
	TypeUE4M3 // TypeE4M3 without a sign
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

// Values of SyncsOp: what SYNCS.ARRIVE counts.
const (
	SyncsA1TR uint16 = iota // one arrival, and the transactions of a register are to come; nothing is printed
	SyncsA1T0               // one arrival
	SyncsA0T1               // one transaction is to come
	SyncsA0TR               // the transactions of a register are to come
	SyncsA0TX               // the transactions of a register are complete
	SyncsART0               // the arrivals of a register
)

// Values of Arvcnt: what ARRIVES does when the copies before it are complete.
const (
	ArrivesPlain    uint16 = iota // arrive, on sm_80 to sm_89
	ArrivesARVCNT                 // arrive
	ArrivesTRANSCNT               // complete a transaction
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
	Size256
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
	ReduxMINABS // of CREDUX, by absolute value
	ReduxMAXABS
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
	SwzH0NH1              // the negative of the high half as low, the low half as high
)

// Values of GroupMode.
const (
	GroupARRIVE uint16 = iota
	GroupWAIT
	GroupDEPBAR
)

// Values of [Operand.Swz] of packed single precision: which registers of a pair are read as the low and the high number. On top of them
// [PairNegHigh] negates the high number that is read.
const (
	PairHighLow uint8 = iota // the second register as the high number
	PairLowHigh              // the first register as the high number
	PairOne                  // one register for both

	PairNegHigh uint8 = 4
)

// Bits of the selector of a KindGDesc: which of the matrices A and B are negated or transposed.
const (
	GroupNegateA uint16 = 1 << iota
	GroupNegateB
	GroupTransposeA
	GroupTransposeB
)

// Values of TensorShape: the lanes of tensor memory and the bits of each that a warp accesses. The halves are of one shape, 16 lanes and
// 32 bits for threads 0 to 15 and as much for the others.
const (
	Tensor32x32 uint16 = iota
	Tensor16x64
	Tensor16x128
	Tensor16x256
	TensorLowerHalf
	TensorUpperHalf
)

// Values of TensorCopy: the lanes of tensor memory that a copy writes and the bits of each. Copy64Adjacent, Copy64Alternate and Copy32 copy 64 or 32 lanes to as many
// others as there are, Copy4x256 to the last lane of each 32.
const (
	Copy128x256 uint16 = iota
	Copy4x256
	Copy128x128
	Copy64Alternate // 64 lanes, to those 64 behind too
	Copy64Adjacent  // 32 lanes to the 32 behind too, twice
	Copy32          // 32 lanes to all
)

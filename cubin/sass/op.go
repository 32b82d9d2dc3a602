package sass

// An Op is a base opcode, as in FFMA. What nvdisasm prints after the first dot are modifiers, see [ModKind]; the
// aliases IMAD.MOV, IMAD.SHL and IMAD.IADD are IMAD.
type Op uint16

// The base opcodes. The comment of each lists its operands in the order of [Inst.Operands], which is the same for all
// forms of an opcode:
//
//	Rd, Pd, Pe  destination register, first and second destination predicate
//	A, B, C     sources: a register, or (B or C) an immediate or a constant
//	Pp, Pq      source predicates
//
// Operands in square brackets are not printed when they have their default value (PT for a destination, RZ or 0 for a
// source) or when the modifiers of the instruction make them meaningless; they are present in [Inst.Operands] all the
// same.
const (
	OpNone Op = iota

	// Integer and logic.
	BMSK      // Rd, A, B: mask of B bits from bit A on
	BREV      // Rd, B
	FLO       // Rd, [Pd], B
	IABS      // Rd, B
	IADD3     // Rd, [Pd], [Pe], A, B, C, [Pp], [Pq]: carries out Pd, Pe; with X carries in Pp, Pq
	IDP       // Rd, A, B, C
	IMAD      // Rd, [Pd], A, B, C, [Pp]: with WIDE or HI carry out Pd; with X carry in Pp
	ISETP     // Pd, Pe, A, B, Pp, [Pq]: with EX the result of the low words Pq
	LEA       // Rd, [Pd], A, B, [C], shift, [Pp]: C with HI, unless SX32; with X carry in Pp
	LOP3      // [Pd], Rd, A, B, C, LUT, Pp
	MOV       // Rd, B, [lane mask]
	PLOP3     // Pd, Pe, Pa, Pb, Pc, LUT of Pd, LUT of Pe
	POPC      // Rd, B
	PRMT      // Rd, A, B, C: B is the selector
	SEL       // Rd, A, B, Pp
	SGXT      // Rd, A, B
	SHF       // Rd, A, B, C: low word A, shift B, high word C
	VABSDIFF  // Rd, [Pd], A, B, C
	VABSDIFF4 // Rd, [Pd], A, B, C

	// Predicate registers as a bit set.
	P2R // Rd, PR, A, B
	R2P // PR, A, B

	// Single precision.
	FADD  // Rd, A, B
	FCHK  // Pd, A, B
	FFMA  // Rd, A, B, C
	FMNMX // Rd, A, B, Pp
	FMUL  // Rd, A, B
	FSEL  // Rd, A, B, Pp
	FSET  // Rd, A, B, Pp
	FSETP // Pd, Pe, A, B, Pp
	MUFU  // Rd, B

	// Double precision. Registers are pairs; an immediate holds the high word.
	DADD  // Rd, A, B
	DFMA  // Rd, A, B, C
	DMUL  // Rd, A, B
	DSETP // Pd, Pe, A, B, Pp

	// Packed half precision. An immediate holds both halves and prints as two numbers, high half first.
	HADD2  // Rd, A, B
	HFMA2  // Rd, A, B, C
	HMUL2  // Rd, A, B
	HSET2  // Rd, A, B, Pp
	HSETP2 // Pd, Pe, A, B, Pp
	HMMA   // Rd, A, B, C, Pp (uniform); of sparse products the register that says which elements of A there are, and its lane

	// Conversions.
	F2F  // Rd, B
	F2I  // Rd, B
	FRND // Rd, B
	I2F  // Rd, B

	// Memory.
	ATOM   // Pd, Rd, address, B, [C]: generic; C, the value to swap in, with CAS
	ATOMG  // Pd, Rd, address, B, [C]: global
	ATOMS  // Rd, address, B, [C]: shared
	CCTL   // [address]
	CCTLL  // [address]
	ERRBAR // none
	LD     // [Pd], Rd, address: generic
	LDC    // Rd, constant with index register
	LDG    // [Pd], Rd, address, [Pp]; with .256 Re, Rd, address, [mask], [Pp]: Re takes the upper half
	LDL    // [Pd], Rd, address
	LDS    // [Pd], Rd, address
	MEMBAR // none
	QSPC   // Pd, Rd, address
	RED    // address, B
	ST     // address, B
	STG    // address, B; with .256 address, B, C, [mask]: C is the upper half
	STL    // address, B
	STS    // address, B

	// Texture and surface.
	SULD // [Pd], Rd, address, constant bank and word of the surface header
	SUST // address, B, constant bank and word of the surface header
	TEX  // [Pd], Re, Rd, A, [B], bank, header, dimensions, [component mask]: Re takes the upper components
	TLD  // as TEX

	// Warp-wide and special registers.
	B2R   // Rd, [Pd], [barrier]
	CS2R  // Rd, special register
	MATCH // [Pd], Rd, A
	R2B   // barrier, A
	S2R   // Rd, special register
	SHFL  // Pd, Rd, A, B, C: value, lane, clamp and segment mask
	VOTE  // [Rd], Pd, Pp

	// Control flow. The condition Pp is one more predicate beside the guard, not printed when PT. The code address is
	// the last operand; a branch through a register has the register before it, to which the address is added.
	BAR       // [barrier], [threads], [Pp]
	BMOV      // B register or Rd, Rd or B register: destination first
	BPT       // trap number
	BRA       // [Pp], [lane mask], target: with .DIV and .CONV on sm_75 and later a uniform register of lanes
	BREAK     // [Pp], B register
	BRX       // [Pp], A, offset of the address from A
	BSSY      // [Pp], B register, target
	BSYNC     // [Pp], B register
	CALL      // [Pp], [A], target
	DEPBAR    // scoreboard, count, set of further scoreboards
	EXIT      // [Pp]
	JMP       // [Pp], target
	JMX       // [Pp], A, target
	LEPC      // Rd, [target]: the address of target, or of the instruction itself
	ULEPC     // as LEPC, Rd uniform
	NANOSLEEP // [Pp], B
	NOP       // none
	RET       // [Pp], A, target
	WARPSYNC  // [Pp], B: mask, [target]: with .COLLECTIVE
	YIELD     // [Pp]

	// The uniform datapath (sm_75 and later): one execution for a warp, operands uniform registers and predicates.
	R2UR   // [Pd], Rd (uniform), A
	REDUX  // Rd (uniform), A: reduction over the lanes
	S2UR   // Rd (uniform), special register
	VOTEU  // [Rd], Pd, Pp: Rd and Pd uniform
	UBMSK  // as BMSK
	UBREV  // as BREV
	UFLO   // as FLO
	UIADD3 // as IADD3
	UIMAD  // as IMAD
	UISETP // as ISETP
	ULDC   // Rd, constant
	ULEA   // as LEA
	ULOP3  // as LOP3
	UMOV   // Rd, B
	UPOPC  // as POPC
	UPRMT  // as PRMT
	USEL   // as SEL
	USGXT  // as SGXT
	USHF   // as SHF

	// Integer instructions that not all architectures have.
	IMNMX  // Rd, A, B, Pp: minimum where Pp holds
	VHMNMX // Rd, A, B, C, Pp
	VIADD  // Rd, A, B
	VIMNMX // Rd, Pd, Pe, A, B, Pp

	// Others that not all architectures have.
	ENDCOLLECTIVE // none
	F2FP          // Rd, A, B: A becomes the high half
	I2FP          // Rd, B
	LDGDEPBAR     // none
	MOVM          // Rd, A: the transposed matrix
	REDG          // as RED: global
	VIADDMNMX     // Rd, A, B, C, Pp: minimum or maximum of A+B and C
	VIMNMX3       // Rd, A, B, C, Pp
	HMNMX2        // Rd, A, B, Pp: minimum where Pp holds
	I2I           // Rd, B
	I2IP          // Rd, A, B, C: A above B, C above both
	UP2UR         // Rd, UPR, A, B
	UPLOP3        // as PLOP3

	// Copies between memories, and matrices.
	BMMA   // Rd, A, B, C
	DMMA   // Rd, A, B, C
	IMMA   // Rd, A, B, C
	LDGSTS // shared address, global address, [Pp]: zeros where Pp does not hold
	LDSM   // Rd, address: matrices, one row an address
	STSM   // address, B

	// Transaction barriers in shared memory, clusters and the asynchronous units (sm_80 or sm_90).
	ACQBULK      // none
	ARRIVES      // address
	CGAERRBAR    // none
	ELECT        // Pd, Rd (uniform), Pp
	FENCE        // none
	HGMMA        // Rd, [A], descriptors of A and B, or of B, C, [Pp (uniform)], [elements of A], [lane], [group]
	BGMMA        // as HGMMA, of bits
	IGMMA        // as HGMMA, of bytes
	QGMMA        // as HGMMA, of 8-bit floating-point numbers
	PREEXIT      // none
	STAS         // address, B
	SYNCS        // Pd or Rd, address, B
	UCGABAR_ARV  // none
	UCGABAR_WAIT // none
	USETMAXREG   // [Pd (uniform)], registers
	USETSHMSZ    // [bytes]
	UTMACMDFLUSH // none
	UTMALDG      // shared address, coordinates, [mask], [descriptor]
	UTMASTG      // shared address, coordinates, [descriptor]
	WARPGROUP    // [group], [count]
	WARPGROUPSET // value (uniform), [group]
	QMMA         // as HMMA, of 8-bit floating-point numbers (sm_89, sm_120), and with scales as OMMA (sm_120)
	REDAS        // address, B
	LDGMC        // Rd, address
	UBLKCP       // address, address, bytes, [descriptor]: the first address is the destination
	UBLKPF       // address, bytes, [descriptor]
	UBLKRED      // as UBLKCP
	UTMACCTL     // address
	UTMAPF       // shared address, coordinates, [descriptor]
	UTMAREDG     // shared address, coordinates, [descriptor]

	// Other textures and surfaces, and what profilers ask for.
	TLD4   // [Pd], upper components, lower components, A, [B], bank, header, dimensions, components
	TXD    // as TLD4
	TXQ    // upper components, lower components, A, query, bank, header, components
	SURED  // address, B, bank, header
	PMTRIG // [Pp], events

	// Shaders: attributes of vertices and primitives, interpolation, pixels. Nothing executes these.
	AL2P    // Rd, address: the physical address of an attribute
	ALD     // Rd, address, [vertex]
	AST     // address, B, [vertex]
	IPA     // Rd, [Pd], address, [offset]
	ISBERD  // Rd, address
	ISBEWR  // address, B
	KILL    // [Pp]
	LDTRAM  // Rd, address
	OUT     // [Rd], A, [B]
	PIXLD   // Rd, [Pd]
	FSWZADD // Rd, A, C, signs of the lanes of a quad

	// Other textures and surfaces. Nothing executes these.
	FOOTPRINT // [Pd], Re, Rd, A, B, headers, dimensions
	SUATOM    // [Pd], Rd, address, B, [C], headers
	SUQUERY   // [Pd], Rd, address, query, headers
	TMML      // Re, Rd, A, B, headers, dimensions, components

	// Traps, the driver and debuggers. Nothing executes these.
	BRXU        // as BRX, with uniform registers
	CCTLT       // [header]
	CSMTEST     // Pd, Pe, mask, Pp
	GETLMEMBASE // Rd
	JMXU        // as JMX, with uniform registers
	RPCMOV      // Rd or the register of the return address, source
	RTT         // none
	SETCTAID    // A
	SETLMEMBASE // A

	// Arithmetic that compilers write for graphics or not at all. Nothing executes these.
	F2IP  // Rd, A, B, C: A and B become bytes above C
	UCLEA // Rd, Pd, A, B, shift
	UF2FP // Rd, A, B
	UR2UP // UPR, A, B

	// New in sm_100 and sm_120.
	LDCU    // Rd, constant
	IADD    // Rd, [Pd], A, B, [Pp]
	FMNMX3  // Rd, A, B, C, Pp
	CREDUX  // Rd (uniform), A: the extreme of the lanes
	UFADD   // as FADD
	UFFMA   // as FFMA
	UFMUL   // as FMUL
	UFSEL   // as FSEL
	UFSETP  // as FSETP
	UVIMNMX // as VIMNMX
	UI2F    // Rd, B
	UI2FP   // Rd, B
	UF2I    // Rd, B
	FADD2   // Rd, A, B: two sums
	FMUL2   // Rd, A, B: two products
	FFMA2   // Rd, A, B, C: two products, each with a summand
	OMMA    // Rd, A, B, C, Pp (uniform), scales of A, scales of B, selectors: as QMMA with scales, of 4-bit numbers (sm_120)

	UGETNEXTWORKID // result, barrier: a block or cluster that has not begun is left to who asks (PTX ISA, clusterlaunchcontrol)

	// Tensor memory of sm_100 and sm_103 (PTX ISA, tcgen05).
	LDTM       // Rd, address
	STTM       // address, B
	UTCATOMSWS // [Pd (uniform)], Rd (uniform), B: which columns of tensor memory are allocated
	UTCBAR     // barrier, transactions, [blocks]
	UTCCP      // address, descriptor of what is copied
	UTCHMMA    // A, B, D, elements of A, descriptor, [mask], Pp (uniform): D is added to, [scale]
	UTCIMMA    // as UTCHMMA, of bytes
	UTCOMMA    // as UTCHMMA, of 4-bit numbers, with scales in the place of the mask
	UTCQMMA    // as UTCHMMA, of numbers of 8 bits and less; with or without scales
	UTCSHIFT   // address
	UVIRTCOUNT // amount

	NumOps // number of opcodes, for tables indexed by Op
)

var opNames = [NumOps]string{
	OpNone: "none",
	BMSK:   "BMSK", BREV: "BREV", FLO: "FLO", IABS: "IABS", IADD3: "IADD3", IDP: "IDP", IMAD: "IMAD",
	ISETP: "ISETP", LEA: "LEA", LOP3: "LOP3", MOV: "MOV", PLOP3: "PLOP3", POPC: "POPC", PRMT: "PRMT", SEL: "SEL",
	SGXT: "SGXT", SHF: "SHF", VABSDIFF: "VABSDIFF", VABSDIFF4: "VABSDIFF4", P2R: "P2R", R2P: "R2P",
	FADD: "FADD", FCHK: "FCHK", FFMA: "FFMA", FMNMX: "FMNMX", FMUL: "FMUL", FSEL: "FSEL", FSET: "FSET",
	FSETP: "FSETP", MUFU: "MUFU",
	DADD: "DADD", DFMA: "DFMA", DMUL: "DMUL", DSETP: "DSETP",
	HADD2: "HADD2", HFMA2: "HFMA2", HMUL2: "HMUL2", HSET2: "HSET2", HSETP2: "HSETP2", HMMA: "HMMA",
	F2F: "F2F", F2I: "F2I", FRND: "FRND", I2F: "I2F",
	ATOM: "ATOM", ATOMG: "ATOMG", ATOMS: "ATOMS", CCTL: "CCTL", CCTLL: "CCTLL", ERRBAR: "ERRBAR",
	LD: "LD", LDC: "LDC", LDG: "LDG", LDL: "LDL", LDS: "LDS", MEMBAR: "MEMBAR", QSPC: "QSPC", RED: "RED",
	ST: "ST", STG: "STG", STL: "STL", STS: "STS",
	SULD: "SULD", SUST: "SUST", TEX: "TEX", TLD: "TLD", B2R: "B2R", CS2R: "CS2R", MATCH: "MATCH", R2B: "R2B", S2R: "S2R", SHFL: "SHFL", VOTE: "VOTE",
	BAR: "BAR", BMOV: "BMOV", BPT: "BPT", BRA: "BRA", BREAK: "BREAK", BRX: "BRX", BSSY: "BSSY", BSYNC: "BSYNC",
	CALL: "CALL", DEPBAR: "DEPBAR", EXIT: "EXIT", JMP: "JMP", JMX: "JMX", LEPC: "LEPC", ULEPC: "ULEPC",
	NANOSLEEP: "NANOSLEEP", NOP: "NOP", RET: "RET", WARPSYNC: "WARPSYNC", YIELD: "YIELD",
	ENDCOLLECTIVE: "ENDCOLLECTIVE", F2FP: "F2FP", I2FP: "I2FP", LDGDEPBAR: "LDGDEPBAR", MOVM: "MOVM", REDG: "REDG", VIADDMNMX: "VIADDMNMX", VIMNMX3: "VIMNMX3",
	HMNMX2: "HMNMX2", I2I: "I2I", I2IP: "I2IP", UP2UR: "UP2UR", UPLOP3: "UPLOP3",
	BMMA: "BMMA", DMMA: "DMMA", IMMA: "IMMA", LDGSTS: "LDGSTS", LDSM: "LDSM", STSM: "STSM",
	ACQBULK: "ACQBULK", ARRIVES: "ARRIVES", CGAERRBAR: "CGAERRBAR", ELECT: "ELECT", FENCE: "FENCE", HGMMA: "HGMMA",
	PREEXIT: "PREEXIT", STAS: "STAS", SYNCS: "SYNCS", UCGABAR_ARV: "UCGABAR_ARV", UCGABAR_WAIT: "UCGABAR_WAIT",
	USETMAXREG: "USETMAXREG", USETSHMSZ: "USETSHMSZ", UTMACMDFLUSH: "UTMACMDFLUSH", UTMALDG: "UTMALDG", UTMASTG: "UTMASTG",
	WARPGROUP: "WARPGROUP", WARPGROUPSET: "WARPGROUPSET", BGMMA: "BGMMA", IGMMA: "IGMMA", QGMMA: "QGMMA",
	QMMA: "QMMA", REDAS: "REDAS", LDGMC: "LDGMC", UBLKCP: "UBLKCP", UBLKPF: "UBLKPF", UBLKRED: "UBLKRED", UTMACCTL: "UTMACCTL", UTMAPF: "UTMAPF",
	UTMAREDG: "UTMAREDG", TLD4: "TLD4", TXD: "TXD", TXQ: "TXQ", SURED: "SURED", PMTRIG: "PMTRIG",
	AL2P: "AL2P", ALD: "ALD", AST: "AST", IPA: "IPA", ISBERD: "ISBERD", ISBEWR: "ISBEWR", KILL: "KILL", LDTRAM: "LDTRAM", OUT: "OUT",
	PIXLD: "PIXLD", FSWZADD: "FSWZADD", FOOTPRINT: "FOOTPRINT", SUATOM: "SUATOM", SUQUERY: "SUQUERY", TMML: "TMML",
	BRXU: "BRXU", CCTLT: "CCTLT", CSMTEST: "CSMTEST", GETLMEMBASE: "GETLMEMBASE", JMXU: "JMXU", RPCMOV: "RPCMOV", RTT: "RTT",
	SETCTAID: "SETCTAID", SETLMEMBASE: "SETLMEMBASE", F2IP: "F2IP", UCLEA: "UCLEA", UF2FP: "UF2FP", UR2UP: "UR2UP",
	R2UR: "R2UR", REDUX: "REDUX", S2UR: "S2UR", VOTEU: "VOTEU", UBMSK: "UBMSK", UBREV: "UBREV", UFLO: "UFLO", UIADD3: "UIADD3", UIMAD: "UIMAD", UISETP: "UISETP", ULDC: "ULDC", ULEA: "ULEA", ULOP3: "ULOP3", UMOV: "UMOV", UPOPC: "UPOPC", UPRMT: "UPRMT", USEL: "USEL", USGXT: "USGXT", USHF: "USHF", IMNMX: "IMNMX", VHMNMX: "VHMNMX", VIADD: "VIADD", VIMNMX: "VIMNMX",
	LDCU: "LDCU", IADD: "IADD", FMNMX3: "FMNMX3", CREDUX: "CREDUX", UFADD: "UFADD", UFFMA: "UFFMA", UFMUL: "UFMUL", UFSEL: "UFSEL", UFSETP: "UFSETP",
	UVIMNMX: "UVIMNMX", UI2F: "UI2F", UI2FP: "UI2FP", UF2I: "UF2I", FADD2: "FADD2", FMUL2: "FMUL2", FFMA2: "FFMA2", OMMA: "OMMA", UGETNEXTWORKID: "UGETNEXTWORKID",
	LDTM: "LDTM", STTM: "STTM", UTCATOMSWS: "UTCATOMSWS", UTCBAR: "UTCBAR", UTCCP: "UTCCP", UTCHMMA: "UTCHMMA", UTCIMMA: "UTCIMMA", UTCOMMA: "UTCOMMA", UTCQMMA: "UTCQMMA",
	UTCSHIFT: "UTCSHIFT", UVIRTCOUNT: "UVIRTCOUNT",
}

// String returns NVIDIA's mnemonic.
func (o Op) String() string {
	if o < NumOps {
		return opNames[o]
	}
	return "invalid"
}

package sass

// Properties that many opcodes share.
var (
	ofALU        = Properties{Class: ClassALU}
	ofSelection  = Properties{Class: ClassSelect}
	ofMultiply   = Properties{Class: ClassMultiply}
	ofFloat      = Properties{Class: ClassFloat}
	ofPairs      = Properties{Class: ClassFloat, Pairs: true}
	ofHalf       = Properties{Class: ClassHalf}
	ofDouble     = Properties{Class: ClassDouble, Fixed: fullDouble}
	ofPredicates = Properties{Class: ClassPredicate}
	ofIntegers   = Properties{Class: ClassPredicate, Compares: ComparesIntegers}
	ofMatrix     = Properties{Class: ClassMatrix}
	ofGroups     = Properties{Class: ClassGroup, Reads: SpaceShared, Async: AsyncMatrix}
	ofTensor     = Properties{Class: ClassTensor, Reads: SpaceShared | SpaceTensor, Writes: SpaceTensor, Async: AsyncTensor}
	ofConversion = Properties{Class: ClassConvert}
	ofBits       = Properties{Class: ClassBitCount}
	ofSpecial    = Properties{Class: ClassSpecial}
	ofCrossing   = Properties{Class: ClassSpecial, Crosses: true}
	ofControl    = Properties{Class: ClassControl}
	ofLanes      = Properties{Class: ClassControl, Sync: SyncConvergence}
	ofFence      = Properties{Class: ClassControl, Sync: SyncMemory}
	ofJump       = Properties{Class: ClassBranch, Flow: FlowJump}
	ofIndirect   = Properties{Class: ClassBranch, Flow: FlowIndirect}
	ofTexture    = Properties{Class: ClassTexture, Reads: SpaceTexture}
	ofPrefetch   = Properties{Class: ClassTransfer, Async: AsyncBulk}
	ofAttribute  = Properties{Class: ClassSpecial}
)

// fullDouble are the architectures whose unit of double precision is as wide as the others, so that its latency is fixed.
const fullDouble = in90 | datacenterBlackwell

// does returns the properties with an operation.
func (p Properties) does(o Operation) Properties {
	p.Does = o
	return p
}

// onUniform are the properties of what does on the uniform datapath what another opcode does on vector registers.
func onUniform(vector Op) Properties { return Properties{Class: ClassUniform, Vector: vector} }

// properties are those of all opcodes.
var properties = [NumOps]Properties{
	BMSK: ofALU, IABS: ofALU, IADD: ofALU.does(Adds), IADD3: ofALU.does(Adds), LEA: ofALU.does(ShiftsAdds), LOP3: ofALU.does(CombinesBitwise), MOV: ofALU.does(Moves), PRMT: ofALU, SEL: ofALU.does(Selects), SGXT: ofALU, SHF: ofALU, VABSDIFF: ofALU, VABSDIFF4: ofALU,
	IMNMX: ofALU.does(TakesExtreme), VIADD: ofALU.does(Adds), VIMNMX: ofALU.does(TakesExtreme), VIADDMNMX: ofALU, VIMNMX3: ofALU, I2I: ofALU, I2IP: ofALU, CS2R: ofALU, LEPC: ofALU,
	FMNMX: ofSelection.does(TakesExtreme), FMNMX3: ofSelection.does(TakesExtreme), FSEL: ofSelection.does(Selects), F2FP: ofSelection, I2FP: ofSelection,
	FSET: {Class: ClassSelect, Compares: ComparesFloats},
	IMAD: ofMultiply.does(MultipliesAdds), IDP: ofMultiply.does(MultipliesAdds),
	FADD: ofFloat.does(Adds), FFMA: ofFloat.does(MultipliesAdds), FMUL: ofFloat.does(Multiplies), FSWZADD: ofFloat,
	FADD2: ofPairs.does(Adds), FFMA2: ofPairs.does(MultipliesAdds), FMUL2: ofPairs.does(Multiplies),
	HADD2: ofHalf.does(Adds), HFMA2: ofHalf.does(MultipliesAdds), HMUL2: ofHalf.does(Multiplies), HMNMX2: ofHalf.does(TakesExtreme), VHMNMX: ofHalf,
	HSET2: {Class: ClassHalf, Compares: ComparesFloats},
	DADD:  ofDouble.does(Adds), DFMA: ofDouble.does(MultipliesAdds), DMUL: ofDouble.does(Multiplies),
	DSETP: {Class: ClassDouble, Compares: ComparesFloats, Fixed: fullDouble},
	ISETP: ofIntegers, PLOP3: ofPredicates, P2R: ofPredicates, R2P: ofPredicates, CSMTEST: ofPredicates,
	FSETP:  {Class: ClassPredicate, Compares: ComparesFloats},
	HSETP2: {Class: ClassPredicate, Compares: ComparesFloats},

	UBMSK: onUniform(BMSK), UBREV: onUniform(BREV), UFLO: onUniform(FLO), UIADD3: onUniform(IADD3), UIMAD: onUniform(IMAD), ULEA: onUniform(LEA),
	ULOP3: onUniform(LOP3), UPOPC: onUniform(POPC), UPRMT: onUniform(PRMT), USEL: onUniform(SEL), USGXT: onUniform(SGXT), USHF: onUniform(SHF),
	UPLOP3: onUniform(PLOP3), ULEPC: onUniform(LEPC), UF2FP: onUniform(F2FP), UP2UR: {Class: ClassUniform}, UCLEA: {Class: ClassUniform}, UR2UP: {Class: ClassUniform},
	UFADD: onUniform(FADD), UFFMA: onUniform(FFMA), UFMUL: onUniform(FMUL), UFSEL: onUniform(FSEL), UVIMNMX: onUniform(VIMNMX),
	UI2F: onUniform(I2F), UI2FP: onUniform(I2FP), UF2I: onUniform(F2I),
	UFSETP: {Class: ClassUniform, Compares: ComparesFloats, Vector: FSETP},
	UISETP: {Class: ClassUniform, Compares: ComparesIntegers, Vector: ISETP},
	UMOV:   {Class: ClassDispatch, Vector: MOV},
	VOTEU:  {Class: ClassDispatch, Crosses: true, Vector: VOTE},

	HMMA: ofMatrix.does(MultipliesAdds), IMMA: ofMatrix.does(MultipliesAdds), BMMA: ofMatrix, DMMA: ofMatrix.does(MultipliesAdds), QMMA: ofMatrix.does(MultipliesAdds), OMMA: ofMatrix.does(MultipliesAdds),
	HGMMA: ofGroups, IGMMA: ofGroups, BGMMA: ofGroups, QGMMA: ofGroups,

	MUFU: {Class: ClassMUFU},
	F2F:  ofConversion, F2I: ofConversion, FRND: ofConversion, I2F: ofConversion, F2IP: ofConversion,
	BREV: ofBits, FLO: ofBits, POPC: ofBits,
	FCHK: {Class: ClassCheck},

	SHFL:  {Class: ClassShuffle, Crosses: true},
	VOTE:  {Class: ClassALU, Crosses: true},
	ELECT: {Class: ClassALU, Crosses: true},
	REDUX: {Class: ClassReduce, Crosses: true},
	MATCH: ofCrossing, B2R: ofCrossing, MOVM: ofCrossing,
	R2UR: {Class: ClassCross, Fixed: in90 | inBlackwell}, CREDUX: {Class: ClassReduce, Crosses: true, Fixed: inBlackwell},
	S2R: ofSpecial, S2UR: {Class: ClassSpecial, Vector: S2R}, R2B: ofSpecial, QSPC: ofSpecial,

	LDCU: {Class: ClassConstant, Reads: SpaceConstant, Vector: LDC},
	LDC:  {Class: ClassConstant, Reads: SpaceConstant}, ULDC: {Class: ClassConstant, Reads: SpaceConstant, Vector: LDC},
	LDS: {Class: ClassShared, Reads: SpaceShared}, STS: {Class: ClassShared, Writes: SpaceShared},
	LDSM: {Class: ClassShared, Reads: SpaceShared, Crosses: true}, STSM: {Class: ClassShared, Writes: SpaceShared, Crosses: true},
	ATOMS: {Class: ClassSharedAtomic, Reads: SpaceShared, Writes: SpaceShared},
	LDG:   {Class: ClassGlobal, Reads: SpaceGlobal}, STG: {Class: ClassGlobal, Writes: SpaceGlobal},
	LD: {Class: ClassGlobal, Reads: SpaceGeneric}, ST: {Class: ClassGlobal, Writes: SpaceGeneric},
	LDL: {Class: ClassGlobal, Reads: SpaceLocal}, STL: {Class: ClassGlobal, Writes: SpaceLocal},
	LDGMC:  {Class: ClassGlobal, Reads: SpaceGlobal},
	ATOM:   {Class: ClassGlobalAtomic, Reads: SpaceGeneric, Writes: SpaceGeneric},
	ATOMG:  {Class: ClassGlobalAtomic, Reads: SpaceGlobal, Writes: SpaceGlobal},
	RED:    {Class: ClassGlobalAtomic, Reads: SpaceGlobal, Writes: SpaceGlobal},
	REDG:   {Class: ClassGlobalAtomic, Reads: SpaceGlobal, Writes: SpaceGlobal},
	LDGSTS: {Class: ClassGlobal, Reads: SpaceGlobal, Writes: SpaceShared, Async: AsyncCopy},

	TEX: ofTexture, TLD: ofTexture, TLD4: ofTexture, TXD: ofTexture, TXQ: ofTexture, TMML: ofTexture, FOOTPRINT: ofTexture, SULD: ofTexture, SUQUERY: ofTexture,
	SUST:   {Class: ClassTexture, Writes: SpaceTexture},
	SUATOM: {Class: ClassTexture, Reads: SpaceTexture, Writes: SpaceTexture}, SURED: {Class: ClassTexture, Reads: SpaceTexture, Writes: SpaceTexture},

	SYNCS:    {Class: ClassTransfer, Reads: SpaceShared, Writes: SpaceShared, Sync: SyncTransfer},
	ARRIVES:  {Class: ClassTransfer, Reads: SpaceShared, Writes: SpaceShared, Sync: SyncTransfer, Async: CommitsCopies},
	STAS:     {Class: ClassTransfer, Writes: SpaceCluster, Async: AsyncRemote},
	REDAS:    {Class: ClassTransfer, Reads: SpaceCluster, Writes: SpaceCluster, Async: AsyncRemote},
	UTMALDG:  {Class: ClassTransfer, Reads: SpaceGlobal, Writes: SpaceShared | SpaceCluster, Async: AsyncBulk},
	UTMASTG:  {Class: ClassTransfer, Reads: SpaceShared, Writes: SpaceGlobal, Async: AsyncBulk},
	UTMAREDG: {Class: ClassTransfer, Reads: SpaceShared | SpaceGlobal, Writes: SpaceGlobal, Async: AsyncBulk},
	UBLKCP:   {Class: ClassTransfer, Reads: SpaceShared | SpaceGlobal, Writes: SpaceShared | SpaceCluster | SpaceGlobal, Async: AsyncBulk},
	UBLKRED:  {Class: ClassTransfer, Reads: SpaceShared | SpaceCluster | SpaceGlobal, Writes: SpaceCluster | SpaceGlobal, Async: AsyncBulk},
	UBLKPF:   ofPrefetch, UTMAPF: ofPrefetch,
	UGETNEXTWORKID: {Class: ClassTransfer, Writes: SpaceShared | SpaceCluster, Async: AsyncBulk},
	UTMACMDFLUSH:   {Class: ClassTransfer, Async: CommitsBulk},
	UTMACCTL:       {Class: ClassTransfer, Sync: SyncMemory},
	UTCHMMA:        ofTensor, UTCIMMA: ofTensor, UTCQMMA: ofTensor, UTCOMMA: ofTensor,
	UTCSHIFT:   {Class: ClassTensor, Reads: SpaceTensor, Writes: SpaceTensor, Async: AsyncTensor},
	UTCCP:      {Class: ClassTensor, Reads: SpaceShared, Writes: SpaceTensor, Async: AsyncTensor},
	UTCBAR:     {Class: ClassTransfer, Reads: SpaceShared | SpaceCluster, Writes: SpaceShared | SpaceCluster, Sync: SyncTransfer, Async: CommitsTensor},
	UTCATOMSWS: {Class: ClassSpecial, Reads: SpaceTensor, Writes: SpaceTensor},
	UVIRTCOUNT: ofControl,
	LDTM:       {Class: ClassTensorMemory, Reads: SpaceTensor},
	STTM:       {Class: ClassTensorMemory, Writes: SpaceTensor},
	LDGDEPBAR:  {Class: ClassControl, Async: CommitsCopies},

	MEMBAR: {Class: ClassFence, Sync: SyncMemory},
	ERRBAR: ofFence, CGAERRBAR: ofFence, CCTL: ofFence, CCTLL: ofFence, CCTLT: ofFence,
	FENCE:  {Class: ClassSpecial, Sync: SyncMemory},
	DEPBAR: {Class: ClassControl, Sync: SyncCounter},
	BAR:    {Class: ClassBarrier, Sync: SyncBlock},

	UCGABAR_ARV: {Class: ClassBarrier, Sync: SyncCluster}, UCGABAR_WAIT: {Class: ClassBarrier, Sync: SyncCluster},
	WARPSYNC: {Class: ClassControl, Sync: SyncWarp}, ENDCOLLECTIVE: {Class: ClassControl, Sync: SyncWarp},
	WARPGROUP: {Class: ClassControl, Sync: SyncGroup}, WARPGROUPSET: {Class: ClassControl, Sync: SyncGroup},
	ACQBULK: {Class: ClassControl, Sync: SyncGrid}, PREEXIT: {Class: ClassControl, Sync: SyncGrid},
	NANOSLEEP: {Class: ClassSleep},

	BRA: ofJump, JMP: ofJump, BRX: ofIndirect, JMX: ofIndirect, BRXU: ofIndirect, JMXU: ofIndirect,
	CALL:  {Class: ClassBranch, Flow: FlowCall},
	RET:   {Class: ClassBranch, Flow: FlowReturn},
	EXIT:  {Class: ClassControl, Flow: FlowExit},
	BSYNC: {Class: ClassBranch, Flow: FlowConverge, Sync: SyncConvergence},
	BSSY:  ofLanes, BREAK: ofLanes, BMOV: ofLanes, YIELD: ofLanes,
	BPT: ofControl, NOP: ofControl, PMTRIG: ofControl, KILL: ofControl, RTT: ofControl, RPCMOV: ofControl, GETLMEMBASE: ofControl, SETCTAID: ofControl,
	SETLMEMBASE: ofControl, USETMAXREG: ofControl, USETSHMSZ: ofControl,

	AL2P: ofAttribute, ALD: ofAttribute, AST: ofAttribute, IPA: ofAttribute, ISBERD: ofAttribute, ISBEWR: ofAttribute, LDTRAM: ofAttribute, OUT: ofAttribute, PIXLD: ofAttribute,
}

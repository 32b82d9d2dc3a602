package sass

import "fmt"

// specialRegisters names the special registers of sm_70 by index, as nvdisasm prints them. An index that is missing
// prints as SR and the number.
var specialRegisters = map[uint64]string{
	0:   "SR_LANEID",
	1:   "SR_CLOCK",
	2:   "SR_VIRTCFG",
	3:   "SR_VIRTID",
	15:  "SR_ORDERING_TICKET",
	16:  "SR_PRIM_TYPE",
	17:  "SR_INVOCATION_ID",
	18:  "SR_Y_DIRECTION",
	19:  "SR_THREAD_KILL",
	20:  "SM_SHADER_TYPE",
	21:  "SR_DIRECTCBEWRITEADDRESSLOW",
	22:  "SR_DIRECTCBEWRITEADDRESSHIGH",
	23:  "SR_DIRECTCBEWRITEENABLED",
	24:  "SR_MACHINE_ID_0",
	25:  "SR_MACHINE_ID_1",
	26:  "SR_MACHINE_ID_2",
	27:  "SR_MACHINE_ID_3",
	28:  "SR_AFFINITY",
	29:  "SR_INVOCATION_INFO",
	30:  "SR_WSCALEFACTOR_XY",
	31:  "SR_WSCALEFACTOR_Z",
	32:  "SR_TID",
	33:  "SR_TID.X",
	34:  "SR_TID.Y",
	35:  "SR_TID.Z",
	37:  "SR_CTAID.X",
	38:  "SR_CTAID.Y",
	39:  "SR_CTAID.Z",
	40:  "SR_NTID",
	41:  "SR_CirQueueIncrMinusOne",
	42:  "SR_NLATC",
	44:  "SR_SM_SPA_VERSION",
	45:  "SR_MULTIPASSSHADERINFO",
	46:  "SR_LWINHI",
	47:  "SR_SWINHI",
	48:  "SR_SWINLO",
	49:  "SR_SWINSZ",
	50:  "SR_SMEMSZ",
	51:  "SR_SMEMBANKS",
	52:  "SR_LWINLO",
	53:  "SR_LWINSZ",
	54:  "SR_LMEMLOSZ",
	55:  "SR_LMEMHIOFF",
	56:  "SR_EQMASK",
	57:  "SR_LTMASK",
	58:  "SR_LEMASK",
	59:  "SR_GTMASK",
	60:  "SR_GEMASK",
	61:  "SR_REGALLOC",
	62:  "SR_BARRIERALLOC",
	64:  "SR_GLOBALERRORSTATUS",
	66:  "SR_WARPERRORSTATUS",
	67:  "SR_VIRTUALSMID",
	68:  "SR_VIRTUALENGINEID",
	80:  "SR_CLOCKLO",
	81:  "SR_CLOCKHI",
	82:  "SR_GLOBALTIMERLO",
	83:  "SR_GLOBALTIMERHI",
	84:  "SR_ESR_PC",
	85:  "SR_ESR_PC_HI",
	96:  "SR_HWTASKID",
	97:  "SR_CIRCULARQUEUEENTRYINDEX",
	98:  "SR_CIRCULARQUEUEENTRYADDRESSLOW",
	99:  "SR_CIRCULARQUEUEENTRYADDRESSHIGH",
	100: "SR_PM0",
	101: "SR_PM_HI0",
	102: "SR_PM1",
	103: "SR_PM_HI1",
	104: "SR_PM2",
	105: "SR_PM_HI2",
	106: "SR_PM3",
	107: "SR_PM_HI3",
	108: "SR_PM4",
	109: "SR_PM_HI4",
	110: "SR_PM5",
	111: "SR_PM_HI5",
	112: "SR_PM6",
	113: "SR_PM_HI6",
	114: "SR_PM7",
	115: "SR_PM_HI7",
	116: "SR_SNAP_PM0",
	117: "SR_SNAP_PM_HI0",
	118: "SR_SNAP_PM1",
	119: "SR_SNAP_PM_HI1",
	120: "SR_SNAP_PM2",
	121: "SR_SNAP_PM_HI2",
	122: "SR_SNAP_PM3",
	123: "SR_SNAP_PM_HI3",
	124: "SR_SNAP_PM4",
	125: "SR_SNAP_PM_HI4",
	126: "SR_SNAP_PM5",
	127: "SR_SNAP_PM_HI5",
	128: "SR_SNAP_PM6",
	129: "SR_SNAP_PM_HI6",
	130: "SR_SNAP_PM7",
	131: "SR_SNAP_PM_HI7",
	255: "SRZ",
}

// Special registers that programs read; see CUDA's PTX ISA, "Special Registers".
const (
	SRLaneID        = 0
	SRVirtCfg       = 2
	SRVirtID        = 3 // %warpid in bits 8 to 14
	SRTID           = 32
	SRTIDX          = 33
	SRTIDY          = 34
	SRTIDZ          = 35
	SRCTAIDX        = 37
	SRCTAIDY        = 38
	SRCTAIDZ        = 39
	SRNTID          = 40
	SRLWinHI        = 46
	SRSWinHI        = 47
	SRSWinLO        = 48
	SRSMemSize      = 50
	SRLMemHiOff     = 55
	SREqMask        = 56
	SRLtMask        = 57
	SRLeMask        = 58
	SRGtMask        = 59
	SRGeMask        = 60
	SRVirtualSMID   = 67
	SRClockLO       = 80
	SRClockHI       = 81
	SRGlobalTimerLO = 82
	SRGlobalTimerHI = 83
	SRPM0           = 100
	SRZ             = 255 // zero
)

// SpecialRegisterName returns nvdisasm's name of a special register, as in SR_TID.X.
func SpecialRegisterName(index uint64) string {
	if n, ok := specialRegisters[index]; ok {
		return n
	}
	return fmt.Sprintf("SR%d", index)
}

// barrierRegisters names what lies behind the convergence barriers B0 to B15 in the register file that BMOV reaches.
var barrierRegisters = [...]string{
	"THREAD_STATE_ENUM.0", "THREAD_STATE_ENUM.1", "THREAD_STATE_ENUM.2", "THREAD_STATE_ENUM.3", "THREAD_STATE_ENUM.4",
	"TRAP_RETURN_PC.LO", "TRAP_RETURN_PC.HI", "TRAP_RETURN_MASK", "MEXITED", "MKILL", "MACTIVE", "MATEXIT", "OPT_STACK",
	"API_CALL_DEPTH", "ATEXIT_PC.LO", "ATEXIT_PC.HI", "MCOLLECTIVE",
}

// NumConvBars is the number of convergence barriers; a KindConvBar operand of BMOV with a higher number is another
// register of the barrier file.
const NumConvBars = 16

// barrierRegister reports whether an architecture has a register of that number in the barrier file: MCOLLECTIVE is new in
// sm_90.
func (a Arch) barrierRegister(n uint8) bool {
	return n < 2*NumConvBars || n == 2*NumConvBars && a >= SM90
}

// barrierName returns nvdisasm's name of a register of the barrier file.
func barrierName(n uint8) string {
	if n < NumConvBars {
		return fmt.Sprintf("B%d", n)
	}
	if n < NumConvBars+uint8(len(barrierRegisters)) {
		return barrierRegisters[n-NumConvBars]
	}
	return fmt.Sprintf("B?%d", n)
}

// SRCgaCtaID is the index of SR_CgaCtaId of sm_90: the number of a block in its cluster.
const SRCgaCtaID = 136

// SRCgaSize is the index of SR_CgaSize of sm_100 and later: the number of blocks in the cluster.
const SRCgaSize = 138

// specialRegister returns the name of a special register on an architecture.
func (a Arch) specialRegister(n uint64) string {
	if later, ok := laterSpecialRegisters[n]; ok && a >= later.from && (later.until == 0 || a < later.until) {
		return later.name
	}
	return SpecialRegisterName(n)
}

// laterSpecialRegisters are those that sm_70 does not have or names otherwise, with the first architecture that does.
var laterSpecialRegisters = map[uint64]struct {
	from  Arch
	name  string
	until Arch // that does not have it any more; 0 where all do
}{
	24:         {SM80, "SR_SW_SCRATCH", 0},
	65:         {SM90, "SR_CGAERRORSTATUS", 0},
	132:        {SM75, "SR_VARIABLE_RATE", 0},
	133:        {SM75, "SR_TTU_TICKET_INFO", 0},
	134:        {SM90, "SR_WARPGROUP_INFO", SM100},
	135:        {SM90, "SR_WARPGROUPID", SM120},
	SRCgaCtaID: {SM90, "SR_CgaCtaId", 0},
	137:        {SM90, "SR_GpcLocalCgaId", 0},
	141:        {SM100, "SR_TMemSz", 0},
	SRCgaSize:  {SM100, "SR_CgaSize", 0},
	139:        {SM90, "SR_CTARegPoolSz", 0},
}

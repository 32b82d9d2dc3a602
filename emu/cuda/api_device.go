package cuda

import (
	"crypto/sha256"
	"fmt"

	"gpa/emu/arch"
)

// There is one device, number 0.
var deviceFunctions = []function{
	{"cuInit", "i", nothing, initialize},
	{"cuDriverGetVersion", "p", nothing, func(c *call) Result { return c.out32(c.a[0], driverVersion) }},
	{"cuDeviceGetCount", "p", initialized, func(c *call) Result { return c.out32(c.a[0], 1) }},
	{"cuDeviceGet", "pi", initialized, ofDevice(1, func(c *call) Result { return c.out32(c.a[0], 0) })},
	{"cuDeviceGetName", "pii", initialized, ofDevice(2, deviceName)},
	{"cuDeviceGetUuid", "pi", initialized, ofDevice(1, deviceUUID)},
	{"cuDeviceGetUuid_v2", "pi", initialized, ofDevice(1, deviceUUID)},
	{"cuDeviceTotalMem_v2", "pi", initialized, ofDevice(1, func(c *call) Result { return c.out64(c.a[0], uint64(c.gpu().DRAM.Size.Value)) })},
	{"cuDeviceGetAttribute", "pii", initialized, ofDevice(2, deviceAttribute)},
	{"cuDeviceComputeCapability", "ppi", initialized, ofDevice(2, computeCapability)},
	{"cuDeviceGetPCIBusId", "pii", initialized, ofDevice(2, busID)},
	{"cuDeviceGetByPCIBusId", "pp", initialized, deviceByBusID},
	{"cuDeviceCanAccessPeer", "pii", initialized, ofDevice(1, ofDevice(2, func(c *call) Result { return c.out32(c.a[0], 0) }))},
	{"cuDeviceGetExecAffinitySupport", "pii", initialized, ofDevice(2, func(c *call) Result { return c.out32(c.a[0], 0) })},
	{"cuProfilerStart", "", nothing, func(c *call) Result { c.process.left = false; return Success }},
	{"cuProfilerStop", "", nothing, func(c *call) Result { c.process.left = true; return Success }},
}

// initialize is cuInit. Flags must be 0.
func initialize(c *call) Result {
	if c.a[0] != 0 {
		return ErrInvalidValue
	}
	c.initialized = true
	return Success
}

// gpu is the model that programs see.
func (c *call) gpu() *arch.Model { return c.server.options.GPU }

// ofDevice checks the argument that names the device.
func ofDevice(arg int, run func(*call) Result) func(*call) Result {
	return func(c *call) Result {
		if c.integer(arg) != 0 {
			return ErrInvalidDevice
		}
		return run(c)
	}
}

// stringOut returns a string in a buffer of so many bytes.
func (c *call) stringOut(addr uint64, s string, size int) Result {
	if size <= 0 {
		return ErrInvalidValue
	}
	return c.out(addr, append([]byte(s[:min(len(s), size-1)]), 0))
}

func deviceName(c *call) Result { return c.stringOut(c.a[0], c.gpu().Product, c.integer(1)) }

// deviceUUID is the same for every GPU of a model: programs key caches by it.
func deviceUUID(c *call) Result { return c.out(c.a[0], c.uuid()) }

func (c *call) uuid() []byte {
	sum := sha256.Sum256([]byte("gpa " + c.gpu().Name))
	return sum[:16]
}

func computeCapability(c *call) Result {
	c.out32(c.a[0], uint32(c.gpu().Arch/10))
	return c.out32(c.a[1], uint32(c.gpu().Arch%10))
}

// The place of the device on a bus that does not exist.
const pciBusID = "0000:01:00.0"

func busID(c *call) Result {
	if c.integer(1) <= len(pciBusID) {
		return ErrInvalidValue
	}
	return c.stringOut(c.a[0], pciBusID, c.integer(1))
}

func deviceByBusID(c *call) Result {
	s, r := c.text(c.a[1], 64)
	if r != Success {
		return r
	}
	var domain, bus, device, function int
	n, err := fmt.Sscanf(s, "%x:%x:%x.%x", &domain, &bus, &device, &function)
	if err != nil || n != 4 || fmt.Sprintf("%04x:%02x:%02x.%x", domain, bus, device, function) != pciBusID {
		return ErrInvalidValue
	}
	return c.out32(c.a[0], 0)
}

func deviceAttribute(c *call) Result {
	number := c.integer(1)
	if number < 1 || number >= attributeCount {
		return ErrInvalidValue
	}
	value := 0
	if of, ok := attributes[number]; ok {
		value = of(c.gpu())
	}
	return c.out32(c.a[0], uint32(value))
}

// attributeCount is CU_DEVICE_ATTRIBUTE_MAX of CUDA 13.0.
const attributeCount = 149

// defaultShared is the shared memory that a block may have unless its kernel has opted in to more (CUDA C++ Programming Guide), bytes.
const defaultShared = 48 << 10

func always(v int) func(*arch.Model) int { return func(*arch.Model) int { return v } }

// attributes are those of CUdevice_attribute that are not 0, by number. What the emulated GPU does not have is 0. The sizes of
// textures and surfaces are those of the table of technical specifications of the CUDA C++ Programming Guide, the same for all from sm_70 on.
var attributes = map[int]func(*arch.Model) int{
	1:  func(m *arch.Model) int { return m.Limits.ThreadsPerBlock.Int() },
	2:  func(m *arch.Model) int { return m.Limits.BlockXY.Int() },
	3:  func(m *arch.Model) int { return m.Limits.BlockXY.Int() },
	4:  func(m *arch.Model) int { return m.Limits.BlockZ.Int() },
	5:  func(m *arch.Model) int { return m.Limits.GridX.Int() },
	6:  func(m *arch.Model) int { return m.Limits.GridYZ.Int() },
	7:  func(m *arch.Model) int { return m.Limits.GridYZ.Int() },
	8:  always(defaultShared),
	9:  func(m *arch.Model) int { return m.Limits.ConstantBytes.Int() },
	10: func(m *arch.Model) int { return m.Limits.WarpSize.Int() },
	11: always(1<<31 - 1), // MAX_PITCH
	12: func(m *arch.Model) int { return m.Limits.RegistersBlock.Int() },
	13: func(m *arch.Model) int { return int(m.Clock.Value / 1e3) },
	14: always(512), // TEXTURE_ALIGNMENT, on which allocations are placed
	15: always(1),   // GPU_OVERLAP
	16: func(m *arch.Model) int { return m.SMs.Int() },
	19: always(1),   // CAN_MAP_HOST_MEMORY
	30: always(512), // SURFACE_ALIGNMENT
	31: always(1),   // CONCURRENT_KERNELS
	33: always(1),   // PCI_BUS_ID
	38: func(m *arch.Model) int { return m.L2.Size.Int() },
	39: func(m *arch.Model) int { return m.Limits.Warps.Int() * m.Limits.WarpSize.Int() },
	40: always(1),         // ASYNC_ENGINE_COUNT
	41: always(1),         // UNIFIED_ADDRESSING
	51: always(pitchUnit), // TEXTURE_PITCH_ALIGNMENT
	75: func(m *arch.Model) int { return m.Arch / 10 },
	76: func(m *arch.Model) int { return m.Arch % 10 },
	78: always(1), // STREAM_PRIORITIES_SUPPORTED
	79: always(1), // GLOBAL_L1_CACHE_SUPPORTED
	80: always(1), // LOCAL_L1_CACHE_SUPPORTED
	81: func(m *arch.Model) int { return m.Limits.SharedBlock.Int() + m.Limits.SharedReserved.Int() },
	82: func(m *arch.Model) int { return m.Limits.Registers.Int() },
	83: always(1), // MANAGED_MEMORY
	87: func(m *arch.Model) int {
		return int(m.Pipes[arch.FP64].Interval.Value / m.Pipes[arch.FMA].Interval.Value)
	},
	89:  always(1), // CONCURRENT_MANAGED_ACCESS
	90:  always(1), // COMPUTE_PREEMPTION_SUPPORTED
	95:  always(1), // COOPERATIVE_LAUNCH
	97:  func(m *arch.Model) int { return m.Limits.SharedBlock.Int() },
	99:  always(1), // HOST_REGISTER_SUPPORTED
	102: always(1), // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
	106: func(m *arch.Model) int { return m.Limits.Blocks.Int() },
	111: func(m *arch.Model) int { return m.Limits.SharedReserved.Int() },
	115: always(1),                                             // MEMORY_POOLS_SUPPORTED
	120: func(m *arch.Model) int { return btoi(m.Arch >= 90) }, // CLUSTER_LAUNCH
	125: always(1),                                             // IPC_EVENT_SUPPORTED
	126: always(1),                                             // MEM_SYNC_DOMAIN_COUNT
	127: func(m *arch.Model) int { return btoi(m.Arch >= 90) }, // TENSOR_MAP_ACCESS_SUPPORTED
	129: always(1),                                             // UNIFIED_FUNCTION_POINTERS
	142: always(1),                                             // HOST_NUMA_MEMORY_POOLS_SUPPORTED
	144: always(1),                                             // HOST_MEMORY_POOLS_SUPPORTED
	// Sizes of textures: of one, two and three dimensions, layered, gathered from, cubes, and in linear memory.
	21: always(131072), 22: always(131072), 23: always(65536), 24: always(16384), 25: always(16384), 26: always(16384),
	27: always(32768), 28: always(32768), 29: always(2048), 42: always(32768), 43: always(2048), 45: always(32768), 46: always(32768),
	52: always(32768), 53: always(32768), 54: always(2046), 69: always(1 << 28), 70: always(131072), 71: always(65000), 72: always(2097120),
	// Of surfaces.
	55: always(32768), 56: always(131072), 57: always(65536), 58: always(16384), 59: always(16384), 60: always(16384),
	61: always(32768), 62: always(2048), 63: always(32768), 64: always(32768), 65: always(2048), 66: always(32768), 67: always(32768), 68: always(2046),
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

package cuda

import (
	"fmt"

	"gpa/emu/arch"
)

var deviceRuntimeFunctions = []function{
	{"cudaGetDevice", "p", runtimeCall, func(c *call) Result { return c.out32(c.a[0], 0) }},
	{"cudaSetDevice", "i", runtimeContext, ofDevice(0, done)},
	{"cudaInitDevice", "iii", runtimeContext, ofDevice(0, done)},
	{"cudaSetValidDevices", "oi", runtimeContext, done},
	{"cudaChooseDevice", "po", runtimeContext, func(c *call) Result { return c.out32(c.a[0], 0) }},
	{"cudaSetDeviceFlags", "i", runtimeCall, func(c *call) Result { c.process.runtime.flags = uint32(c.a[0]); return Success }},
	{"cudaGetDeviceFlags", "p", runtimeCall, func(c *call) Result { return c.out32(c.a[0], c.runtime.flags) }},
	{"cudaDeviceReset", "", runtimeCall, runtimeReset},
	{"cudaThreadExit", "", runtimeCall, runtimeReset},
	{"cudaGetDeviceProperties", "pi", runtimeContext, ofDevice(1, deviceProperties)},
	{"cudaGetDeviceProperties_v2", "pi", runtimeContext, ofDevice(1, deviceProperties)},
	{"cudaRuntimeGetVersion", "p", runtimeCall, func(c *call) Result { return c.out32(c.a[0], uint32(c.runtimeVersion())) }},
	{"cudaDeviceEnablePeerAccess", "ii", runtimeContext, func(*call) Result { return ErrPeerAccessUnsupported }},
	{"cudaDeviceDisablePeerAccess", "i", runtimeContext, func(*call) Result { return ErrPeerAccessNotEnabled }},
	{"cudaGetLastError", "", runtimeCall, func(c *call) Result { v := c.thread.last; c.thread.last = Success; return c.give(uint64(v)) }},
	{"cudaPeekAtLastError", "", runtimeCall, func(c *call) Result { return c.give(uint64(c.thread.last)) }},
	{"cudaGetErrorName", "i", runtimeCall, func(c *call) Result { return c.giveText(runtimeErrorName(Result(c.a[0]))) }},
	{"cudaGetErrorString", "i", runtimeCall, func(c *call) Result { return c.giveText(runtimeErrorText(Result(c.a[0]))) }},
	{"cudaGetDriverEntryPoint", "ppno", runtimeContext, func(c *call) Result {
		status := c.a[3]
		c.a[2] = uint64(c.runtimeVersion())
		return c.entryPoint(status)
	}},
	{"cudaStreamCreate", "p", runtimeContext, func(c *call) Result { return c.createStream(0, 0) }},
	{"cudaEventCreate", "p", runtimeContext, func(c *call) Result { c.a[1] = 0; return eventCreate(c) }},
}

// runtimeVersion is the version of the runtime that a program was linked with.
func (c *call) runtimeVersion() int {
	if c.library == runtime12Library {
		return 12090
	}
	return 13000
}

// runtimeReset frees all that the process has on the device.
func runtimeReset(c *call) Result {
	if c.primary != nil {
		c.reset(c.primary)
	}
	c.thread.last = Success
	return Success
}

// runtimeTexts say what those results mean that the driver does not have.
var runtimeTexts = map[Result]string{
	ErrInvalidConfiguration:   "invalid configuration argument",
	ErrInvalidSymbol:          "invalid device symbol",
	ErrInvalidMemcpyDirection: "invalid copy direction for memcpy",
	ErrMissingConfiguration:   "__global__ function call is not configured",
	ErrInvalidDeviceFunction:  "invalid device function",
}

const unknownError = "unrecognized error code"

func runtimeErrorName(r Result) string {
	if name, ok := runtimeErrors[r]; ok {
		return name
	}
	return unknownError
}

// runtimeErrorText says what a result means. Others are named.
func runtimeErrorText(r Result) string {
	known, ok := results[r]
	switch {
	case ok:
		return known.text
	case runtimeTexts[r] != "":
		return runtimeTexts[r]
	case runtimeErrors[r] != "":
		return runtimeErrors[r]
	}
	return unknownError
}

// giveText returns a string, which stays as it is.
func (c *call) giveText(s string) Result {
	addr, r := c.constant(s)
	if r != Success {
		addr = 0
	}
	return c.give(addr)
}

// A property is a field of cudaDeviceProp: where it lies in version 12 and 13 of the runtime, its size (4 or 8 bytes), and its value.
type property struct {
	at12, at13 int // -1 where there is none
	size       int
	value      func(m *arch.Model) int
}

// byAttribute is the value of an attribute of the device.
func byAttribute(number int) func(*arch.Model) int { return attributes[number] }

// The sizes of cudaDeviceProp.
const (
	propertiesSize12 = 1032
	propertiesSize13 = 1008
	propertyUUID     = 256
)

// properties are the fields that are not 0.
var properties = []property{
	{288, 288, 8, func(m *arch.Model) int { return m.DRAM.Size.Int() }},
	{296, 296, 8, byAttribute(8)},
	{304, 304, 4, byAttribute(12)},
	{308, 308, 4, byAttribute(10)},
	{312, 312, 8, byAttribute(11)},
	{320, 320, 4, byAttribute(1)},
	{324, 324, 4, byAttribute(2)}, {328, 328, 4, byAttribute(3)}, {332, 332, 4, byAttribute(4)},
	{336, 336, 4, byAttribute(5)}, {340, 340, 4, byAttribute(6)}, {344, 344, 4, byAttribute(7)},
	{348, -1, 4, byAttribute(13)},
	{352, 352, 8, byAttribute(9)},
	{360, 360, 4, byAttribute(75)}, {364, 364, 4, byAttribute(76)},
	{368, 368, 8, byAttribute(14)},
	{376, 376, 8, byAttribute(51)},
	{384, -1, 4, byAttribute(15)},
	{388, 384, 4, byAttribute(16)},
	{400, 392, 4, byAttribute(19)},
	// The sizes of textures and surfaces.
	{408, 396, 4, byAttribute(21)}, {416, -1, 4, byAttribute(69)}, {420, 404, 4, byAttribute(22)}, {424, 408, 4, byAttribute(23)}, {436, 420, 4, byAttribute(70)},
	{440, 424, 4, byAttribute(71)}, {444, 428, 4, byAttribute(72)}, {448, 432, 4, byAttribute(45)}, {452, 436, 4, byAttribute(46)},
	{456, 440, 4, byAttribute(24)}, {460, 444, 4, byAttribute(25)}, {464, 448, 4, byAttribute(26)}, {480, 464, 4, byAttribute(52)},
	{484, 468, 4, byAttribute(42)}, {488, 472, 4, byAttribute(43)}, {492, 476, 4, byAttribute(27)}, {496, 480, 4, byAttribute(28)},
	{500, 484, 4, byAttribute(29)}, {504, 488, 4, byAttribute(53)}, {508, 492, 4, byAttribute(54)}, {512, 496, 4, byAttribute(55)},
	{516, 500, 4, byAttribute(56)}, {520, 504, 4, byAttribute(57)}, {524, 508, 4, byAttribute(58)}, {528, 512, 4, byAttribute(59)},
	{532, 516, 4, byAttribute(60)}, {536, 520, 4, byAttribute(61)}, {540, 524, 4, byAttribute(62)}, {544, 528, 4, byAttribute(63)},
	{548, 532, 4, byAttribute(64)}, {552, 536, 4, byAttribute(65)}, {556, 540, 4, byAttribute(66)}, {560, 544, 4, byAttribute(67)},
	{564, 548, 4, byAttribute(68)},
	{568, 552, 8, byAttribute(30)},
	{576, 560, 4, byAttribute(31)},
	{584, 568, 4, byAttribute(33)},
	{600, 584, 4, byAttribute(40)},
	{604, 588, 4, byAttribute(41)},
	{616, 596, 4, byAttribute(38)},
	{624, 604, 4, byAttribute(39)},
	{628, 608, 4, byAttribute(78)}, {632, 612, 4, byAttribute(79)}, {636, 616, 4, byAttribute(80)},
	{640, 624, 8, byAttribute(81)},
	{648, 632, 4, byAttribute(82)},
	{652, 636, 4, byAttribute(83)},
	{668, -1, 4, byAttribute(87)},
	{676, 656, 4, byAttribute(89)}, {680, 660, 4, byAttribute(90)},
	{688, 668, 4, byAttribute(95)},
	{696, 672, 8, byAttribute(97)},
	{712, 688, 4, byAttribute(106)},
	{720, 696, 8, byAttribute(111)},
	{728, 704, 4, byAttribute(99)},
	{744, 720, 4, byAttribute(115)},
	{768, 744, 4, byAttribute(125)},
	{772, 748, 4, byAttribute(120)},
	{776, 752, 4, byAttribute(129)},
}

// deviceProperties returns a cudaDeviceProp. cudaGetDeviceProperties of version 12 is that of programs which older toolkits have built.
func deviceProperties(c *call) Result {
	size := propertiesSize13
	if c.library == runtime12Library {
		size = propertiesSize12
		if c.function.name == "cudaGetDeviceProperties" {
			return c.server.lack(fmt.Sprintf("%s as before CUDA 12", c.function.name))
		}
	}
	b := make([]byte, size)
	copy(b[:255], c.gpu().Product)
	copy(b[propertyUUID:], c.uuid())
	for _, p := range properties {
		at := p.at13
		if size == propertiesSize12 {
			at = p.at12
		}
		switch {
		case at < 0:
		case p.size == 8:
			le.PutUint64(b[at:], uint64(p.value(c.gpu())))
		default:
			le.PutUint32(b[at:], uint32(p.value(c.gpu())))
		}
	}
	return c.out(c.a[0], b)
}

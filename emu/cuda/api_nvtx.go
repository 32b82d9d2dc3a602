package cuda

import (
	"slices"
	"strings"
)

// NVTX, by which programs name ranges of their work, is a header: it loads the library that NVTX_INJECTION64_PATH names and has its
// InitializeInjectionNvtx2 put functions into tables, one for each function of the API (nvtx3/nvtxDetail/nvtxTypes.h, of version 3 of NVTX).
// The library of this package is that library too. What is not in these rows stays empty, which NVTX takes for a function that does
// nothing.
var nvtxFunctions = []function{
	{"InitializeInjectionNvtx2", "n", nothing, injectNVTX},
	{"nvtxRangeStartEx", "o", nothing, func(c *call) Result { return c.rangeStart(0, c.eventText(c.a[0])) }},
	{"nvtxRangeStartA", "o", nothing, func(c *call) Result { return c.rangeStart(0, c.plainText(c.a[0])) }},
	{"nvtxRangeStartW", "o", nothing, func(c *call) Result { return c.rangeStart(0, c.wideText(c.a[0])) }},
	{"nvtxRangeEnd", "n", nothing, func(c *call) Result { delete(c.ranges, c.a[0]); return Success }},
	{"nvtxRangePushEx", "o", nothing, func(c *call) Result { return c.rangePush(0, c.eventText(c.a[0])) }},
	{"nvtxRangePushA", "o", nothing, func(c *call) Result { return c.rangePush(0, c.plainText(c.a[0])) }},
	{"nvtxRangePushW", "o", nothing, func(c *call) Result { return c.rangePush(0, c.wideText(c.a[0])) }},
	{"nvtxRangePop", "", nothing, func(c *call) Result { return c.rangePop(0) }},
	{"nvtxDomainRangeStartEx", "no", nothing, func(c *call) Result { return c.rangeStart(c.a[0], c.eventText(c.a[1])) }},
	{"nvtxDomainRangeEnd", "nn", nothing, func(c *call) Result { delete(c.ranges, c.a[1]); return Success }},
	{"nvtxDomainRangePushEx", "no", nothing, func(c *call) Result { return c.rangePush(c.a[0], c.eventText(c.a[1])) }},
	{"nvtxDomainRangePop", "n", nothing, func(c *call) Result { return c.rangePop(c.a[0]) }},
	{"nvtxDomainRegisterStringA", "no", nothing, func(c *call) Result { return c.give(c.add(nvtxName(c.plainText(c.a[1])))) }},
	{"nvtxDomainRegisterStringW", "no", nothing, func(c *call) Result { return c.give(c.add(nvtxName(c.wideText(c.a[1])))) }},
	{"nvtxDomainCreateA", "o", nothing, func(c *call) Result { return c.give(c.add(nvtxName(c.plainText(c.a[0])))) }},
	{"nvtxDomainCreateW", "o", nothing, func(c *call) Result { return c.give(c.add(nvtxName(c.wideText(c.a[0])))) }},
	{"nvtxDomainDestroy", "n", nothing, func(c *call) Result { delete(c.handles, c.a[0]); return Success }},
}

// nvtxPrefix begins the names of functions that only the tables of NVTX lead to.
const nvtxPrefix = "nvtx"

// Modules of tables (NvtxCallbackModule) and the places of functions in them (NvtxCallbackIdCore, NvtxCallbackIdCore2).
var nvtxTables = map[uint64]map[int]string{
	1: {4: "nvtxRangeStartEx", 5: "nvtxRangeStartA", 6: "nvtxRangeStartW", 7: "nvtxRangeEnd", 8: "nvtxRangePushEx", 9: "nvtxRangePushA", 10: "nvtxRangePushW",
		11: "nvtxRangePop"},
	5: {2: "nvtxDomainRangeStartEx", 3: "nvtxDomainRangeEnd", 4: "nvtxDomainRangePushEx", 5: "nvtxDomainRangePop", 10: "nvtxDomainRegisterStringA",
		11: "nvtxDomainRegisterStringW", 12: "nvtxDomainCreateA", 13: "nvtxDomainCreateW", 14: "nvtxDomainDestroy"},
}

// A nvtxName is a domain, or a string that is registered.
type nvtxName string

// A namedRange is a range that is open.
type namedRange struct{ domain, name string }

// injectNVTX is told the function that returns tables: it asks for that of the callbacks, and has it fill in where function pointers lie.
func injectNVTX(c *call) Result {
	const callbacks, core, core2 = 1, 1, 5
	if r := c.mapDevice(); r != Success {
		return c.give(0)
	}
	out, err := c.device.take(16, stagingMemory, "table of NVTX")
	if err != nil {
		return c.give(0)
	}
	defer c.device.give(out)
	table, err := c.ask(c.a[0], callbacks)
	if err != nil || table == 0 {
		return c.give(0)
	}
	entry, r := c.words(table, 2)
	if r != Success {
		return c.give(0)
	}
	for _, module := range []uint64{core, core2} {
		ok, err := c.ask(entry[1], module, out.addr, out.addr+8)
		if err != nil || uint32(ok) == 0 || !c.fillTable(le.Uint64(out.data), int(le.Uint32(out.data[8:])), nvtxTables[module]) {
			return c.give(0)
		}
	}
	return c.give(1)
}

// fillTable puts addresses of functions where the entries of a table point.
func (c *call) fillTable(addr uint64, size int, names map[int]string) bool {
	const most = 1 << 10
	if size > most {
		return false
	}
	slots, r := c.words(addr, size)
	if r != Success {
		return false
	}
	for i, slot := range slots {
		name, ok := names[i]
		if !ok || slot == 0 {
			continue
		}
		at, err := c.server.images[c.library].Function(c.data, c.server.table.numbers[name])
		if err != nil || c.store(slot, le.AppendUint64(nil, at)) != Success {
			return false
		}
	}
	return true
}

// ask has the client call a function and returns what that returns.
func (c *call) ask(function uint64, args ...uint64) (uint64, error) {
	c.mu.Unlock()
	defer c.mu.Lock()
	return c.conn.Callback(function, args...)
}

// give makes a value the result of a function that returns no CUresult.
func (c *call) give(v uint64) Result {
	c.value = &v
	return Success
}

func (c *call) plainText(addr uint64) string {
	s, _ := c.text(addr, maxName)
	return s
}

// wideText reads a string of wchar_t, which has 32 bits.
func (c *call) wideText(addr uint64) string {
	var b [4]byte
	var s strings.Builder
	for ; s.Len() < maxName; addr += 4 {
		if c.load(addr, b[:]) != Success || le.Uint32(b[:]) == 0 {
			break
		}
		s.WriteRune(rune(le.Uint32(b[:])))
	}
	return s.String()
}

// The layout of nvtxEventAttributes_t, and the types of messages (nvtxMessageType_t).
const (
	nvtxEventBytes    = 48
	nvtxMessageType   = 32
	nvtxMessage       = 40
	messagePlain      = 1
	messageWide       = 2
	messageRegistered = 3
)

// eventText returns the message of an event.
func (c *call) eventText(addr uint64) string {
	var b [nvtxEventBytes]byte
	if addr == 0 || c.load(addr, b[:]) != Success {
		return ""
	}
	message := le.Uint64(b[nvtxMessage:])
	switch le.Uint32(b[nvtxMessageType:]) {
	case messagePlain:
		return c.plainText(message)
	case messageWide:
		return c.wideText(message)
	case messageRegistered:
		name, _ := find[nvtxName](c.process, message)
		return string(name)
	}
	return ""
}

// rangeOf is a range in a domain; 0 stands for the default one.
func (c *call) rangeOf(domain uint64, name string) namedRange {
	d, _ := find[nvtxName](c.process, domain)
	return namedRange{string(d), name}
}

// rangeStart opens a range of the whole process and returns its identifier.
func (c *call) rangeStart(domain uint64, name string) Result {
	if c.ranges == nil {
		c.process.ranges = make(map[uint64]namedRange)
	}
	c.process.rangesMade++
	c.ranges[c.rangesMade] = c.rangeOf(domain, name)
	return c.give(c.rangesMade)
}

// rangePush opens a range of the thread, in the one that is open in the domain. Functions return how deep it lies.
func (c *call) rangePush(domain uint64, name string) Result {
	r := c.rangeOf(domain, name)
	c.thread.ranges = append(c.thread.ranges, r)
	return c.give(uint64(c.thread.depth(r.domain) - 1))
}

// rangePop closes the last range of the thread in the domain.
func (c *call) rangePop(domain uint64) Result {
	name := c.rangeOf(domain, "").domain
	for i, r := range slices.Backward(c.thread.ranges) {
		if r.domain == name {
			c.thread.ranges = slices.Delete(c.thread.ranges, i, i+1)
			return c.give(uint64(c.thread.depth(name)))
		}
	}
	const noRange = 1<<64 - 1
	return c.give(noRange)
}

func (t *thread) depth(domain string) int {
	n := 0
	for _, r := range t.ranges {
		n += btoi(r.domain == domain)
	}
	return n
}

// Within says whether a range is open where the launch was asked for: NAME in any domain, or DOMAIN@NAME.
func (l *Launch) Within(name string) bool {
	return slices.ContainsFunc(l.ranges, func(r namedRange) bool { return r.name == name || r.domain+"@"+r.name == name })
}

// openRanges are those of the thread and of the process.
func (c *call) openRanges() []namedRange {
	list := slices.Clone(c.thread.ranges)
	for _, r := range c.ranges {
		list = append(list, r)
	}
	return list
}

package profiler

import (
	"encoding/json"
	"fmt"

	"gpa/emu/stall"
)

// The saved form of a profile is a zip archive with the entry profile.json, described by the types of this file, and one
// entry for each cubin that it names. Keys that are absent hold zero; readers ignore keys that they do not know.
//
//	{"format": "gpa-profile", "version": 1,
//	 "modules":  [{"name": "saxpy.sm_70.cubin", "file": "cubins/<SHA-256 in hexadecimal>.cubin"}],
//	 "launches": [{"kernel": "saxpy", "module": 0, "gpu": "v100", "grid": [128,1,1], "block": [256,1,1],
//	   "facts": {"cycles": 12345, …}, "period": 32,
//	   "samples":  [{"code": 0, "pc": 464, "reason": "long_scoreboard", "count": 7, "latency": 5,
//	                 "producer": {"code": 0, "pc": 400}}],
//	   "counters": [{"code": 0, "pc": 464, "executions": 1024, "thread_executions": 32768}],
//	   "fault": {…}, "missing": ["thread executions"], "record": {…},
//	   "inherits": {"loaded": 4096, "own": 2048, "apart": 3, "loads": [{"code": 0, "pc": 464}]},
//	   "tries": [{"optimizer": "loop-unrolling", "place": "loop block 3 of section 0", "speedup": 1.12},
//	             {"optimizer": "async-copy", "place": "kernel of section 0", "why": "…"}]}]}
//
// Modules are counted from 0, code is the index of a .text section in the cubin and pc the byte offset in it. Samples
// are sorted by code, pc, reason (in the order of package stall) and producer, the unknown one first; counters by code
// and pc.
const (
	formatName    = "gpa-profile"
	formatVersion = 1
	profileEntry  = "profile.json"
)

type savedModule struct {
	Name string `json:"name"`
	File string `json:"file"`
}

type savedFacts struct {
	Registers            int     `json:"registers,omitempty"`
	SharedStatic         int     `json:"shared_static,omitempty"`
	SharedDynamic        int     `json:"shared_dynamic,omitempty"`
	LocalBytes           int     `json:"local_bytes,omitempty"`
	Cycles               int64   `json:"cycles,omitempty"`
	SMActiveCycles       int64   `json:"sm_active_cycles,omitempty"`
	WarpActiveCycles     int64   `json:"warp_active_cycles,omitempty"`
	L2Bytes              int64   `json:"l2_bytes,omitempty"`
	DRAMReadBytes        int64   `json:"dram_read_bytes,omitempty"`
	DRAMWrittenBytes     int64   `json:"dram_written_bytes,omitempty"`
	DRAMPeak             float64 `json:"dram_peak,omitempty"`
	ClockHz              float64 `json:"clock_hz,omitempty"`
	WarpInstructions     int64   `json:"warp_instructions,omitempty"`
	ThreadInstructions   int64   `json:"thread_instructions,omitempty"`
	SMs                  int     `json:"sms,omitempty"`
	SchedulersPerSM      int     `json:"schedulers_per_sm,omitempty"`
	MaxWarpsPerScheduler int     `json:"max_warps_per_scheduler,omitempty"`
	WarpsPerScheduler    float64 `json:"warps_per_scheduler,omitempty"`
	OccupancyLimit       string  `json:"occupancy_limit,omitempty"`
	BlocksPerSM          int     `json:"blocks_per_sm,omitempty"`
	TimingLevel          string  `json:"timing_level,omitempty"`
	Extrapolated         bool    `json:"extrapolated,omitempty"`
	ErrorBound           float64 `json:"error_bound,omitempty"`
	TimedBlocks          int     `json:"timed_blocks,omitempty"`
	Repeats              int     `json:"repeats,omitempty"`
	Untimed              int     `json:"untimed,omitempty"`
	Alike                int     `json:"alike,omitempty"`
}

type savedPlace struct {
	Code int    `json:"code"`
	PC   uint64 `json:"pc"`
}

type savedSample struct {
	Code     int         `json:"code"`
	PC       uint64      `json:"pc"`
	Reason   string      `json:"reason"`
	Count    int64       `json:"count"`
	Latency  int64       `json:"latency,omitempty"`
	Producer *savedPlace `json:"producer,omitempty"`
}

type savedCounter struct {
	Code                  int    `json:"code"`
	PC                    uint64 `json:"pc"`
	Executions            int64  `json:"executions,omitempty"`
	ThreadExecutions      int64  `json:"thread_executions,omitempty"`
	GlobalSectors         int64  `json:"global_sectors,omitempty"`
	GlobalSectorsIdeal    int64  `json:"global_sectors_ideal,omitempty"`
	SharedWavefronts      int64  `json:"shared_wavefronts,omitempty"`
	SharedWavefrontsIdeal int64  `json:"shared_wavefronts_ideal,omitempty"`
	BranchTaken           int64  `json:"branch_taken,omitempty"`
}

type savedFault struct {
	Kind    string  `json:"kind"`
	Code    int     `json:"code"`
	PC      uint64  `json:"pc"`
	Block   [3]int  `json:"block"`
	Thread  [3]int  `json:"thread"`
	Address *uint64 `json:"address,omitempty"`
	Buffer  string  `json:"buffer,omitempty"`
	Message string  `json:"message,omitempty"`
}

// savedLaunch keeps its long parts as text, so that they are read one element or one launch at a time.
type savedLaunch struct {
	Kernel   string          `json:"kernel"`
	Module   int             `json:"module"`
	GPU      string          `json:"gpu,omitempty"`
	Grid     [3]int          `json:"grid"`
	Block    [3]int          `json:"block"`
	Facts    savedFacts      `json:"facts"`
	Period   int             `json:"period,omitempty"`
	Samples  json.RawMessage `json:"samples,omitempty"`
	Counters json.RawMessage `json:"counters,omitempty"`
	Fault    *savedFault     `json:"fault,omitempty"`
	Missing  []string        `json:"missing,omitempty"`
	Record   json.RawMessage `json:"record,omitempty"`
	Inherits *savedInherits  `json:"inherits,omitempty"`
	Tries    []savedTry      `json:"tries,omitempty"`

	Alternatives []Alternative `json:"alternatives,omitempty"`
}

// savedInherits is an [Inheritance].
type savedInherits struct {
	Loaded int64        `json:"loaded"`
	Own    int64        `json:"own"`
	Apart  int          `json:"apart,omitempty"`
	Loads  []savedPlace `json:"loads,omitempty"`
	Feeds  []savedFeed  `json:"feeds,omitempty"`
	// Overwrites counts launches back.
	Overwrites []int `json:"overwrites,omitempty"`
}

// savedFeed is a [Feed].
type savedFeed struct {
	Back   int             `json:"back"`
	Bytes  int64           `json:"bytes"`
	Left   int64           `json:"left"`
	Blocks int             `json:"blocks,omitempty"`
	Loads  []savedFeedLoad `json:"loads,omitempty"`
}

type savedFeedLoad struct {
	savedPlace
	Bytes int64 `json:"bytes"`
	Of    int64 `json:"of"`
}

func saveFeed(f *Feed) savedFeed {
	out := savedFeed{Back: f.Back, Bytes: f.Bytes, Left: f.Left, Blocks: f.Blocks}
	for _, l := range f.Loads {
		out.Loads = append(out.Loads, savedFeedLoad{savedPlace(l.Place), l.Bytes, l.Of})
	}
	return out
}

func (s *savedFeed) restore() Feed {
	out := Feed{Back: s.Back, Bytes: s.Bytes, Left: s.Left, Blocks: s.Blocks}
	for _, l := range s.Loads {
		out.Loads = append(out.Loads, FeedLoad{Place(l.savedPlace), l.Bytes, l.Of})
	}
	return out
}

func saveInherits(x *Inheritance) *savedInherits {
	if x == nil {
		return nil
	}
	out := &savedInherits{Loaded: x.Loaded, Own: x.Own, Apart: x.Apart, Overwrites: x.Overwrites}
	for _, at := range x.Loads {
		out.Loads = append(out.Loads, savedPlace(at))
	}
	for i := range x.Feeds {
		out.Feeds = append(out.Feeds, saveFeed(&x.Feeds[i]))
	}
	return out
}

func (s *savedInherits) restore() *Inheritance {
	if s == nil {
		return nil
	}
	out := &Inheritance{Loaded: s.Loaded, Own: s.Own, Apart: s.Apart, Overwrites: s.Overwrites}
	for _, at := range s.Loads {
		out.Loads = append(out.Loads, Place(at))
	}
	for i := range s.Feeds {
		out.Feeds = append(out.Feeds, s.Feeds[i].restore())
	}
	return out
}

type savedTry struct {
	Optimizer string  `json:"optimizer"`
	Place     string  `json:"place"`
	Speedup   float64 `json:"speedup,omitempty"`
	Why       string  `json:"why,omitempty"`
}

type savedProfile struct {
	Format   string          `json:"format"`
	Version  int             `json:"version"`
	Modules  json.RawMessage `json:"modules"`
	Launches json.RawMessage `json:"launches"`
	Precise  bool            `json:"precise,omitempty"`
}

func saveSample(s *Sample) savedSample {
	out := savedSample{Code: s.Code, PC: s.PC, Reason: s.Reason.String(), Count: s.Count, Latency: s.Latency}
	if s.Producer.Known {
		out.Producer = &savedPlace{Code: s.Producer.Code, PC: s.Producer.PC}
	}
	return out
}

func (s *savedSample) restore() (Sample, error) {
	reason, ok := stall.ParseReason(s.Reason)
	if !ok {
		return Sample{}, fmt.Errorf("unknown stall reason %q", s.Reason)
	}
	out := Sample{Code: s.Code, PC: s.PC, Reason: reason, Count: s.Count, Latency: s.Latency}
	if s.Producer != nil {
		out.Producer = Producer{Known: true, Code: s.Producer.Code, PC: s.Producer.PC}
	}
	return out, nil
}

func saveFault(f *Fault) *savedFault {
	if f == nil {
		return nil
	}
	out := &savedFault{
		Kind: f.Kind, Code: f.Code, PC: f.PC, Block: f.Block, Thread: f.Thread, Buffer: f.Buffer, Message: f.Message,
	}
	if f.HasAddress {
		out.Address = &f.Address
	}
	return out
}

func (f *savedFault) restore() *Fault {
	if f == nil {
		return nil
	}
	out := &Fault{
		Kind: f.Kind, Code: f.Code, PC: f.PC, Block: f.Block, Thread: f.Thread, Buffer: f.Buffer, Message: f.Message,
	}
	if f.Address != nil {
		out.HasAddress, out.Address = true, *f.Address
	}
	return out
}

package mem

import "testing"

// batching is a V100 whose memory controllers keep writes for so many cycles while they read, and turn in no time.
func batching(t *testing.T, batch int64) *Config {
	cfg := NewConfig(v100(t), 0, false)
	cfg.batch, cfg.turn = batch, 0
	return cfg
}

// streamed serves lines that are written, each with a line that is read where reads is true, two lines a cycle of the five that
// DRAM can take, and returns how long the reads take in the mean and when the last write is taken.
func streamed(cfg *Config, reads bool) (read float64, last int64) {
	const lines, first, far = 200_000, 100_000, 1 << 30 // L2 is full of written lines before the first read that counts
	d := NewDevice(cfg)
	for i := range int64(lines) {
		w := request{at: i, line: uint64(i), sectors: allSectors, words: wordsOf(allSectors), kind: Write, sm: int32(i) % int32(cfg.SMs)}
		d.serve(&w)
		last = w.done
		if !reads {
			continue
		}
		r := request{at: i, line: uint64(far + i), sectors: allSectors, kind: Read, sm: int32(i) % int32(cfg.SMs)}
		d.serve(&r)
		if i >= first {
			read += float64(r.done-r.at) / (lines - first)
		}
	}
	return read, last
}

// TestBatchDelaysReads holds that reads beside writes wait longer where writes come in batches, by about the share of the time that
// a channel writes times half of the time that it writes.
func TestBatchDelaysReads(t *testing.T) {
	const share = 0.2 // one of five lines a cycle
	before, _ := streamed(batching(t, 0), true)
	for _, batch := range []int64{1000, 2000, 4000} {
		got, _ := streamed(batching(t, batch), true)
		writing := float64(batch) * share / (1 - share)
		if wait, least, most := got-before, 0.3*share*writing, 0.7*share*writing; wait < least || wait > most {
			t.Errorf("batches of %d cycles: reads take %.0f cycles instead of %.0f, want %.0f to %.0f more", batch, got, before, least, most)
		}
	}
}

// TestWritesAloneReachTheBandwidth holds that without reads batches of writes take the time of their lines at the bandwidth of DRAM:
// nothing turns, and no bank is idle while another has more to write.
func TestWritesAloneReachTheBandwidth(t *testing.T) {
	const lines, first, room = 400_000, 100_000, 8192 // L2 is full of written lines before the first that counts
	for _, batch := range []int64{500, 2000, 4000} {
		cfg := batching(t, batch)
		cfg.turn = 1000 * tick
		d := NewDevice(cfg)
		var done [room]int64 // of the lines under way
		var at, begin int64
		for i := range int64(lines) {
			at = max(at, done[i%room])
			w := request{at: at, line: uint64(i), sectors: allSectors, words: wordsOf(allSectors), kind: Write, sm: int32(i) % int32(cfg.SMs)}
			d.serve(&w)
			done[i%room] = w.done
			if i == first {
				begin = at
			}
		}
		banks := float64(cfg.channels * cfg.memoryBanks)
		want := (lines - first) * sectorsPerLine * float64(cfg.writing.opening+cfg.writing.open*int64(cfg.rowLines-1)) / float64(cfg.rowLines) / banks / tick
		if got := float64(at - begin); got < 0.98*want || got > 1.02*want {
			t.Errorf("batches of %d cycles: %d lines take %.0f cycles, want %.0f", batch, lines-first, got, want)
		}
	}
}

// TestBatch follows one channel: writes are kept until it is time, then all banks are busy with their share, and the time begins
// anew.
func TestBatch(t *testing.T) {
	cfg := batching(t, 2000)
	cfg.turn, cfg.memoryBanks = 40*tick, 4
	d := NewDevice(cfg)
	d.channels[1] = channel{read: true, next: 1000}
	const cost = 100 * tick
	for _, at := range []int64{10, 500, 999} {
		if got := d.keep(1, &d.banks[4], cost, at); got != at {
			t.Errorf("a write in cycle %d that is kept holds up until %d", at, got)
		}
	}
	if d.banks[4].port != 0 {
		t.Errorf("kept writes take a bank until tick %d", d.banks[4].port)
	}
	d.keep(1, &d.banks[4], cost, 1000)
	for i := range 4 {
		if got, want := d.banks[4+i].port, port((1000+(4*100+40)/4)*tick); got != want {
			t.Errorf("bank %d writes until tick %d, want %d", i, got, want)
		}
	}
	if want := (channel{next: 3000}); d.channels[1] != want {
		t.Errorf("the channel is %+v afterwards, want %+v", d.channels[1], want)
	}
	if d.banks[0].port != 0 || d.banks[8].port != 0 {
		t.Error("other channels write too")
	}
}

// TestKeptWritesAreBounded holds that L2 waits for a channel that gets more to write than it can.
func TestKeptWritesAreBounded(t *testing.T) {
	cfg := batching(t, 2000)
	d := NewDevice(cfg)
	d.channels[0] = channel{read: true, next: Never}
	limit := (cfg.batch + cfg.buffered) * int64(cfg.memoryBanks) * tick
	if got := d.keep(0, &d.banks[0], limit, 0); got != 0 {
		t.Errorf("as much as may be kept holds up until cycle %d", got)
	}
	if got := d.keep(0, &d.banks[0], 10*int64(cfg.memoryBanks)*tick, 0); got != 10 {
		t.Errorf("10 cycles more hold up until cycle %d", got)
	}
}

package compile

import (
	"bufio"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gpa/cubin"
)

// siteCustomize is what Python imports as it starts, in programs that are to keep their kernels.
//
//go:embed sitecustomize.py
var siteCustomize []byte

// A TritonHook has the Python processes of a program keep the kernels that they launch by Triton. A copy of each stays behind when it ends, so that
// kernels can be compiled with other values of their constants, of which no file says what they were.
type TritonHook struct {
	folder   string
	listener *net.UnixListener
	stayed   []*stayed
}

// A stayed is a process that has stayed behind.
type stayed struct {
	mu       sync.Mutex // held from a request to its answer
	conn     *net.UnixConn
	lines    *bufio.Reader
	launches []*TritonLaunch
}

// A TritonLaunch is a kernel with a grid that a program has launched.
type TritonLaunch struct {
	Kernel string
	Grid   [3]int
	// Types are those of the parameters in Triton's notation, as in *fp16 and i32.
	Types        []string
	Alternatives []TritonAlternative

	image  string // sha256 of the cubin
	number int    // in its process
	of     *stayed
}

// A TritonAlternative is a launch with other values of constants, by name.
type TritonAlternative struct {
	Constants, Was map[string]int
	Grid           [3]int
}

// HookTriton makes the files that a program needs. [TritonHook.Close] removes them.
func HookTriton() (*TritonHook, error) {
	folder, err := os.MkdirTemp("", "gpa-triton-")
	if err != nil {
		return nil, err
	}
	h := &TritonHook{folder: folder}
	if err = os.WriteFile(filepath.Join(folder, "sitecustomize.py"), siteCustomize, 0o600); err == nil {
		h.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(folder, "socket"), Net: "unix"})
	}
	if err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return h, nil
}

// Environment adds to a program's environment what has it keep its kernels.
func (h *TritonHook) Environment(env []string) []string {
	path := h.folder
	for _, v := range env {
		if old, ok := strings.CutPrefix(v, "PYTHONPATH="); ok && old != "" {
			path = h.folder + string(os.PathListSeparator) + old
		}
	}
	return append(slices.Clone(env), "PYTHONPATH="+path, "GPA_TRITON="+filepath.Join(h.folder, "socket"))
}

// Limits of what processes say.
const (
	mostStayed    = 64
	stayedSays    = 5 * time.Second
	longestAnswer = 1 << 22 // bytes of a line
)

// Ended takes up what has stayed behind of a program that has ended. Each process has come to the socket by then.
func (h *TritonHook) Ended() {
	for len(h.stayed) < mostStayed {
		h.listener.SetDeadline(time.Now().Add(10 * time.Millisecond)) // one that passed would end it with those that wait
		conn, err := h.listener.AcceptUnix()
		if err != nil {
			return
		}
		s := &stayed{conn: conn, lines: bufio.NewReaderSize(conn, longestAnswer)}
		var told []struct {
			Kernel, Image string
			Grid          [3]int
			Types         []string
			Alternatives  []TritonAlternative
		}
		conn.SetReadDeadline(time.Now().Add(stayedSays))
		line, err := s.lines.ReadSlice('\n')
		if err != nil || json.Unmarshal(line, &told) != nil {
			conn.Close()
			continue
		}
		for i, l := range told {
			s.launches = append(s.launches, &TritonLaunch{Kernel: l.Kernel, Grid: l.Grid, Types: l.Types, Alternatives: l.Alternatives, image: l.Image, number: i, of: s})
		}
		h.stayed = append(h.stayed, s)
	}
}

// Find returns what is known of a kernel of a module that was launched with a grid, nil where nothing is.
func (h *TritonHook) Find(module *cubin.File, kernel string, grid [3]int) *TritonLaunch {
	if h == nil {
		return nil
	}
	sum := sha256.Sum256(module.Raw)
	image := hex.EncodeToString(sum[:])
	for _, s := range h.stayed {
		for _, l := range s.launches {
			if l.Kernel == kernel && l.Grid == grid && l.image == image {
				return l
			}
		}
	}
	return nil
}

// Close ends what has stayed behind.
func (h *TritonHook) Close() error {
	for _, s := range h.stayed {
		s.conn.Close()
	}
	return errors.Join(h.listener.Close(), os.RemoveAll(h.folder))
}

// compile has the process compile a kernel with each of some options, of which it writes files to a folder.
func (l *TritonLaunch) compile(ctx context.Context, folder string, list []TritonOptions) error {
	l.of.mu.Lock()
	defer l.of.mu.Unlock()
	asked, err := json.Marshal(map[string]any{"id": l.number, "options": list, "out": folder})
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { l.of.conn.SetDeadline(time.Now()) })()
	l.of.conn.SetDeadline(time.Now().Add(tritonPatience))
	if _, err = l.of.conn.Write(append(asked, '\n')); err == nil {
		_, err = l.of.lines.ReadSlice('\n')
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("compiling %s again took longer than %s", l.Kernel, tritonPatience)
	case err != nil:
		return fmt.Errorf("compiling %s again: the program's Python has not answered: %w", l.Kernel, err)
	}
	return nil
}

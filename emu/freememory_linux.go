package emu

import (
	"bufio"
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// FreeMemory returns how many bytes of memory this process can still take without pushing others out: the least of what the system
// has available (MemAvailable of proc(5)), what is left of the limits of its control groups (memory.max of cgroups(7)) and of its
// address space (RLIMIT_AS). Where nothing is known it is math.MaxInt64.
func FreeMemory() int64 {
	free := int64(math.MaxInt64)
	if n, ok := procField("/proc/meminfo", "MemAvailable:"); ok {
		free = n << 10
	}
	for _, group := range controlGroups() {
		limit, limited := fileNumber(group + "/memory.max")
		if !limited {
			continue
		}
		used, known := fileNumber(group + "/memory.current")
		if cached, ok := procField(group+"/memory.stat", "inactive_file"); ok {
			used -= cached // the system takes it back where memory runs out
		}
		if known {
			free = min(free, max(limit-used, 0))
		}
	}
	var space unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &space) == nil && space.Cur < math.MaxInt64 {
		if used, ok := procField("/proc/self/status", "VmSize:"); ok {
			free = min(free, max(int64(space.Cur)-used<<10, 0))
		}
	}
	return free
}

// controlGroups lists the folders of the process's control group (version 2) and those above it.
func controlGroups() []string {
	const root = "/sys/fs/cgroup"
	list := []string{root}
	data, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return list
	}
	for line := range strings.Lines(string(data)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for name = filepath.Clean("/" + name); ok && name != "/"; name = filepath.Dir(name) {
			list = append(list, root+name)
		}
	}
	return list
}

// procField returns the number behind a name at the beginning of a line.
func procField(file, name string) (int64, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == name {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// fileNumber returns the number that a file holds; "max", which stands for no limit, is none.
func fileNumber(file string) (int64, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64)
	return n, err == nil
}

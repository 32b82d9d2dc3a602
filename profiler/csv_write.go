package profiler

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// WriteCSV writes the samples and counters of a launch as Nsight Compute writes its source page: the kernel's name, a header, and
// a row for each instruction of the kernel's section. It fails where samples lie in other sections, for which the form has no
// place.
func WriteCSV(w io.Writer, module *cubin.File, l *Launch) error {
	code, err := kernelCode(module, l.Kernel)
	if err != nil {
		return err
	}
	for i := range l.Samples {
		if l.Samples[i].Code != code.Index {
			return fmt.Errorf("kernel %s: a sample lies in %s, and the form holds one section", l.Kernel, module.Codes[l.Samples[i].Code].Name)
		}
	}
	out := csv.NewWriter(w)
	rows := [][]string{{"Kernel Name", kernelTitle(module, l.Kernel)}, csvHeader()}
	for i := range code.Insts {
		rows = append(rows, csvRow(l, code.Index, &code.Insts[i]))
	}
	if err := out.WriteAll(rows); err != nil {
		return fmt.Errorf("kernel %s: %w", l.Kernel, err)
	}
	return nil
}

// kernelCode finds the section of a kernel.
func kernelCode(module *cubin.File, name string) (*cubin.Code, error) {
	for _, k := range module.Kernels {
		if k.Name == name {
			return k.Code, nil
		}
	}
	return nil, fmt.Errorf("module %s has no kernel %q", module.Name, name)
}

func kernelTitle(module *cubin.File, name string) string {
	for _, k := range module.Kernels {
		if k.Name == name && k.Demangled != "" {
			return k.Demangled
		}
	}
	return name
}

func csvHeader() []string {
	header := make([]string, 0, int(csvLine)+2*int(stall.NumReasons))
	for f := range csvLine {
		header = append(header, csvColumns[f][0])
	}
	for _, suffix := range []string{"", notIssued} {
		for r := range stall.NumReasons {
			header = append(header, "stall_"+csvStalls[r][0]+suffix)
		}
	}
	return header
}

func csvRow(l *Launch, code int, in *sass.Inst) []string {
	var total Totals
	for _, s := range l.At(code, in.PC) {
		total.Add(&s)
	}
	c, _ := l.Counter(code, in.PC)
	row := []string{"0x" + strconv.FormatUint(in.PC, 16), strings.TrimSuffix(in.Text(), " ;")}
	for _, n := range []int64{total.Samples, total.Latency, c.Executions, c.ThreadExecutions, c.GlobalSectors, c.GlobalSectorsIdeal,
		c.SharedWavefronts, c.SharedWavefrontsIdeal} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	for r := range stall.NumReasons {
		row = append(row, strconv.FormatInt(total.ByReason[r], 10))
	}
	for r := range stall.NumReasons {
		row = append(row, strconv.FormatInt(total.LatencyByReason[r], 10))
	}
	return row
}

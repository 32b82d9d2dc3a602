package profiler

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"gpa/cubin"
	"gpa/cubin/sass"
	"gpa/emu/stall"
)

// A CSVError is a mistake in a line of a CSV file.
type CSVError struct {
	Line int
	Err  error
}

func (e *CSVError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what is wrong.
func (e *CSVError) Unwrap() error { return e.Err }

// maxCSVRows bounds what is read of one launch: more rows than instructions of any kernel.
const maxCSVRows = 4 << 20

// ReadCSV reads Nsight Compute's source page: a launch for each header. The samples are placed in the module, whose instructions
// have to be those of the file; launch facts, which a source page lacks, are left to the caller. Kernels are found by the name
// above the header; kernel, where it is not empty, names the one of files without.
//
// Rows of CUDA source (print-source cuda,sass) are skipped. What the file has no column for is noted in Missing. Once the facts
// are there, [Check] holds the profile together.
func ReadCSV(r io.Reader, module *cubin.File, kernel string) (*Profile, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord, in.LazyQuotes, in.ReuseRecord = -1, true, true
	p := &csvReader{module: module, kernel: kernel, out: &Profile{Modules: []*cubin.File{module}}}
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		line, _ := in.FieldPos(0)
		if err == nil {
			err = p.record(record)
		}
		if err != nil {
			return nil, &CSVError{line, err}
		}
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	if len(p.out.Launches) == 0 {
		return nil, errors.New(`there is no header with the columns "Address" and "Source": is it the source page (ncu --csv --page source)?`)
	}
	return p.out, nil
}

// A csvReader reads one file.
type csvReader struct {
	module *cubin.File
	kernel string
	out    *Profile

	title   string // of the next launch
	columns []csvColumn
	fields  [numCSVFields]int // column of each field, -1 for none
	rows    []csvInst
	launch  *Launch // being read
}

// A csvColumn is a stall column, or none.
type csvColumn struct {
	reason         stall.Reason
	stall, latency bool
}

// A csvInst is a row.
type csvInst struct {
	address uint64
	text    string
	counts  [numCSVFields]int64
	samples [stall.NumReasons]int64
	latency [stall.NumReasons]int64
}

// record takes one record of the file.
func (p *csvReader) record(record []string) error {
	switch {
	case len(record) > 1 && (record[0] == "Kernel Name" || record[0] == "Function Name"):
		p.title = record[1]
		return nil
	case slices.Contains(record, "Source") && (slices.Contains(record, "Address") || slices.Contains(record, "PC")):
		if err := p.finish(); err != nil {
			return err
		}
		return p.begin(record)
	case p.launch == nil || len(record) < len(p.columns)/2:
		return nil // what ncu says before, names of files
	}
	return p.row(record)
}

// begin reads a header.
func (p *csvReader) begin(header []string) error {
	name, err := p.find()
	if err != nil {
		return err
	}
	p.launch = &Launch{Kernel: name, GPU: ""}
	p.rows = nil
	p.columns = make([]csvColumn, len(header))
	for f := range p.fields {
		p.fields[f] = -1
	}
	for i, title := range header {
		if r, latency, ok := stallColumn(title); ok {
			p.columns[i] = csvColumn{reason: r, stall: true, latency: latency}
		}
	}
	for f, names := range csvColumns {
		for _, name := range names {
			// With print-source cuda,sass the first Source column is CUDA's.
			if i := lastIndex(header, name, csvField(f) == csvSource); i >= 0 {
				p.fields[f] = i
				break
			}
		}
	}
	return nil
}

// lastIndex finds a column by its name, the last of several or the first.
func lastIndex(header []string, name string, last bool) int {
	at := -1
	for i, title := range header {
		if title == name && (at < 0 || last) {
			at = i
		}
	}
	return at
}

// find returns the kernel that the next rows are of.
func (p *csvReader) find() (string, error) {
	if p.kernel != "" {
		k, err := p.module.Kernel(p.kernel)
		if err != nil {
			return "", err
		}
		return k.Name, nil
	}
	title := p.title
	for _, k := range p.module.Kernels {
		base, _, _ := strings.Cut(title, "(")
		if title == k.Name || title == k.Demangled || base == k.Demangled {
			return k.Name, nil
		}
	}
	if title == "" && len(p.module.Kernels) == 1 {
		return p.module.Kernels[0].Name, nil
	}
	return "", fmt.Errorf("module %s has no kernel %q", p.module.Name, title)
}

// row reads the row of an instruction; rows of CUDA source are skipped.
func (p *csvReader) row(record []string) error {
	field := func(i int) string {
		if i < 0 || i >= len(record) {
			return ""
		}
		return strings.TrimSpace(record[i])
	}
	address := field(p.fields[csvAddress])
	if address == "" || address == "-" {
		return nil
	}
	if len(p.rows) == maxCSVRows {
		return fmt.Errorf("more than %d instructions", maxCSVRows)
	}
	var in csvInst
	var err error
	if in.address, err = parseAddress(address); err != nil {
		return err
	}
	in.text = field(p.fields[csvSource])
	for f := csvSamples; f < csvLine; f++ {
		if in.counts[f], err = parseCount(field(p.fields[f])); err != nil {
			return fmt.Errorf("column %s: %w", csvColumns[f][0], err)
		}
	}
	for i, c := range p.columns {
		if !c.stall {
			continue
		}
		n, err := parseCount(field(i))
		if err != nil {
			return fmt.Errorf("column stall_%s: %w", c.reason, err)
		}
		if c.latency {
			in.latency[c.reason] += n
		} else {
			in.samples[c.reason] += n
		}
	}
	p.rows = append(p.rows, in)
	return nil
}

// parseAddress reads 0x7fc48541d900, 7fc48541d900 or /*0060*/.
func parseAddress(s string) (uint64, error) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "/*"), "*/")
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an address", s)
	}
	return v, nil
}

// parseCount reads a count, with groups of digits set off; an empty cell or - is 0.
func parseCount(s string) (int64, error) {
	s = strings.NewReplacer(",", "", "'", "").Replace(s)
	if s == "" || s == "-" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v < 0 || v != float64(int64(v)) {
		return 0, fmt.Errorf("%q is not a count", s)
	}
	return int64(v), nil
}

// finish places the rows of a launch in its module.
func (p *csvReader) finish() error {
	if p.launch == nil {
		return nil
	}
	l := p.launch
	p.launch = nil
	code, err := kernelCode(p.module, l.Kernel)
	if err != nil {
		return err
	}
	slices.SortStableFunc(p.rows, func(x, y csvInst) int { return int(min(1, max(-1, int64(x.address)-int64(y.address)))) })
	if err := sameCode(code, p.rows); err != nil {
		return fmt.Errorf("kernel %s: %w", l.Kernel, err)
	}
	for i := range p.rows {
		if err := p.rows[i].enter(l, code.Index, uint64(i)*sass.InstSize); err != nil {
			return fmt.Errorf("kernel %s: %w", l.Kernel, err)
		}
	}
	l.Missing = p.missing()
	p.out.Launches = append(p.out.Launches, l)
	return nil
}

// sameCode holds the file's instructions to those of the section. The section may be longer: it ends with padding.
func sameCode(code *cubin.Code, rows []csvInst) error {
	if len(rows) == 0 || len(rows) > len(code.Insts) {
		return fmt.Errorf("%d instructions in the file, %d in the cubin: they do not belong together", len(rows), len(code.Insts))
	}
	for i := range rows {
		if rows[i].address-rows[0].address != uint64(i)*sass.InstSize {
			return fmt.Errorf("instruction %d is at %#x, %#x bytes after the first", i, rows[i].address, rows[i].address-rows[0].address)
		}
		in := &code.Insts[i]
		if got, want := mnemonicOf(rows[i].text), mnemonicOf(in.Text()); rows[i].text != "" && in.Op != sass.OpNone && got != want {
			return fmt.Errorf("instruction %d is %q in the file, %q in the cubin: they do not belong together", i, rows[i].text, in.Text())
		}
	}
	for i := len(rows); i < len(code.Insts); i++ {
		if op := code.Insts[i].Op; op != sass.NOP && op != sass.BRA {
			return fmt.Errorf("%d instructions in the file, %d in the cubin: they do not belong together", len(rows), len(code.Insts))
		}
	}
	return nil
}

// mnemonicOf is the opcode with its modifiers, without the guard: what the versions of NVIDIA's tools print alike.
func mnemonicOf(text string) string {
	for _, word := range strings.Fields(text) {
		if !strings.HasPrefix(word, "@") {
			return strings.TrimSuffix(word, ";")
		}
	}
	return ""
}

// enter adds the row's samples and counters to a launch.
func (in *csvInst) enter(l *Launch, code int, pc uint64) error {
	var sum int64
	for r := range stall.NumReasons {
		if in.samples[r] == 0 && in.latency[r] == 0 {
			continue
		}
		if in.latency[r] > in.samples[r] {
			return fmt.Errorf("pc %#x: %d samples of %s, %d of them not issued", pc, in.samples[r], r, in.latency[r])
		}
		sum += in.samples[r]
		l.Samples = append(l.Samples, Sample{Code: code, PC: pc, Reason: r, Count: in.samples[r], Latency: in.latency[r]})
	}
	if total := in.counts[csvSamples]; total != 0 && total != sum {
		return fmt.Errorf("pc %#x: %d samples, and %d by reason", pc, total, sum)
	}
	if in.counts[csvExecutions] > 0 {
		l.PCs = append(l.PCs, Counter{Code: code, PC: pc, Executions: in.counts[csvExecutions], ThreadExecutions: in.counts[csvThreads],
			GlobalSectors: in.counts[csvSectors], GlobalSectorsIdeal: in.counts[csvSectorsIdeal],
			SharedWavefronts: in.counts[csvWavefronts], SharedWavefrontsIdeal: in.counts[csvWavefrontsIdeal]})
		l.Facts.WarpInstructions += in.counts[csvExecutions]
		l.Facts.ThreadInstructions += in.counts[csvThreads]
	}
	return nil
}

// missing names what the file has no column for.
func (p *csvReader) missing() []string {
	var list []string
	names := map[csvField]string{csvExecutions: MissingExecutions, csvThreads: MissingThreadExecutions, csvSectors: MissingSectors, csvWavefronts: MissingWavefronts}
	for f := csvExecutions; f <= csvWavefronts; f++ {
		if name := names[f]; name != "" && p.fields[f] < 0 {
			list = append(list, name)
		}
	}
	if !slices.ContainsFunc(p.columns, func(c csvColumn) bool { return c.stall && c.latency }) {
		list = append(list, MissingLatency)
	}
	return list
}

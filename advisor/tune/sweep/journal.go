package sweep

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gpa/advisor/tune/search"
)

// A Result is the outcome of a variant, and where it came from.
type Result struct {
	Point   map[string]search.Value `json:"point"`         // by axis
	Key     string                  `json:"key,omitempty"` // of what is in the store
	Cached  bool                    `json:"cached"`        // it was in the store
	Outcome *search.Outcome         `json:"outcome"`
}

// A journal is the file of a sweep's outcomes, in the order in which they came. The reports themselves are in the store.
type journal struct {
	name string
	file *os.File
	left []byte // not written yet: the disk was full
}

// journalName is the file of a sweep's outcomes in the store.
func (s *Sweep) journalName() string {
	return filepath.Join(s.store.Dir(), "sweeps", s.id()+".jsonl")
}

// openJournal begins the journal of a sweep anew: what was found is found again in the store.
func (s *Sweep) openJournal() (*journal, error) {
	name := s.journalName()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	if err := os.Remove(name + cancelEnd); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	file, err := os.Create(name)
	return &journal{name: name, file: file}, err
}

func (j *journal) add(r *Result) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	j.left = append(append(j.left, data...), '\n')
	return j.flush()
}

// flush writes what is left to write.
func (j *journal) flush() error {
	n, err := j.file.Write(j.left)
	j.left = j.left[n:]
	return err
}

func (j *journal) close() error { return errors.Join(j.flush(), j.file.Close()) }

// cancelEnd is the end of the name of the file that says that a sweep was canceled since it began.
const cancelEnd = ".cancel"

// Cancel ends the sweep where it runs, in this process or another one with the same store. What is done stays.
func (s *Sweep) Cancel() error { return os.WriteFile(s.journalName()+cancelEnd, nil, 0o666) }

func (j *journal) canceled() bool {
	_, err := os.Stat(j.name + cancelEnd)
	return err == nil
}

// Results reads what came out of a sweep so far, while it runs or afterwards.
func (s *Sweep) Results() (*Results, error) {
	t := &Results{Sweep: s, outcomes: make(map[int]*search.Outcome), results: make(map[int]*Result)}
	return t, s.readOutcomes(s.journalName(), func(point int, r *Result) {
		if t.outcomes[point] == nil {
			t.order = append(t.order, point)
		}
		t.outcomes[point], t.results[point] = r.Outcome, r
	})
}

// readOutcomes reads a file of outcomes, a line each, as far as it is there. Lines that were cut off when a process was killed, and those of other
// sweeps, are no outcomes of this one.
func (s *Sweep) readOutcomes(name string, do func(point int, r *Result)) error {
	file, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		r := new(Result)
		if json.Unmarshal(lines.Bytes(), r) != nil || r.Outcome == nil {
			continue
		}
		if point := s.point(r.Point); point >= 0 {
			do(point, r)
		}
	}
	return lines.Err()
}

// toldEnd is the end of the name of the file of outcomes that come from elsewhere.
const toldEnd = ".told"

// A told outcome is one that was found elsewhere.
type told struct {
	Result
	point int
}

// Tell records outcomes that were found elsewhere, as on a GPU: the sweep takes them as they are, does not run these variants, and searches on from them. One of
// a variant that was told before replaces that.
func (s *Sweep) Tell(results []Result) error {
	name := s.journalName() + toldEnd
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	var text []byte
	for i := range results {
		if s.point(results[i].Point) < 0 {
			return fmt.Errorf("%v is not a variant of the sweep", results[i].Point)
		}
		line, err := json.Marshal(&results[i])
		if err != nil {
			return err
		}
		text = append(append(text, line...), '\n')
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// readTold reads what Tell has recorded, of each variant what was told last.
func (s *Sweep) readTold() (list []told, err error) {
	at := make(map[int]int) // by point
	err = s.readOutcomes(s.journalName()+toldEnd, func(point int, r *Result) {
		k, again := at[point]
		if !again {
			k = len(list)
			at[point], list = k, append(list, told{})
		}
		list[k] = told{*r, point}
	})
	return list, err
}

// point is the number of a point, -1 where the sweep has none with these values.
func (s *Sweep) point(at map[string]search.Value) int {
	s.listed.Do(func() {
		s.numbers = make(map[string]int, len(s.space.Points))
		for i, p := range s.space.Points {
			s.numbers[s.values(s.space.At(p))] = i
		}
	})
	if i, ok := s.numbers[s.values(at)]; ok {
		return i
	}
	return -1
}

// values is a point as text.
func (s *Sweep) values(at map[string]search.Value) string {
	parts := make([]string, len(s.space.Axes))
	for i, a := range s.space.Axes {
		parts[i] = string(at[a.Name])
	}
	return strings.Join(parts, "\x00")
}

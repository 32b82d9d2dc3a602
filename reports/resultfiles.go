package reports

import (
	"bytes"

	"github.com/google/pprof/profile"

	"gpa/profiler"
	"gpa/reports/files"
)

// SamplesFile is the name of the saved profile among the files of a result.
const SamplesFile = "samples.gpa"

// Files are the files of a result: profiles for pprof of the samples and of the blame, the saved profile, and the advice as text and JSON. The same
// result gives the same bytes. version is gpa's, which profiles name.
func (r *Result) Files(version string, o TextOptions) ([]files.File, error) {
	samples, err := Pprof(r.Profile, version)
	if err != nil {
		return nil, err
	}
	blame, err := PprofBlame(r, version)
	if err != nil {
		return nil, err
	}
	var list []files.File
	for _, f := range []struct {
		name  string
		write func(w *bytes.Buffer) error
	}{
		{"profile.pb.gz", written(samples)},
		{SamplesFile, func(w *bytes.Buffer) error { return profiler.Save(w, r.Profile) }},
		{"blame.pb.gz", written(blame)},
		{"advice.txt", func(w *bytes.Buffer) error { return Text(w, r, o) }},
		{"advice.json", func(w *bytes.Buffer) error { return WriteJSON(w, r.WithoutHostTimes().Report()) }},
	} {
		var data bytes.Buffer
		if err := f.write(&data); err != nil {
			return nil, err
		}
		list = append(list, files.File{Name: f.name, Data: data.Bytes()})
	}
	return list, nil
}

// written writes a profile of pprof's.
func written(p *profile.Profile) func(w *bytes.Buffer) error {
	return func(w *bytes.Buffer) error { return p.Write(w) }
}

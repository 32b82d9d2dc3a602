package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"gpa"
	"gpa/advisor/tune/sweep"
	"gpa/reports"
	"gpa/reports/listing"
)

// suggestFlag adds the flag that was most likely meant to the error of one that is not known.
func suggestFlag(err error, flags *pflag.FlagSet) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || len(unknown.GetSpecifiedName()) < 2 {
		return err
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	s := reports.Suggestion(unknown.GetSpecifiedName(), names)
	return fmt.Errorf("%w%s", err, strings.Replace(s, "mean ", "mean --", 1))
}

// explained is an error of the library as it is told on a command line: with what was probably meant, and with the flags that would help.
func explained(err error) error {
	var missing *gpa.NotFoundError
	var folder *gpa.NoLaunchFileError
	var undescribed *gpa.UndescribedError
	var function *listing.NoFunctionError
	var axis *sweep.AxisError
	switch {
	case errors.As(err, &axis):
		return usagef("--axis: %w", err)
	case errors.As(err, &function):
		return fmt.Errorf("%w%s", err, cmp.Or(function.Near(), "; gpa cfg lists them"))
	case errors.As(err, &missing):
		return fmt.Errorf("%w%s", err, cmp.Or(missing.Near(), "; gpa profile lists the built-in ones"))
	case errors.As(err, &folder):
		return fmt.Errorf("%w; %s", err, folder.Near())
	case errors.As(err, &undescribed) && undescribed.Source != "":
		return inFlags(err, undescribed, fmt.Sprintf("a source needs a launch file, which gpa init %s writes, or --grid, --block and an --arg for each parameter; this has, with parameters of so many bytes: %s", undescribed.Source, undescribed.Kernels()))
	case errors.As(err, &undescribed):
		return inFlags(err, undescribed, "a cubin needs --grid, --block and an --arg for each parameter; this has, with parameters of so many bytes: "+undescribed.Kernels())
	case errors.Is(err, gpa.ErrDescribed):
		return inFlags(err, gpa.ErrDescribed, "--kernel, --grid, --block, --shared and --arg go with a cubin, not with a launch file")
	}
	return err
}

// inFlags says what an error is about in the words of the command line.
func inFlags(err, about error, text string) error {
	return usageError{errors.New(strings.Replace(err.Error(), about.Error(), text, 1))}
}

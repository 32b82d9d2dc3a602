package main

// evaluateBlameHelp is what the help of gpa evaluate says about --blame.
const evaluateBlameHelp = `With --blame, every launch.yaml under DIR is profiled, and the blame, which sees what hardware shows, is held against the
true producers, which the emulated GPU knows: the share of dependency-stall samples that are blamed on their producer, by
kernel, by the producer's class and by the rule that decided, by gpa's rules (agreement) and by those printed in the GPA
paper; best is what a blame can reach that looks at the samples of an instruction together, and overlap compares these
instruction by instruction: of the samples that a producer has caused, as many as are blamed on it. single is the share of the dependency graph's nodes with one dependency to blame, before and after pruning (the
paper's section 6.3); --plot draws it. --json prints {"kernels": [{"name", "samples", "agreement", "agreement_plain", "overlap", "best",
"single_dependency_before", "single_dependency_after"}], "by_class": […], "by_rule": […], "summary": {…,
"lowest_agreement"}}.`

// evaluateLaddersHelp is what the help of gpa evaluate says about --ladders.
const evaluateLaddersHelp = `With --ladders, every folder under DIR with a ladder.json holds the versions of a kernel that was made faster step by step:

  {"about": "Transpose of a matrix", "beside": "digest", "versions": [{"version": "naive"},
   {"version": "tiled", "change": "a tile goes through shared memory", "optimizers": ["memory-coalescing"]}]}

VERSION.yaml is the launch file of a version. change is what sets it apart from the one before it, optimizers are those that stand for
the change, none where gpa has none; "kind" names one that is not quite any of them; "beside" names a kernel that is not timed, as one that condenses the outputs for the comparison. Of each
step the table has the speedup achieved, and the rank of the first of its optimizers in the advice on the costliest kernel of the version
before, with its estimate, what a what-if run of it has brought and the error |tried - achieved| / achieved. A ladder is in order where no version takes
longer than the one before it. The summary is of the steps that gain at least 2 %; those whose change is not among the first three
follow by name. The exit status is 1 where outputs are not as expected. --json prints {"ladders": [{"ladder", "about", "gpu", "versions": [{"version", "cycles",
"as_expected"}], "steps": [{"from", "to", "change", "kind", "optimizers", "achieved", "rank", "optimizer", "estimated", "tried", "error", "first"}],
"ordered"}], "summary": {"ladders", "versions", "ordered", "steps", "gaining", "first", "top3", "advised", "tried", "tried_error",
"bias"}}, --markdown the page that docs/advice.md ends with.`

// evaluateCalibrationHelp is what the help of gpa evaluate says about --calibrate.
const evaluateCalibrationHelp = `With --calibrate, every version of every ladder and every kernel before the change of a pair under DIR is profiled and its advice tried. What
comes out is the table by which reports say where an estimate may lie: of each optimizer, and of all together, between which powers of
its estimates nine in ten what-if runs lie.`

// evaluateMeasuredHelp is what the help of gpa evaluate says about --measured.
const evaluateMeasuredHelp = `With --measured, every folder under DIR with a measured.json is a launch file and what was measured of its launches:

  {"launch": "launch.yaml", "report": "report.ncu-rep", "launches": [{"launch": 0, "measured": 2}]}
  {"launch": "launch.yaml", "gpu": "h100", "fixed": 3950, "source": "…", "launches": [{"launch": 0, "cycles": 5055}]}

Launches are counted from 0, in the launch file and in the report file of Nsight Compute. A report gives the GPU, its clock, the cycles in
which SMs were active, samples and executions; else cycles are those of the launch, and fixed is what of them the launch itself
takes. The launches run on the GPU's model, at the measured clock, which "clock_hz" tells where no report does. Cycles may be those of "count" launches in a row. error is |emulated - measured| / measured; stall
distance is half the sum of the differences of the stall reasons' shares (total variation); hot pcs are of the five
hottest measured instructions those among the five hottest emulated; executions says whether each instruction was executed as often. The
launches of one kernel with blocks of one shape, and of the same "series" where some are named, are a series: the sizes of each are
to come in the measured order. --json names the shares of the stall reasons too, measured and emulated, and the rank correlation of
each series; --markdown prints the page that docs/measured.md ends with.`

// evaluateSamplingHelp is what the help of gpa evaluate says about --sampling.
const evaluateSamplingHelp = `With --sampling, the launches of the launch files under DIR run whole and in part, by portions of the GPU as with gpa profile --portions; of those that
have work for that the table has the share of the blocks that was timed, the error of the cycles and its bound. What is large is made smaller
by half for it. A launch is irregular where less than nine tenths of the lanes of its warps are active; half of the launches, by a hash
of their kernels' names, are held out. Files with a launch that faults are left out. --json prints {"launches": [{"launch", "gpu", "irregular",
"held_out", "waves", "instructions", "cycles", "timed", "error", "bound"}], "summary": {"launches", "irregular", "within",
"mean_error", "max_error", "mean_bound"}, "held_out": {as summary}}.`

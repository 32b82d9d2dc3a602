package main

// An example is a command line that help shows, with what it is for.
type example struct{ line, what string }

// examplesOf are the examples of a command. They build on each other: profile leaves the folder before, disasm text, export samples.
func examplesOf(command string) []example {
	const own = "gpa profile saxpy.cubin --grid 128 --block 256 --arg i32:32768 --arg f32:2 --arg f32[32768]:iota(0,1) --arg f32[32768]"
	switch command {
	case "profile":
		return []example{
			{"gpa profile hotspot", "a built-in kernel"},
			{"gpa profile hotspot --out before --html report.html", "keep the result, and write a web page"},
			{"gpa profile vecadd --arch a100 --json", "on another GPU, for a program"},
			{own, "a cubin of one's own (quote brackets in a shell)"},
		}
	case "run":
		return []example{{"gpa run vecadd", "are the outputs right?"}, {"gpa run vecadd --save c --out result", "keep a buffer as c.npy"}}
	case "advise":
		return []example{{"gpa advise before --exact", "advice as if hardware told what warps wait for"}}
	case "report":
		return []example{{"gpa report before --top 5", "more of the advice"}, {"gpa report before --html report.html", "as a web page"}}
	case "compare":
		return []example{
			{"gpa compare before hotspot --min-speedup 0.98", "fail in CI where the kernel has become slower than the baseline"},
			{"gpa compare before hotspot --html compared.html", "both sides on a web page"},
		}
	case "check":
		return []example{{"gpa check vecadd", "all errors"}, {"gpa check reduce_shared --only race,barrier", "only some kinds"}}
	case "tune":
		return []example{
			{"gpa tune my.yaml --out tuned", "with nvcc, and keep what came out"},
			{"gpa tune my.yaml --compiler-flags --std=c++20", "with a flag more"},
		}
	case "evaluate":
		return []example{{"gpa evaluate kernels/pairs", "in a checkout of gpa"}}
	case "reconverge":
		return []example{{"gpa reconverge bfs", "all models"}, {"gpa reconverge bfs --models pdom,tf-stack --timing none", "two of them, without cycles"}}
	case "export":
		return []example{{"gpa export before > samples.csv", "for tools that read Nsight Compute's CSV"}, {"gpa export before --json > samples.json", "with the launch facts"}}
	case "import":
		return []example{
			{"gpa import samples.csv --cubin hotspot.cubin --grid 12,10 --block 16,16 --period 32", "a CSV has no launch facts"},
			{"gpa import samples.json --cubin hotspot.cubin", "JSON has them"},
		}
	}
	return codeExamples(command)
}

// codeExamples are those of the commands that look at code and GPUs.
func codeExamples(command string) []example {
	switch command {
	case "disasm":
		return []example{{"gpa disasm hotspot --control --lines", "with control codes and source lines"}, {"gpa disasm hotspot --asm > hotspot.sass", "text that gpa asm reads"}}
	case "asm":
		return []example{{"gpa asm hotspot.sass -o again.cubin", "the same bytes again"}}
	case "cfg":
		return []example{{"gpa cfg bfs --frontiers", "blocks, loops, thread frontiers"}, {"gpa cfg bfs --dot > bfs.dot", "for Graphviz"}}
	case "rewrite":
		return []example{{"gpa rewrite bfs --check", "are the control codes right?"}, {"gpa rewrite hotspot --reorder -o reordered.cubin", "schedule the code anew"}}
	case "arch":
		return []example{{"gpa arch", "all GPUs"}, {"gpa arch v100", "every figure of one, with its source"}}
	case "bench":
		return []example{{"gpa bench vecadd --repeat 1", "a quick look"}}
	case "completion":
		return []example{{"gpa completion bash > gpa.bash", "source it in ~/.bashrc"}}
	}
	return nil
}

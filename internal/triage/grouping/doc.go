// Package grouping finds which failures are the same one: it gives a failure text a key that is stable from run to run
// and from machine to machine, and proposes which masked lines come from one statement of a program.
//
// [Identify] reads a failure in three steps. First the text is taken apart: a panic with goroutines, a data race,
// blocks of testify, Ginkgo and Gomega, pytest, tracebacks, stacks of the JVM, .NET and JavaScript, lines of go test,
// or else its first lines. That gives a message, the first frame that is neither the language's nor a test framework's,
// and the place of the assertion. Then [Mask] replaces what differs from run to run: times, addresses, numbers, random
// names, folders, names of machines. At last the key is made, by SHA-256 over the masked parts. The message is the key
// alone if it has two words that not any failure could have: an outage is one group however many tests meet it. Where
// it says too little ("exit status 1", "Not equal") or is an error of the language itself, the frame, or else the
// place's file, is part of the key. Line numbers never are: each change further up would move them.
//
// [Merger] looks at columns. A line is split into words and punctuation; variable words become wildcards, and lists of
// them one. Lines that differ in one column only are merged if that column varies as a parameter does: its values look
// like values, or there are more of them than a statement would have variants, for which the less of the line is fixed
// the more are needed. This goes on until nothing changes. Sets are merged, never lists, so no order plays a part.
//
// Nothing here may depend on what was grouped before, on a map's order, a locale, the clock, or where a checkout lies.
// A key never comes from Merger, which proposes otherwise as lines are added. No rule may know a program or a set of
// data, and no expression or search may take more than time in proportion to its input, which is untrusted.
package grouping

package scenario

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"path/filepath"

	"salve/internal/triage/results"
)

// contents are what a file of results says of its cases, in order.
type contents struct {
	hash  hash.Hash // names, outcomes, attributes, messages, times
	exact hash.Hash // texts and places besides
	timed bool
}

// digest adds a case to what its file says.
func (c *Collector) digest(one results.Case) {
	if c.contents == nil {
		c.contents = map[string]*contents{}
	}
	of := c.contents[one.Origin.File]
	if of == nil {
		of = &contents{hash: sha256.New(), exact: sha256.New()}
		c.contents[one.Origin.File] = of
		c.files = append(c.files, one.Origin.File)
	}
	fmt.Fprintf(of.hash, "%q %q %q %s %d %v %d %q %q %q\n", one.Suite, one.Class, one.Name, one.Outcome, one.Attempt,
		one.Duration, one.Ended.UnixNano(), one.Type, one.Message, one.Attributes)
	fmt.Fprintf(of.exact, "%d %d %d %d\n", one.Origin.Line, one.Line, one.Failure.Omitted, one.Output.Omitted)
	for _, text := range []string{one.Failure.Head, one.Failure.Tail, one.Output.Head, one.Output.Tail} {
		_, _ = of.exact.Write([]byte(text))
	}
	of.timed = of.timed || one.Duration > 0 || !one.Ended.IsZero()
}

// key is equal for files that are copies of each other. Without times only files that are alike to the letter are: two
// shards may end alike.
func (c *contents) key(file string) string {
	key := string(c.hash.Sum(nil)) + filepath.Ext(file)
	if !c.timed {
		key += string(c.exact.Sum(nil))
	}
	return key
}

// dropCopies takes out files that are copies of another one. Files that differ in the attempt only are none: the same
// end again is what attempts are for.
func (c *Collector) dropCopies(run *Run) {
	first, copies := map[string]string{}, map[string]bool{}
	for _, file := range c.files {
		key := c.contents[file].key(file)
		original, known := first[key]
		switch {
		case !known:
			first[key] = file
		case batch(original) != batch(file):
			copies[file] = true
			run.Notes = append(run.Notes, fmt.Sprintf("%s is a copy of %s: counted once", file, original))
		}
	}
	for i := range c.rows {
		c.rows[i].gone = c.rows[i].gone || copies[c.rows[i].Origin.File]
	}
}

package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// manager is a package manager: it downloads one package, of exactly the version
// that is wanted, into a folder of its own.
type manager interface {
	download(ctx context.Context, e request, work string) (file string, err error)
}

// fromPackage lets the node's package manager download, and unpacks what came.
func (o *Fetcher) fromPackage(ctx context.Context, e request, to string) (source string, err error) {
	using, err := o.manager()
	if err != nil {
		return "", err
	}
	work := filepath.Join(e.folder, "packages")
	if err := os.MkdirAll(work, 0o700); err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }() // the next fetch clears it too
	var file string
	err = o.patiently(ctx, func(ctx context.Context) error {
		file, err = using.download(ctx, e, work)
		return err
	})
	if err != nil {
		return "", err
	}
	return "package " + filepath.Base(file), unpack(ctx, file, e.inside, to)
}

// sign is a text by which a package manager is known to say something.
type sign struct {
	text    string
	outcome Outcome
}

// read gives the meaning of a package manager's failure: the first of the signs in
// what it printed, and otherwise that of its exit. One that was ended for lack of
// time only tells whether it had waited for a lock.
func read(output string, err error, signs []sign) error {
	outcome := OutcomeOf(err)
	for _, sign := range signs {
		if !strings.Contains(output, sign.text) || (outcome == Timeout && sign.outcome != Busy) {
			continue
		}
		return &Error{Outcome: sign.outcome, Err: errors.New(lastLine(output, sign.text))}
	}
	return &Error{Outcome: outcome, Err: fmt.Errorf("%w: %s", err, lastLine(output, ""))}
}

// lastLine is the last line that holds a text, short.
func lastLine(output, text string) string {
	const enough = 300
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" && strings.Contains(line, text) {
			return line[:min(len(line), enough)]
		}
	}
	return "it says nothing"
}

// only gives the one file that a pattern names.
func only(pattern string) (string, error) {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d files came where one was to come", len(found))
	}
	return found[0], nil
}

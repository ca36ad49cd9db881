package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"salve/internal/hotfix"
)

// manager is a package manager of the node.
type manager interface {
	// trusted says whether its repository checks signatures itself, in force and by keys
	// that the image has. The errors are *Error.
	trusted() error
	// download brings one package, of exactly the version that is wanted, into a folder of
	// its own.
	download(ctx context.Context, e request, work string) (file string, err error)
	// verify checks a package's own signature and digests, where downloading has not.
	verify(ctx context.Context, file, work string) error
	// format is that of its packages.
	format() hotfix.Format
	// identity says by which files of the node it works.
	identity() string
}

// fromPackage lets the node's package manager download, and unpacks what came. By a
// signed pointer the package is known by its digest; otherwise by the repository, whose
// signature is checked before anything of the package is used.
func (o *Fetcher) fromPackage(ctx context.Context, e request, signed *hotfix.Artifact, to string) (source string,
	err error) {
	using, err := o.manager()
	if err != nil {
		return "", err
	}
	if signed == nil {
		if err := using.trusted(); err != nil {
			return "", err
		}
	} else if signed.Format != using.format() {
		return "", &Error{Outcome: BadArtifact,
			Err: fmt.Errorf("the signed artifact is a %s, and this node's packages are %ss", signed.Format, using.format())}
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
	if signed == nil {
		err = using.verify(ctx, file, work)
	} else {
		err = sameFile(file, *signed)
	}
	if err != nil {
		return "", err
	}
	return "package " + filepath.Base(file), unpack(ctx, file, e.inside, to)
}

// sameFile tells whether a package is the one whose digest is signed.
func sameFile(path string, signed hotfix.Artifact) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() != signed.Size {
		return &Error{Outcome: BadArtifact, Err: fmt.Errorf("the repository's package has %d bytes, %d are signed",
			info.Size(), signed.Size)}
	}
	digest, err := digestOf(path)
	if err != nil {
		return err
	}
	if !strings.EqualFold(digest, signed.SHA256) {
		return &Error{Outcome: BadArtifact, Err: fmt.Errorf("the repository's package has the SHA-256 %s, %s is signed",
			digest, signed.SHA256)}
	}
	return nil
}

// sign is a text by which a package manager is known to say something.
type sign struct {
	text    string
	outcome Outcome
	final   bool // although the outcome is one that may clear
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
		return &Error{Outcome: sign.outcome, Final: sign.final, Err: errors.New(lastLine(output, sign.text))}
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

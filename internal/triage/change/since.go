package change

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// patience bounds each call of git.
const patience = 60 * time.Second

// RefError says that a repository has no such commit, or that the name is none.
type RefError struct{ Ref, Folder, Reason string }

func (e *RefError) Error() string {
	return fmt.Sprintf("base %q in %s: %s", e.Ref, e.Folder, e.Reason)
}

// Since is what changed in the repository of a folder since it went its own way from ref: the difference between their
// merge base and the tracked files as they are now. Files that git doesn't track are logs and builds rather than the
// change, and don't count. It fails with *RefError for a ref that git doesn't know, or that begins with a dash, and
// where there is no merge base, as in a shallow clone.
func Since(ctx context.Context, folder, ref string) (*Change, error) {
	if ref == "" || strings.HasPrefix(ref, "-") {
		return nil, &RefError{ref, folder, "not a commit's name"}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := run(ctx, folder, io.Discard, "rev-parse", "--git-dir"); err != nil {
		return nil, err
	}
	if err := run(ctx, folder, io.Discard, "rev-parse", "--verify", "--quiet", "--end-of-options",
		ref+"^{commit}"); err != nil {
		return nil, &RefError{ref, folder, "git knows no such commit. hint: git fetch origin " + ref}
	}
	if err := run(ctx, folder, io.Discard, "merge-base", "--end-of-options", ref, "HEAD"); err != nil {
		return nil, &RefError{ref, folder, "no common ancestor with HEAD is known. hint: git fetch --unshallow"}
	}
	c, err := diff(ctx, folder, ref)
	if err != nil {
		return nil, err
	}
	c.Source = "git diff --merge-base " + ref
	return c, nil
}

// diff asks git for the diff itself. Whatever the configuration says, no program for diffs is started.
func diff(ctx context.Context, folder, ref string) (*Change, error) {
	reader, writer := io.Pipe()
	asked := make(chan error, 1)
	go func() {
		err := run(ctx, folder, writer, "diff", "--merge-base", "--patch", "--unified=0", "--no-color", "--no-relative",
			"--no-ext-diff", "--no-textconv", "--find-renames", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/",
			"--end-of-options", ref, "--")
		writer.CloseWithError(err) // nil is the end of the file
		asked <- err
	}()
	c, err := ReadDiff(reader)
	reader.CloseWithError(errors.New("not read to its end"))
	var wrong *DiffError
	switch gitErr := <-asked; {
	case gitErr != nil && err == nil:
		return nil, gitErr
	case gitErr == nil && errors.As(err, &wrong) && wrong.Reason == emptyDiff:
		return &Change{}, nil // git ended well, and said nothing
	case err != nil:
		return nil, err
	}
	return c, nil
}

func run(ctx context.Context, folder string, out io.Writer, args ...string) error {
	args = append([]string{"-C", folder}, args...)
	command := exec.CommandContext(ctx, "git", args...) //nolint:gosec // a ref that could be an option is refused
	var said bytes.Buffer
	command.Stdout, command.Stderr = out, &said
	if err := command.Run(); err != nil {
		return fmt.Errorf("git %s in %s: %w: %s", args[2], folder, err, clean(bytes.TrimSpace(said.Bytes())))
	}
	return nil
}

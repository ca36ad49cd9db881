package revision

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// Order is how two revisions stand to each other.
type Order int

// The orders of a revision as seen from another one.
const (
	// Unordered is the order of two that can't be compared.
	Unordered Order = iota
	Older
	Same
	Newer
)

// ordered is the order that a comparison of -1, 0 or 1 means.
func ordered(comparison int) Order { return Same + Order(comparison) }

// UnorderedError says that two revisions can't be ordered, and why.
type UnorderedError struct {
	One, Other, Reason string
	// Diverged: both are known, and neither is an ancestor of the other.
	Diverged bool
}

func (e *UnorderedError) Error() string {
	return fmt.Sprintf("revisions %s and %s can't be ordered: %s", e.One, e.Other, e.Reason)
}

var (
	number = regexp.MustCompile(`^[0-9]+$`)
	commit = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
)

// Compare says how one revision stands to another. Two whole numbers are ordered
// by their size, two RFC 3339 times by time, two git commits by ancestry in the
// repository that the folder belongs to. It fails with *UnorderedError when the
// two are of different kinds, diverged, or not known. A number of seven digits and
// more may be a commit's: it is one when the other revision is no number.
func Compare(ctx context.Context, folder, one, other string) (Order, error) {
	unordered := func(reason string, arguments ...any) (Order, error) {
		return Unordered, &UnorderedError{One: one, Other: other, Reason: fmt.Sprintf(reason, arguments...)}
	}
	if one == other {
		return Same, nil
	}
	if number.MatchString(one) && number.MatchString(other) {
		return ordered(whole(one).Cmp(whole(other))), nil
	}
	first, firstErr := time.Parse(time.RFC3339, one)
	second, secondErr := time.Parse(time.RFC3339, other)
	switch {
	case firstErr == nil && secondErr == nil:
		return ordered(first.Compare(second)), nil
	case !commit.MatchString(one) || !commit.MatchString(other):
		return unordered("a revision is a whole number, an RFC 3339 time or a git commit, and both must be of one kind")
	}
	for _, name := range []string{one, other} {
		if err := git(ctx, folder, "cat-file", "-e", name+"^{commit}"); err != nil {
			return unordered("commit %s is not known in the repository of %s: fetch it", name, folder)
		}
	}
	return ancestry(ctx, folder, one, other)
}

func whole(text string) *big.Int {
	value, _ := new(big.Int).SetString(text, 10) // digits only
	return value
}

// ancestry orders two commits that are known.
func ancestry(ctx context.Context, folder, one, other string) (Order, error) {
	older, err := isAncestor(ctx, folder, one, other)
	if err != nil {
		return Unordered, &UnorderedError{One: one, Other: other, Reason: err.Error()}
	}
	newer, err := isAncestor(ctx, folder, other, one)
	switch {
	case err != nil:
		return Unordered, &UnorderedError{One: one, Other: other, Reason: err.Error()}
	case older && newer:
		return Same, nil
	case older:
		return Older, nil
	case newer:
		return Newer, nil
	}
	return Unordered, &UnorderedError{
		One: one, Other: other, Reason: "neither is an ancestor of the other", Diverged: true,
	}
}

func isAncestor(ctx context.Context, folder, one, other string) (bool, error) {
	err := git(ctx, folder, "merge-base", "--is-ancestor", one, other)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

func git(ctx context.Context, folder string, arguments ...string) error {
	command := exec.CommandContext(ctx, "git", arguments...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("git %s: %w: %s", arguments[0], err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Check finds what is no revision at all.
func Check(text string) error {
	if _, err := time.Parse(time.RFC3339, text); err == nil || number.MatchString(text) || commit.MatchString(text) {
		return nil
	}
	return fmt.Errorf("revision %q is neither a whole number, nor an RFC 3339 time, nor a git commit", text)
}

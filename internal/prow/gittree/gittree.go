package gittree

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// patience bounds each call of git.
	patience = time.Minute
	// maximumTotal bounds what is read, in bytes.
	maximumTotal = 512 << 20
)

// RefError says that a repository has no such commit.
type RefError struct{ Ref, Repository string }

func (e *RefError) Error() string {
	return fmt.Sprintf("git knows no commit %q in %s", e.Ref, e.Repository)
}

// Tree is a part of a revision. Its paths are from the root of the repository.
type Tree struct {
	fs.FS
	// Commit is the full hash.
	Commit string
	// Left are entries that are not in it, with the reason.
	Left []Left
}

// Left is an entry of a revision that could not be followed.
type Left struct{ Path, Reason string }

func (l Left) String() string { return l.Path + " is " + l.Reason }

// Root is the root of the repository that a folder is in, by its real path.
func Root(ctx context.Context, folder string) (string, error) {
	root, err := git(ctx, folder, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	return filepath.FromSlash(strings.TrimSuffix(root, "\n")), nil
}

// Read reads the files at and below some paths, which are from the root of the
// repository, with slashes. A path that the revision doesn't have is missing in the tree. A symbolic link to a file of
// the revision is that file.
func Read(ctx context.Context, root, ref string, paths []string) (*Tree, error) {
	commit, err := git(ctx, root, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return nil, &RefError{ref, root}
	}
	t := &Tree{Commit: strings.TrimSpace(commit)}
	arguments := append([]string{"--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", t.Commit, "--"}, paths...)
	listed, err := git(ctx, root, arguments...)
	if err != nil {
		return nil, err
	}
	blobs, links, left, err := parseListing(listed)
	if err != nil {
		return nil, fmt.Errorf("revision %s: %w", ref, err)
	}
	followed, lost, err := follow(ctx, root, t.Commit, links)
	if err != nil {
		return nil, fmt.Errorf("revision %s: %w", ref, err)
	}
	blobs, t.Left = append(blobs, followed...), append(left, lost...)
	content, err := read(ctx, root, blobs)
	if err != nil {
		return nil, fmt.Errorf("revision %s: %w", ref, err)
	}
	t.FS = content
	return t, nil
}

type blob struct{ path, hash string }

// parseListing reads "mode type hash TAB path NUL" entries.
func parseListing(listed string) (blobs []blob, links []string, left []Left, _ error) {
	for entry := range strings.SplitSeq(listed, "\x00") {
		if entry == "" {
			continue
		}
		head, path, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(head)
		switch {
		case !ok || len(fields) != 3:
			return nil, nil, nil, fmt.Errorf("git ls-tree said %q", entry)
		case fields[0] == "120000":
			links = append(links, path)
		case fields[1] == "blob":
			blobs = append(blobs, blob{path, fields[2]})
		default:
			left = append(left, Left{path, "a " + fields[1] + ", which is not read"})
		}
	}
	return blobs, links, left, nil
}

// read asks git for all blobs in one process, and keeps them as an archive in memory:
// that is a file system already.
func read(ctx context.Context, root string, blobs []blob) (fs.FS, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var asked bytes.Buffer
	for _, b := range blobs {
		fmt.Fprintln(&asked, b.hash)
	}
	command := exec.CommandContext(ctx, "git", "-C", root, "cat-file", "--batch")
	command.Stdin = &asked
	var complaint bytes.Buffer
	command.Stderr = &complaint
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	archive, err := archived(bufio.NewReader(output), blobs)
	if err != nil {
		cancel()
	}
	if ended := command.Wait(); err == nil && ended != nil {
		err = fmt.Errorf("git cat-file: %w: %s", ended, strings.TrimSpace(complaint.String()))
	}
	return archive, err
}

// archived reads "hash type size LF content LF" for each blob.
func archived(from *bufio.Reader, blobs []blob) (fs.FS, error) {
	var kept bytes.Buffer
	archive := zip.NewWriter(&kept)
	total := int64(0)
	for _, b := range blobs {
		head, err := from.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("git cat-file: %w", err)
		}
		var hash, kind string
		var size int64
		if _, err := fmt.Sscanf(head, "%s %s %d", &hash, &kind, &size); err != nil || kind != "blob" || hash != b.hash {
			return nil, fmt.Errorf("git cat-file said %q of %s", strings.TrimSpace(head), b.path)
		}
		if total += size; total > maximumTotal {
			return nil, fmt.Errorf("more than %d bytes", maximumTotal)
		}
		file, err := archive.CreateHeader(&zip.FileHeader{Name: b.path, Method: zip.Store})
		if err != nil {
			return nil, fmt.Errorf("keep %s: %w", b.path, err)
		}
		if _, err := io.CopyN(file, from, size); err != nil {
			return nil, fmt.Errorf("read %s: %w", b.path, err)
		}
		if _, err := from.Discard(1); err != nil {
			return nil, fmt.Errorf("read %s: %w", b.path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	opened, err := zip.NewReader(bytes.NewReader(kept.Bytes()), int64(kept.Len()))
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	return opened, nil
}

func git(ctx context.Context, folder string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	command := exec.CommandContext(ctx, "git", append([]string{"-C", folder}, arguments...)...)
	said, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s in %s: %s", arguments[0], folder, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s in %s: %w", arguments[0], folder, err)
	}
	return string(said), nil
}

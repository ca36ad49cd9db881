package repairprotection

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"salve/internal/prow/config"
)

// Configuration is the configuration of a Prow instance as it was read.
type Configuration struct {
	Config *config.Config
	// Digest stands for all files that were read.
	Digest string
}

// ReadConfiguration reads what the inputs name. The error is a *config.Error when Prow would not run with it.
func ReadConfiguration(in Inputs) (Configuration, error) {
	in, err := in.absolute()
	if err != nil {
		return Configuration{}, err
	}
	inRoot := func(name string) string { return strings.TrimPrefix(filepath.ToSlash(name), "/") }
	names := config.Files{Config: inRoot(in.Config), Root: "/"}
	if in.JobConfig != "" {
		names.Jobs = inRoot(in.JobConfig)
	}
	for _, folder := range in.Supplemental {
		names.Supplemental = append(names.Supplemental, inRoot(folder))
	}
	files := &summing{FS: os.DirFS("/"), sums: map[string]string{}}
	loaded, err := config.Load(files, names).Config()
	if err != nil {
		return Configuration{}, err
	}
	return Configuration{Config: loaded, Digest: files.digest()}, nil
}

// ReadBase reads the earlier configuration that the inputs name; the zero one when they name none.
func ReadBase(in Inputs) (Configuration, error) {
	if in.BaseConfig == "" {
		return Configuration{}, nil
	}
	base, err := ReadConfiguration(Inputs{Config: in.BaseConfig, JobConfig: in.BaseJobConfig})
	if err != nil {
		return Configuration{}, fmt.Errorf("--base-config: %w", err)
	}
	return base, nil
}

// summing is a file system that remembers the digest of each file that was read to its end.
type summing struct {
	fs.FS
	lock sync.Mutex
	sums map[string]string
}

// Open opens a file, whose content counts.
func (s *summing) Open(name string) (fs.File, error) {
	file, err := s.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if info.IsDir() {
		return file, nil
	}
	return &summed{File: file, name: name, sum: sha256.New(), keep: s.keep}, nil
}

func (s *summing) keep(name string, sum []byte) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.sums[name] = hex.EncodeToString(sum)
}

// digest is the same wherever the files are.
func (s *summing) digest() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	var lines []string
	for name, sum := range s.sums {
		lines = append(lines, sum+" "+path.Base(name))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}

type summed struct {
	fs.File
	name string
	sum  hash.Hash
	keep func(name string, sum []byte)
}

// Read reads, and keeps the digest at the end.
func (s *summed) Read(into []byte) (int, error) {
	n, err := s.File.Read(into)
	_, _ = s.sum.Write(into[:n]) // it never fails
	if errors.Is(err, io.EOF) {
		s.keep(s.name, s.sum.Sum(nil))
	}
	return n, err
}

// gitPatience bounds a question to git.
const gitPatience = 30 * time.Second

// revisionOf is the commit that the configuration is of. Files that were changed since then are of no revision.
func revisionOf(ctx context.Context, in Inputs) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	folder := filepath.Dir(in.Config)
	commit, err := git(ctx, folder, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return "", fmt.Errorf("revision of the configuration not found: %w. hint: --revision COMMIT", err)
	}
	paths := append([]string{in.Config}, in.Supplemental...)
	if in.JobConfig != "" {
		paths = append(paths, in.JobConfig)
	}
	changed, err := git(ctx, folder, append([]string{"status", "--porcelain", "--"}, paths...)...)
	switch {
	case err != nil:
		return "", fmt.Errorf("revision of the configuration not found: %w. hint: --revision COMMIT", err)
	case changed != "":
		first, _, _ := strings.Cut(changed, "\n")
		return "", fmt.Errorf("configuration of no revision: files were changed and not committed (%s). "+
			"hint: commit them, or --revision", strings.TrimSpace(first))
	}
	return commit, nil
}

func git(ctx context.Context, folder string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", arguments...) //nolint:gosec // the program is git, and no shell is between
	command.Dir = folder
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", arguments[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

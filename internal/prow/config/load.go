package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"salve/internal/diagnostic"
)

// Files names the parts of a configuration inside a file system, with slashes.
type Files struct {
	// Config is the path of config.yaml.
	Config string
	// Jobs is the folder of job configuration, or one file; empty for none.
	Jobs string
	// Supplemental are folders with shards of config.yaml.
	Supplemental []string
	// Suffix is that of the shards' names; "_prowconfig.yaml" where it is empty.
	Suffix string
	// Root is put before each path in positions, such as the folder that the file
	// system is of.
	Root string
}

const (
	defaultSuffix = "_prowconfig.yaml"
	// maximumFiles and maximumTotal bound a configuration: that of Kubernetes has some
	// 1,500 files with 10 MB.
	maximumFiles = 20_000
	maximumTotal = 256 << 20
)

// Loaded is a configuration as far as it could be read.
type Loaded struct {
	// Diagnostics are sorted by place.
	Diagnostics diagnostic.List
	partial     *Config
	incomplete  bool
	refused     bool
}

// Incomplete says that a file, or a part of one, could not be read.
func (l Loaded) Incomplete() bool { return l.incomplete }

// Refused says that Prow refuses to load this configuration. Its components then
// keep the last one that they could load.
func (l Loaded) Refused() bool { return l.refused }

// Config is the configuration, if all of it could be read and Prow takes it. The
// error is of type *Error.
func (l Loaded) Config() (*Config, error) {
	if l.incomplete || l.refused {
		return nil, &Error{Incomplete: l.incomplete, Diagnostics: l.Diagnostics}
	}
	return l.partial, nil
}

// Partial is what could be read. Where Incomplete holds, nothing may be concluded
// from what is missing here.
func (l Loaded) Partial() *Config { return l.partial }

// Error says that there is no configuration that Prow would run with.
type Error struct {
	// Incomplete says that something could not be read; otherwise Prow refuses it.
	Incomplete  bool
	Diagnostics diagnostic.List
}

func (e *Error) Error() string {
	says := "configuration refused by Prow"
	if e.Incomplete {
		says = "configuration incomplete"
	}
	for _, d := range e.Diagnostics {
		if d.Severity == diagnostic.Error {
			return fmt.Sprintf("%s: %s (%d errors)", says, d, e.Diagnostics.Errors())
		}
	}
	return says
}

// Load reads a configuration. It always returns: what is wrong is in the result.
func Load(files fs.FS, names Files) Loaded {
	l := &loader{files: files, names: names, config: &Config{Presubmits: map[string][]*Job{},
		Postsubmits: map[string][]*Job{}}, basenames: map[string]string{}, patterns: patterns{}}
	if l.names.Suffix == "" {
		l.names.Suffix = defaultSuffix
	}
	l.file(names.Config, inTurn(l.prowConfig))
	l.addAll()
	l.alone = l.incomplete
	for _, folder := range names.Supplemental {
		l.walk(folder, l.supplemental)
	}
	l.defaults()
	if names.Jobs != "" {
		l.jobs()
	}
	l.finish()
	l.found.Sort()
	loaded := Loaded{Diagnostics: l.found, partial: l.config, incomplete: l.incomplete}
	for _, d := range l.found {
		loaded.refused = loaded.refused || d.Severity == diagnostic.Error
	}
	return loaded
}

type loader struct {
	files      fs.FS
	names      Files
	config     *Config
	found      diagnostic.List
	incomplete bool
	// alone says that config.yaml could not be read: jobs are without its defaults.
	alone bool
	// basenames are the job files by base name: the updateconfig plugin makes it the
	// key in a ConfigMap, so two files of one name overwrite each other there.
	basenames map[string]string
	patterns  patterns
	ignore    []ignoreFile
	decoding  []decoding
	// unused has readers of plain YAML, with their memory.
	unused sync.Pool
	read   int
	bytes  int64
}

// position is that of a file as a whole.
func (l *loader) position(name string) diagnostic.Position {
	return diagnostic.Position{File: path.Join(l.names.Root, name)}
}

// missing records a file or folder that could not be read.
func (l *loader) missing(name string, err error) {
	l.incomplete = true
	l.report(l.position(name), RuleUnreadable, "read: %s", reason(err))
}

// reason is an error without the path, which the position has.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

func (l *loader) report(at diagnostic.Position, rule, format string, args ...any) {
	l.found = append(l.found, diagnostic.Diagnostic{Position: at, Severity: diagnostic.Error, Rule: rule,
		Message: fmt.Sprintf(format, args...)})
}

// refuse records that Prow refuses the configuration.
func (l *loader) refuse(at diagnostic.Position, format string, args ...any) {
	l.report(at, RuleRefused, format, args...)
}

// walk gives each file below a folder to take, in lexical order, without those that
// a ConfigMap's volume has beside its keys: names that begin with two dots.
func (l *loader) walk(folder string, take func(name string)) {
	err := fs.WalkDir(l.files, path.Clean(folder), func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			l.missing(name, err)
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
		case strings.HasPrefix(entry.Name(), ".."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
			l.ignoreFile(name)
		default:
			take(name)
		}
		if l.read > maximumFiles || l.bytes > maximumTotal {
			l.missing(folder, fmt.Errorf("more than %d files or %d bytes", maximumFiles, maximumTotal))
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		l.missing(folder, err)
	}
	l.addAll()
}

// jobs reads the job files: every .yaml and .yml, however deep.
func (l *loader) jobs() {
	info, err := fs.Stat(l.files, path.Clean(l.names.Jobs))
	switch {
	case err != nil:
		l.missing(l.names.Jobs, err)
		return
	case !info.IsDir():
		l.file(l.names.Jobs, l.jobFile)
		l.addAll()
		return
	}
	l.walk(l.names.Jobs, func(name string) {
		if extension := path.Ext(name); extension != ".yaml" && extension != ".yml" || l.ignored(name) {
			return
		}
		base := path.Base(name)
		if other, twice := l.basenames[base]; twice {
			l.refuse(l.position(name), "duplicate base name: %s has it too, and both would be one key of a ConfigMap", other)
			return
		}
		l.basenames[base] = name
		l.file(name, l.jobFile)
	})
}

// supplemental reads a shard of config.yaml.
func (l *loader) supplemental(name string) {
	if strings.HasSuffix(name, l.names.Suffix) {
		l.file(name, inTurn(l.shard))
	}
}

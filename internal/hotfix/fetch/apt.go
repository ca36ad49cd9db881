package fetch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// apt downloads from one source, with lists and a cache of its own: the node's
// lists stay as they are, and nobody who holds their lock is in the way.
type apt struct{ get, cache, sources string }

// aptSigns are texts of apt-get in the language C.
func aptSigns() []sign {
	return []sign{
		{"Could not get lock", Busy},
		{"Unable to lock", Busy},
		{"is not signed", Untrusted},
		{"NO_PUBKEY", Untrusted},
		{"BADSIG", Untrusted},
		{"EXPKEYSIG", Untrusted},
		{"401  Unauthorized", Denied},
		{"403  Forbidden", Denied},
		{"Failed to fetch", Unreachable},
		{partly, Unreachable},
	}
}

// partly is what older ones say while they call it a success.
const partly = "Some index files failed to download"

// withoutHooks takes away what distributions run after a refresh: it is for the
// node's own lists.
const withoutHooks = `#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`

func (a apt) download(ctx context.Context, e request, work string) (string, error) {
	options, err := a.options(work)
	if err != nil {
		return "", err
	}
	output, err := run(ctx, program{a.get, append(options, "update"), work})
	if err == nil && strings.Contains(output, partly) {
		err = errors.New("the lists came in part")
	}
	if err != nil {
		return "", read(output, err, aptSigns())
	}
	table, err := run(ctx, program{a.cache, append(options, "madison", e.packageName), work})
	if err != nil {
		return "", read(table, err, aptSigns())
	}
	version, found := newest(table, e)
	if !found {
		return "", &Error{Outcome: VersionNotFound, Err: fmt.Errorf("%s does not list it", a.sources)}
	}
	// A package that an earlier try left is not the one of this try.
	got := filepath.Join(work, "got")
	if err := emptied(got); err != nil {
		return "", err
	}
	output, err = run(ctx, program{a.get, append(options, "download", e.packageName+"="+version), got})
	if err != nil {
		return "", read(output, err, aptSigns())
	}
	return only(filepath.Join(got, "*.deb"))
}

// options are those of every call; none of them is apt's own default.
func (a apt) options(work string) ([]string, error) {
	for _, folder := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(work, folder), 0o755); err != nil { //nolint:gosec // G301: for _apt too
			return nil, err
		}
	}
	hooks := filepath.Join(work, "apt.conf")
	if err := os.WriteFile(hooks, []byte(withoutHooks), 0o600); err != nil {
		return nil, err
	}
	options := []string{"-q", "-c", hooks}
	for _, option := range []string{
		"Dir::Etc::sourcelist=" + a.sources,
		"Dir::Etc::sourceparts=-",
		"Dir::State::lists=" + filepath.Join(work, "lists"),
		"Dir::Cache=" + filepath.Join(work, "cache"),
		"APT::Get::List-Cleanup=0",
		"APT::Update::Error-Mode=any",
		"Acquire::Languages=none",
		"Acquire::Retries=0", // trying again is ours, within the budget
		"Acquire::http::Timeout=15",
		"Acquire::https::Timeout=15",
	} {
		options = append(options, "-o", option)
	}
	return options[:len(options):len(options)], nil
}

// newest finds the version in the table of «apt-cache madison», which lists the
// newest first: package | version | source.
func newest(table string, e request) (string, bool) {
	for line := range strings.Lines(table) {
		columns := strings.Split(line, "|")
		if len(columns) < 3 || strings.TrimSpace(columns[0]) != e.packageName {
			continue
		}
		if version := strings.TrimSpace(columns[1]); e.want.PackagedAs(version) {
			return version, true
		}
	}
	return "", false
}

func emptied(folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.Mkdir(folder, 0o700)
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/clock"
	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
	"salve/internal/report"
)

// rootRequest is what the user asked of salve hotfix keys root.
type rootRequest struct {
	out, previous, expires string
	rootKeys, pointerKeys  []string
	rootNeed, pointerNeed  int
	hosts                  []string
}

func newKeysRoot(a *app) *cobra.Command {
	asked := &rootRequest{}
	command := &cobra.Command{
		Use:   "root --out FILE --expires WHEN [--previous ROOT]",
		Short: "Make a root document: whose signatures count, until when, and which hosts nodes may go to",
		Long: `Make a root document, which says whose signatures count on nodes, how many are needed,
until when, and from which hosts artifacts may come. Nobody has signed it then: its
own root keys have to, and those of the root before it too (salve hotfix sign).

With --previous it is the next version of that root, and what isn't given stays as it
is there. Nodes go from one version to the next, so publish all of them in a row.

The keys of the role "root" say who is next: keep them offline, with different people.
Those of the role "pointer" say what is installed.`,
		Example: `  # The first one: two of three people sign the next root, one key signs pointers
  salve hotfix keys root --out root-1.json --expires 365d --root-threshold 2 \
    --root-key alice=alice.pem.pub --root-key bob=bob.pem.pub --root-key carol=carol.pem.pub \
    --pointer-key ci=ci.pem.pub --host artifacts.example.com
  # The next one, with another key for pointers
  salve hotfix keys root --out root-2.json --previous root-1.json --expires 365d --pointer-key ci-2=ci-2.pem.pub`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			return a.makeRoot(asked, command.Flags().Changed)
		},
	}
	flags := command.Flags()
	flags.StringVar(&asked.out, "out", "", "the `FILE` to write, which must not be there")
	flags.StringVar(&asked.previous, "previous", "", "the `ROOT` before it")
	flags.StringVar(&asked.expires, "expires", "", "`WHEN` nodes stop to follow it, such as 365d or 2027-04-01")
	flags.StringArrayVar(&asked.rootKeys, "root-key", nil,
		"a public key of the role root, as [NAME=]PUBLIC with a file or a word; may be given again")
	flags.IntVar(&asked.rootNeed, "root-threshold", 1, "how many of these have to sign the next root")
	flags.StringArrayVar(&asked.pointerKeys, "pointer-key", nil, "a public key of the role pointer, in the same way")
	flags.IntVar(&asked.pointerNeed, "pointer-threshold", 1, "how many of these have to sign a pointer")
	flags.StringSliceVar(&asked.hosts, "host", nil, "a `HOST` or HOST:PORT that artifacts come from; may be given again")
	return command
}

func (a *app) makeRoot(asked *rootRequest, given func(flag string) bool) error {
	if asked.out == "" || asked.expires == "" {
		return usage("--out and --expires are needed")
	}
	root := trust.Root{}
	if asked.previous != "" {
		envelope, err := readEnvelope(asked.previous)
		if err != nil {
			return usage("--previous: %v", err)
		}
		if root, err = signing.RootOf(envelope); err != nil {
			return fmt.Errorf("--previous: %s: %w", asked.previous, err)
		}
	} else if len(asked.rootKeys) == 0 || len(asked.pointerKeys) == 0 {
		return usage("--root-key and --pointer-key are needed where there is no --previous")
	}
	if err := asked.change(&root, given); err != nil {
		return err
	}
	payload, err := root.Payload()
	if err != nil {
		return fmt.Errorf("this root would not be read by nodes: %w", err)
	}
	raw, err := trust.Envelope{PayloadType: trust.RootType, Payload: payload}.Encode()
	if err != nil {
		return err
	}
	if err := writeNew(asked.out, raw); err != nil {
		return err
	}
	return a.printRoot(asked.out, root)
}

// change makes a root the next one.
func (r *rootRequest) change(root *trust.Root, given func(string) bool) error {
	var err error
	root.Version++
	if root.Expires, err = parseWhen(r.expires, clock.Real{}.Now()); err != nil {
		return usage("--expires: %v", err)
	}
	for _, role := range []struct {
		name string
		keys []string
		need int
		into *trust.Role
	}{{"root", r.rootKeys, r.rootNeed, &root.Root}, {"pointer", r.pointerKeys, r.pointerNeed, &root.Pointer}} {
		if len(role.keys) > 0 {
			if role.into.Keys, err = readRoleKeys(role.keys); err != nil {
				return usage("--%s-key: %v", role.name, err)
			}
		}
		if given(role.name+"-threshold") || role.into.Threshold == 0 {
			role.into.Threshold = role.need
		}
	}
	if given("host") {
		root.Hosts = r.hosts
	}
	return nil
}

// readRoleKeys reads public keys, each with a name before it or without. What is before the «=» of a word's base64 has
// a colon.
func readRoleKeys(texts []string) ([]trust.Key, error) {
	var keys []trust.Key
	for _, text := range texts {
		name, rest, named := strings.Cut(text, "=")
		if named && !strings.ContainsAny(name, ":/") {
			text = rest
		} else {
			name = ""
		}
		public, err := signing.ReadPublic(text)
		if err != nil {
			return nil, err
		}
		keys = append(keys, trust.Key{ID: trust.IDOf(public), Name: name, Public: public})
	}
	return keys, nil
}

// writeNew writes a file that must not be there: it may have signatures that are hard to come by.
func writeNew(path string, content []byte) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return usage("--out: %s is there, and may have been signed. hint: name another file", path)
	}
	return writeWhole(path, func(file *os.File) error {
		_, err := file.Write(content)
		return err
	})
}

// madeRoot is the document of salve hotfix keys root.
type madeRoot struct {
	report.Document
	File    string       `json:"file"`
	Version int64        `json:"version"`
	Expires trust.Moment `json:"expires"`
	Root    shownRole    `json:"root"`
	Pointer shownRole    `json:"pointer"`
	Hosts   []string     `json:"hosts"`
}

// shownRole is a role for people.
type shownRole struct {
	Keys   []string `json:"keys"`
	Needed int      `json:"needed"`
}

func newShownRole(role trust.Role) shownRole {
	shown := shownRole{Keys: []string{}, Needed: role.Threshold}
	for _, key := range role.Keys {
		shown.Keys = append(shown.Keys, key.String())
	}
	return shown
}

func (r shownRole) String() string {
	return fmt.Sprintf("%d of %s", r.Needed, strings.Join(r.Keys, ", "))
}

func (a *app) printRoles(made madeRoot) {
	fmt.Fprintf(a.stdout, "root %d, until %s\nroots     signed by %s\npointers  signed by %s\nhosts     %s\n",
		made.Version, made.Expires, made.Root, made.Pointer, orDash(strings.Join(made.Hosts, ", ")))
}

func (a *app) printRoot(file string, root trust.Root) error {
	made := madeRoot{report.NewDocument("hotfix-root"), file, root.Version, trust.At(root.Expires),
		newShownRole(root.Root), newShownRole(root.Pointer), append([]string{}, root.Hosts...)}
	if a.json() {
		return a.document(made)
	}
	next := "its root keys have to sign it"
	if root.Version > 1 {
		next += fmt.Sprintf(", and those of root %d", root.Version-1)
	}
	fmt.Fprintf(a.stdout, "%s: ", file)
	a.printRoles(made)
	_, err := fmt.Fprintf(a.stdout, "Next: %s (salve hotfix sign %s --key KEY).\n", next, file)
	return err
}

// parseWhen reads a time to come: days, a duration, a day, or a time.
func parseWhen(text string, now time.Time) (time.Time, error) {
	var days int
	if rest, found := strings.CutSuffix(text, "d"); found {
		if _, err := fmt.Sscanf(rest+"!", "%d!", &days); err == nil && days > 0 {
			return now.AddDate(0, 0, days), nil
		}
	}
	if duration, err := time.ParseDuration(text); err == nil && duration > 0 {
		return now.Add(duration), nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil && at.After(now) {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is not a time to come, such as 30d, 12h, 2027-04-01 or 2027-04-01T12:00:00Z",
		text)
}

package cli

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/clock"
	"salve/internal/hotfix/prepublish"
	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
	"salve/internal/report"
)

// backdated is how long ago a document says that it was issued: nodes whose clock is a little slow follow it too.
const backdated = 10 * time.Minute

// signRequest is what the user asked of salve hotfix sign.
type signRequest struct {
	file, out, previous, expires string
	roots                        []string
	counter                      int64
	keys                         signingKeys
}

func newHotfixSign(a *app) *cobra.Command {
	asked := &signRequest{}
	command := &cobra.Command{
		Use:   "sign FILE --key KEY",
		Short: "Sign a pointer for nodes with a root of trust, or a root document",
		Long: `Sign a pointer, a signed pointer, or a root document.

A pointer becomes a signed one in the file --out: it needs --root, the root documents
that nodes have or are to get, --expires, and --counter or --previous. The counter is
one more than that of the signed pointer --previous.

A signed pointer or a root document gets one more signature, in its own file: people
sign one after the other, on machines of their own. Look first at what you sign:
salve hotfix verify.

` + keysHelp,
		Example: `  # A root document, by each of those who have to sign it
  salve hotfix sign root-1.json --key alice.pem
  # The first pointer, and the next one
  salve hotfix sign pointer.json --out signed.json --counter 1 --expires 30d --root root-1.json --key ci.pem
  salve hotfix sign next.json --out signed-2.json --previous signed.json --expires 30d --root root-1.json --key ci.pem`,
		Args: oneArgument("the file to sign"),
		RunE: func(command *cobra.Command, arguments []string) error {
			asked.file = arguments[0]
			return a.signHotfix(command.Context(), asked, command.Flags().Changed)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&asked.roots, "root", nil,
		"a `ROOT` document that nodes have or get; may be given again. For a root document, the one before it")
	flags.StringVar(&asked.out, "out", "", "the `FILE` of the signed pointer")
	flags.StringVar(&asked.previous, "previous", "", "the signed pointer `FILE` that nodes have now")
	flags.Int64Var(&asked.counter, "counter", 0, "the number of the document; nodes take no lower one than they saw")
	flags.StringVar(&asked.expires, "expires", "", "`WHEN` nodes stop to follow the pointer, such as 30d")
	asked.keys.addFlags(flags)
	return command
}

func (a *app) signHotfix(ctx context.Context, asked *signRequest, given func(string) bool) error {
	raw, err := readBounded(asked.file, largestDocument)
	if err != nil {
		return usage("%v", err)
	}
	kind := signing.KindOf(raw)
	if kind != signing.Pointer {
		for _, flag := range []string{"out", "previous", "counter", "expires"} {
			if given(flag) {
				return usage("--%s is for a pointer that is not signed yet, and %s is a %s", flag, asked.file, kind)
			}
		}
	}
	signers, err := asked.keys.open(ctx, a)
	if err != nil {
		return err
	}
	switch kind {
	case signing.Root:
		return a.signRoot(ctx, asked, signers)
	case signing.Signed:
		return a.signAgain(ctx, asked, signers)
	default:
		return a.signPointer(ctx, asked, raw, signers)
	}
}

// signed is the document of salve hotfix sign.
type signed struct {
	report.Document
	File    string       `json:"file"`
	Signed  signing.Kind `json:"signed"`
	Root    int64        `json:"root"`
	Counter int64        `json:"counter,omitempty"`
	Expires trust.Moment `json:"expires"`
	// By are the signatures that nodes count.
	By []tally `json:"by"`
}

// tally is how far a document is signed by one role.
type tally struct {
	Role    string   `json:"role"`
	Signers []string `json:"signers"`
	Needed  int      `json:"needed"`
}

func newTally(name string, e trust.Envelope, role trust.Role) tally {
	counted := signing.Count(e, role)
	return tally{name, newShownRole(trust.Role{Keys: counted.Signers}).Keys, counted.Needed}
}

func (t tally) String() string {
	who := "nobody yet"
	if len(t.Signers) > 0 {
		who = strings.Join(t.Signers, ", ")
	}
	return fmt.Sprintf("%s: %d of %d needed (%s)", t.Role, len(t.Signers), t.Needed, who)
}

func (s signed) complete() bool {
	for _, one := range s.By {
		if len(one.Signers) < one.Needed {
			return false
		}
	}
	return true
}

// signRoot adds signatures to a root document, in its file.
func (a *app) signRoot(ctx context.Context, asked *signRequest, signers []signing.Signer) error {
	envelope, err := readEnvelope(asked.file)
	if err != nil {
		return err
	}
	root, err := signing.RootOf(envelope)
	if err != nil {
		return fmt.Errorf("%s: %w", asked.file, err)
	}
	answer := signed{Document: report.NewDocument("hotfix-signed"), File: asked.file, Signed: signing.Root,
		Root: root.Version, Expires: trust.At(root.Expires)}
	roles := map[string]trust.Role{fmt.Sprintf("the keys of root %d", root.Version): root.Root}
	names := []string{fmt.Sprintf("the keys of root %d", root.Version)}
	for _, path := range asked.roots {
		before, err := readEnvelope(path)
		if err != nil {
			return usage("--root: %v", err)
		}
		previous, err := signing.RootOf(before)
		if err != nil {
			return fmt.Errorf("--root: %s: %w", path, err)
		}
		if previous.Version != root.Version-1 {
			return usage("--root: %s is root %d, and the one before root %d is needed", path, previous.Version, root.Version)
		}
		name := fmt.Sprintf("the keys of root %d", previous.Version)
		roles[name], names = previous.Root, append(names, name)
	}
	envelope, err = add(ctx, envelope, signers, roles, "--root with the root before it, if the key is one of that")
	if err != nil {
		return err
	}
	for _, name := range names {
		answer.By = append(answer.By, newTally(name, envelope, roles[name]))
	}
	raw, err := envelope.Encode()
	if err != nil {
		return err
	}
	return a.keepSigned(answer, raw)
}

// add signs with each key that has one of the roles. Another key's signature would not count, and nobody would notice.
func add(ctx context.Context, e trust.Envelope, signers []signing.Signer, roles map[string]trust.Role,
	hint string) (trust.Envelope, error) {
	for _, signer := range signers {
		id, listed := trust.IDOf(signer.Public()), false
		for _, role := range roles {
			for _, key := range role.Keys {
				listed = listed || key.ID == id
			}
		}
		if !listed {
			return trust.Envelope{}, fmt.Errorf("key %s is none of those whose signatures count here. hint: %s", id, hint)
		}
		var err error
		if e, err = signing.Add(ctx, e, signer); err != nil {
			return trust.Envelope{}, err
		}
	}
	return e, nil
}

// signAgain adds signatures to a signed pointer, in its file.
func (a *app) signAgain(ctx context.Context, asked *signRequest, signers []signing.Signer) error {
	bundle, err := readBundle(asked.file)
	if err != nil {
		return err
	}
	if len(asked.roots) == 0 {
		return usage("--root is needed: the root documents that nodes have say whose signatures count")
	}
	roots, err := readRoots(asked.roots, bundle.Roots)
	if err != nil {
		return err
	}
	document, err := trust.ParseDocument(bundle.Pointer.Payload)
	if err != nil {
		return fmt.Errorf("%s: %w", asked.file, err)
	}
	return a.signBundle(ctx, asked.file, signing.Release{Counter: document.Counter, Expires: document.Expires.Time,
		Roots: roots}, bundle, signers)
}

// signPointer makes a signed pointer.
func (a *app) signPointer(ctx context.Context, asked *signRequest, raw []byte, signers []signing.Signer) error {
	switch {
	case asked.out == "" || asked.expires == "" || len(asked.roots) == 0:
		return usage("--out, --expires and --root are needed to sign a pointer")
	case asked.counter < 1 && asked.previous == "":
		return usage("--counter is needed, from 1, or --previous with the signed pointer that nodes have now")
	}
	now := clock.Real{}.Now()
	release := signing.Release{Counter: asked.counter, Issued: now.Add(-backdated),
		Pointer: []byte(strings.TrimSpace(string(raw)))}
	var err error
	if release.Expires, err = parseWhen(asked.expires, now); err != nil {
		return usage("--expires: %v", err)
	}
	if err := asked.after(&release); err != nil {
		return err
	}
	root := release.Roots.Newest()
	if found := prepublish.LintBy(signing.Provenance(root), asked.file, raw, nil); len(found) > 0 {
		return fmt.Errorf("%s; mend what salve hotfix lint --root names first", found[0])
	}
	bundle, err := release.Bundle()
	if err != nil {
		return err
	}
	return a.signBundle(ctx, asked.out, release, bundle, signers)
}

// after reads the roots, and what nodes have now: the next document has to have a higher counter, and the roots of the
// one before come along.
func (r *signRequest) after(release *signing.Release) error {
	var before trust.Bundle
	var err error
	if r.previous != "" {
		if before, err = readBundle(r.previous); err != nil {
			return usage("--previous: %v", err)
		}
	}
	if release.Roots, err = readRoots(r.roots, before.Roots); err != nil || r.previous == "" {
		return err
	}
	document, err := trust.ParseDocument(before.Pointer.Payload)
	if err != nil {
		return fmt.Errorf("--previous: %s: %w", r.previous, err)
	}
	switch {
	case r.counter == 0:
		release.Counter = document.Counter + 1
	case r.counter <= document.Counter:
		return usage("--counter %d: the signed pointer %s has %d, and nodes take no lower one", r.counter, r.previous,
			document.Counter)
	}
	return nil
}

func (a *app) signBundle(ctx context.Context, file string, release signing.Release, bundle trust.Bundle,
	signers []signing.Signer) (err error) {
	root := release.Roots.Newest()
	roles := map[string]trust.Role{"pointer": root.Pointer}
	bundle.Pointer, err = add(ctx, bundle.Pointer, signers, roles,
		fmt.Sprintf("salve hotfix keys root makes a root that has it; this is root %d", root.Version))
	if err != nil {
		return err
	}
	raw, err := bundle.Encode()
	if err != nil {
		return err
	}
	return a.keepSigned(signed{
		Document: report.NewDocument("hotfix-signed"), File: file, Signed: signing.Signed, Root: root.Version,
		Counter: release.Counter, Expires: trust.At(release.Expires),
		By: []tally{newTally(fmt.Sprintf("the pointer keys of root %d", root.Version), bundle.Pointer, root.Pointer)},
	}, raw)
}

// keepSigned writes what was signed, and says how far it is.
func (a *app) keepSigned(answer signed, raw []byte) error {
	err := writeWhole(answer.File, func(file *os.File) error {
		_, err := file.Write(raw)
		return err
	})
	if err != nil {
		return err
	}
	if a.json() {
		return a.document(answer)
	}
	what := fmt.Sprintf("root %d", answer.Root)
	if answer.Signed == signing.Signed {
		what = fmt.Sprintf("pointer %d", answer.Counter)
	}
	fmt.Fprintf(a.stdout, "%s: %s, until %s\n", answer.File, what, answer.Expires)
	for _, one := range answer.By {
		fmt.Fprintf(a.stdout, "signed by %s\n", one)
	}
	next := "Complete as far as these keys go: salve hotfix verify says what nodes make of it."
	if !answer.complete() {
		next = "Not complete: the others sign the same file, each with a key of their own."
	}
	_, err = fmt.Fprintln(a.stdout, next)
	return err
}

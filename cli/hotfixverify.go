package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/clock"
	"salve/internal/hotfix"
	"salve/internal/hotfix/prepublish"
	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
	"salve/internal/report"
)

// verifyRequest is what the user asked of salve hotfix verify.
type verifyRequest struct {
	file, root, previous, versions, at string
	nodes, current                     string
	architectures                      []string
}

func newHotfixVerify(a *app) *cobra.Command {
	asked := &verifyRequest{}
	command := &cobra.Command{
		Use:   "verify FILE --root ROOT",
		Short: "Say what nodes make of a signed pointer or a root document",
		Long: `Verify a signed pointer by the code that nodes verify it by: who signed it, which number
it has, when it expires, and which nodes get what. ROOT is the root of trust as nodes
have it. With --previous the nodes have seen that signed pointer before.

A root document is verified as the one that follows ROOT.

Exit codes: 0 nodes follow it, 1 they don't, 2 wrong usage.`,
		Example: `  # As a node would: a root document, and a pointer after the one that nodes have seen
  salve hotfix verify root-1.json --root root-1.json
  salve hotfix verify signed-2.json --root root-1.json --previous signed.json`,
		Args: oneArgument("the file to verify"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			asked.file = arguments[0]
			if asked.root == "" {
				return usage("--root is needed: the root of trust as nodes have it")
			}
			return a.verifyHotfix(asked)
		},
	}
	flags := command.Flags()
	flags.StringVar(&asked.root, "root", "", "the `ROOT` of trust as nodes have it")
	flags.StringVar(&asked.previous, "previous", "", "the signed pointer `FILE` that nodes have seen")
	flags.StringVar(&asked.at, "at", "", "the `TIME` that nodes' clocks show (default now)")
	flags.StringVar(&asked.versions, "versions", "",
		"a `FILE` of the versions that nodes have, one a line; - reads them from the input (default: one node of each base)")
	flags.StringVar(&asked.nodes, "nodes", "",
		"a `FILE` of nodes instead, one a line: the ID, by which canaries are drawn, and the version")
	flags.StringVar(&asked.current, "current", "", "the `VERSION` of nodes that have none in the list")
	flags.StringSliceVar(&asked.architectures, "arch", []string{"amd64", "arm64"}, "the architectures that nodes have")
	return command
}

func (a *app) verifyHotfix(asked *verifyRequest) error {
	now := clock.Real{}.Now()
	if asked.at != "" {
		at, err := time.Parse(time.RFC3339, asked.at)
		if err != nil {
			return usage("--at: %.40q is not a time such as 2027-04-01T12:00:00Z", asked.at)
		}
		now = at
	}
	root, err := readTrusted(asked.root)
	if err != nil {
		return err
	}
	raw, err := readBounded(asked.file, largestDocument)
	if err != nil {
		return usage("%v", err)
	}
	switch signing.KindOf(raw) {
	case signing.Root:
		return a.verifyRoot(asked, root, now)
	case signing.Signed:
		return a.verifyPointer(asked, root, now)
	default:
		return unsignedPointer(asked.file)
	}
}

func unsignedPointer(file string) error {
	return fmt.Errorf("%s is not signed: nodes with a root of trust don't look at it. hint: salve hotfix sign", file)
}

// verifiedRoot is the document of salve hotfix verify for a root.
type verifiedRoot struct {
	madeRoot
	By []tally `json:"by"`
}

func (a *app) verifyRoot(asked *verifyRequest, before trust.Trusted, now time.Time) error {
	envelope, err := readEnvelope(asked.file)
	if err != nil {
		return err
	}
	root, err := signing.RootOf(envelope)
	if err != nil {
		return fmt.Errorf("%s: %w", asked.file, err)
	}
	if root.Version == before.Root().Version {
		encoded, err := envelope.Encode()
		if err != nil {
			return err
		}
		if _, err := trust.ParseTrusted(encoded); err != nil {
			return fmt.Errorf("%s: %w", asked.file, err)
		}
	} else if chain, err := before.Follow(trust.Memory{}, []trust.Envelope{envelope}); err != nil {
		return fmt.Errorf("%s: nodes don't follow it: %w", asked.file, err)
	} else if chain.Newest().Version != root.Version {
		return fmt.Errorf("%s: root %d is older than root %d, which nodes have", asked.file, root.Version,
			before.Root().Version)
	}
	if !now.Before(root.Expires) {
		return fmt.Errorf("%s: root %d expired at %s", asked.file, root.Version, trust.At(root.Expires))
	}
	answer := verifiedRoot{madeRoot: madeRoot{report.NewDocument("hotfix-verified-root"), asked.file, root.Version,
		trust.At(root.Expires), newShownRole(root.Root), newShownRole(root.Pointer), append([]string{}, root.Hosts...)}}
	for _, by := range []trust.Root{before.Root(), root} {
		answer.By = append(answer.By, newTally(fmt.Sprintf("the keys of root %d", by.Version), envelope, by.Root))
		if by.Version == root.Version {
			break
		}
	}
	if a.json() {
		return a.document(answer)
	}
	a.printRoles(answer.madeRoot)
	for _, one := range answer.By {
		fmt.Fprintf(a.stdout, "signed by %s\n", one)
	}
	_, err = fmt.Fprintln(a.stdout, "Nodes follow it.")
	return err
}

// verifiedPointer is the document of salve hotfix verify for a signed pointer.
type verifiedPointer struct {
	report.Document
	File    string         `json:"file"`
	Counter int64          `json:"counter"`
	Issued  trust.Moment   `json:"issued"`
	Expires trust.Moment   `json:"expires"`
	Root    int64          `json:"root"`
	By      tally          `json:"by"`
	Hosts   []string       `json:"hosts"`
	Nodes   []verifiedNode `json:"nodes"`
	// Canaries are who is drawn of the nodes, if their IDs are known.
	Canaries []prepublish.Share `json:"canaries,omitempty"`
}

// verifiedNode is what nodes of one base and architecture get.
type verifiedNode struct {
	prepublish.Group
	Architecture string           `json:"architecture"`
	Artifact     *hotfix.Artifact `json:"artifact,omitempty"` // of the program
}

func (a *app) verifyPointer(asked *verifyRequest, root trust.Trusted, now time.Time) error {
	accepted, err := acceptAsNodes(asked.file, asked.previous, root, now)
	if err != nil {
		return err
	}
	fleet := prepublish.FleetOf(accepted.Pointer)
	list := &resolveRequest{versions: asked.versions, nodes: asked.nodes, current: asked.current}
	if list.versions != "" || list.nodes != "" {
		if fleet, err = list.fleet(); err != nil {
			return err
		}
	}
	answer := verifiedPointer{
		Document: report.NewDocument("hotfix-verified"), File: asked.file, Counter: accepted.Document.Counter,
		Issued: accepted.Document.Issued, Expires: accepted.Document.Expires, Root: accepted.Root.Version,
		By: tally{fmt.Sprintf("the pointer keys of root %d", accepted.Root.Version),
			newShownRole(trust.Role{Keys: accepted.Signers}).Keys, accepted.Root.Pointer.Threshold},
		Hosts: append([]string{}, accepted.Root.Hosts...), Nodes: []verifiedNode{},
		Canaries: prepublish.Shares(fleet, accepted.Pointer),
	}
	for _, architecture := range asked.architectures {
		for _, group := range prepublish.Resolve(fleet, prepublish.RuleSigned(accepted.Pointer, architecture)) {
			node := verifiedNode{Group: group, Architecture: architecture}
			if group.Target != "" {
				artifact, err := artifactOf(accepted.Pointer, group.Target, architecture)
				if err != nil {
					return err
				}
				node.Artifact = &artifact
			}
			answer.Nodes = append(answer.Nodes, node)
		}
	}
	return a.printVerified(answer)
}

func artifactOf(pointer hotfix.Pointer, target, architecture string) (hotfix.Artifact, error) {
	version, err := hotfix.ParseVersion(target)
	if err != nil {
		return hotfix.Artifact{}, err
	}
	artifact, _, err := pointer.ArtifactOf(version, architecture)
	return artifact, err
}

// acceptAsNodes does what a node does with a signed pointer, that has seen another one before, or none.
func acceptAsNodes(file, previous string, root trust.Trusted, now time.Time) (trust.Accepted, error) {
	memory := trust.Memory{}
	if previous != "" {
		before, err := readBundle(previous)
		if err != nil {
			return trust.Accepted{}, usage("--previous: %v", err)
		}
		document, err := trust.ParseDocument(before.Pointer.Payload)
		if err != nil {
			return trust.Accepted{}, fmt.Errorf("--previous: %w", err)
		}
		// It may be over by now: nodes saw it when it was not.
		seen, err := acceptBundle(before, root, memory, document.Issued.Time)
		if err != nil {
			return trust.Accepted{}, fmt.Errorf("--previous: %s: nodes did not follow it: %w", previous, err)
		}
		memory = seen.Memory
	}
	bundle, err := readBundle(file)
	if err != nil {
		return trust.Accepted{}, err
	}
	accepted, err := acceptBundle(bundle, root, memory, now)
	if err != nil {
		return trust.Accepted{}, fmt.Errorf("%s: nodes don't follow it: %s: %w", file, trust.ReasonOf(err), err)
	}
	return accepted, nil
}

func acceptBundle(bundle trust.Bundle, root trust.Trusted, memory trust.Memory, now time.Time) (trust.Accepted, error) {
	chain, err := root.Follow(memory, bundle.Roots)
	if err != nil {
		return trust.Accepted{}, err
	}
	return chain.Accept(bundle.Pointer, now)
}

func (a *app) printVerified(answer verifiedPointer) error {
	if a.json() {
		return a.document(answer)
	}
	fmt.Fprintf(a.stdout, "pointer %d, issued %s, until %s\nsigned by %s\nhosts     %s\n\n", answer.Counter, answer.Issued,
		answer.Expires, answer.By, orDash(strings.Join(answer.Hosts, ", ")))
	var rows [][]string
	for _, node := range answer.Nodes {
		from := "-"
		if node.Artifact != nil {
			from = "sha256:" + node.Artifact.SHA256[:12] + " from the image's repository"
			if node.Artifact.URL != "" {
				from = "sha256:" + node.Artifact.SHA256[:12] + " from " + prepublish.Shown(node.Artifact.URL)
			}
		}
		rows = append(rows, []string{orDash(node.Base), node.Architecture, strconv.Itoa(node.Nodes), clipped(node.Example),
			orDash(node.Target), orDash(node.Scripts), reasonOf(node.Effect), from})
	}
	heading := []string{"BASE", "ARCH", "NODES", "SUCH AS", "PROGRAM", "SCRIPTS", "REASON", "FROM"}
	if err := report.Table(a.stdout, a.width(), heading, rows); err != nil {
		return err
	}
	fmt.Fprintln(a.stdout)
	for _, share := range answer.Canaries {
		fmt.Fprintf(a.stdout, "canary    %s for %s percent of base %s", share.Target, share.Percent, share.Base)
		if share.Nodes > 0 {
			fmt.Fprintf(a.stdout, ": %d of %s", share.Takes, report.Count(share.Nodes, "node", "nodes"))
		}
		fmt.Fprintln(a.stdout)
	}
	_, err := fmt.Fprintln(a.stdout, "Nodes follow it.")
	return err
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"salve/internal/approval"
	"salve/internal/approval/csr"
	"salve/internal/permit"
	"salve/internal/report"
	"salve/journal"
	"salve/journal/configmap"
	"salve/kube"
	"salve/runbook"
)

// longestApproval bounds how long an approval is good for.
const longestApproval = 24 * time.Hour

// approvalDocument is what somebody said of a run's plan, as its runner will read it.
type approvalDocument struct {
	report.Document
	Statement journal.Statement `json:"statement"`
}

// verdictRequest is what somebody says of a run's plan.
type verdictRequest struct {
	journalFlags
	run, digest, reason string
	narrow              []string
	expires             time.Duration
	key, public         string
	denied              bool
}

func newApprove(a *app) *cobra.Command {
	asked := &verdictRequest{journalFlags: journalFlags{role: kube.Approver}}
	command := &cobra.Command{
		Use:   "approve RUN --plan DIGEST",
		Short: "Approve the plan of a run that waits for it",
		Long: `Approve the plan of a run that waits for it. It is good for this run and this plan, and is
used once: a run that plans anew, or is resumed, asks anew. The guards are asked again
before anything is changed. It can lower limits of the run and widen nothing.

In a cluster the API server says who approves, and whether they may: that takes verb
approve on runs.salve.internal in the journal's namespace (deploy/approver-role.yaml).
For a journal in a folder it is signed with --key, the key of a person whom the run
names. Without --plan the plan is shown, and nothing is said of it.`,
		Example: `  # Show what waits, then approve it for an hour
  salve approve 20261122-021300-4f1a2b --kubeconfig ~/.kube/config
  salve approve 20261122-021300-4f1a2b --plan DIGEST --expires 1h --kubeconfig ~/.kube/config
  # Approve that at most ten pods are deleted
  salve approve 20261122-021300-4f1a2b --plan DIGEST --narrow max=10 --kubeconfig ~/.kube/config
  # Sign with a key of the ssh-agent, for a journal in a folder
  salve approve 20261122-021300-4f1a2b --plan DIGEST --key agent:alice --journal /srv/salve`,
		Args: aRun(),
		RunE: func(command *cobra.Command, arguments []string) error {
			asked.run = arguments[0]
			return a.answerQuestion(command, asked)
		},
	}
	groupFlags(command)
	asked.addFlags(command)
	flags := command.Flags()
	flags.StringVar(&asked.digest, "plan", "", "the `DIGEST` of the plan that is approved, or at least 12 digits of it")
	flags.StringArrayVar(&asked.narrow, "narrow", nil, "`NAME=NUMBER`: lower a limit of the run (repeatable)")
	flags.DurationVar(&asked.expires, "expires", time.Hour,
		"how long it is good for, by the runner's clock from when it sees it: by then the point of no return is passed")
	flags.StringVar(&asked.reason, "reason", "", "why, for the record")
	return command
}

func newDeny(a *app) *cobra.Command {
	asked := &verdictRequest{journalFlags: journalFlags{role: kube.Approver}, denied: true}
	command := &cobra.Command{
		Use:   "deny RUN --reason TEXT",
		Short: "Deny the plan of a run that waits for approval: the run ends, and changes nothing more",
		Long: `Deny the plan of a run that waits for approval. The run ends as failed; what it has changed
before, if it was resumed, is rolled back. Who may approve may deny, and one denial counts
before any approval that comes at the same time.`,
		Example: `  salve deny 20261122-021300-4f1a2b --reason "not during the sale" --kubeconfig ~/.kube/config`,
		Args:    aRun(),
		RunE: func(command *cobra.Command, arguments []string) error {
			if strings.TrimSpace(asked.reason) == "" {
				return usage("required flag --reason not set (for example --reason \"not during the sale\")")
			}
			asked.run = arguments[0]
			return a.answerQuestion(command, asked)
		},
	}
	groupFlags(command)
	asked.addFlags(command)
	command.Flags().StringVar(&asked.reason, "reason", "", "why, for the record and for who asked")
	return command
}

func (r *verdictRequest) addFlags(command *cobra.Command) {
	r.journalFlags.addFlags(command.Flags())
	command.Flags().StringVar(&r.key, "key", "",
		"the `KEY` of who says it, for a journal in a folder: a file in PEM, agent:NAME or exec:COMMAND")
	command.Flags().StringVar(&r.public, "public", "", "the `PUBLIC` key of an exec: key")
}

// answerQuestion says what somebody thinks of the plan of a run that waits.
func (a *app) answerQuestion(command *cobra.Command, asked *verdictRequest) error {
	limits, err := asked.limits()
	if err != nil {
		return err
	}
	if !asked.denied && (asked.expires <= 0 || asked.expires > longestApproval) {
		return usage("invalid --expires %s: it must be above 0 and at most %s", asked.expires, longestApproval)
	}
	if asked.digest != "" {
		if err := checkDigest(asked.digest); err != nil {
			return err
		}
	}
	ctx := command.Context()
	kept, waiting, err := a.findWaiting(command, asked)
	var idle *journal.NotWaitingError
	switch {
	case errors.As(err, &idle):
		return usage("%v. hint: salve runs list", err)
	case err != nil:
		return err
	}
	if err := waiting.Plan.Verify(); err != nil {
		return &attentionError{fmt.Errorf("the plan of run %q was edited: %w", asked.run, err)}
	}
	if err := narrowable(waiting.Question.Limits, limits); err != nil {
		return err
	}
	if err := a.showQuestion(waiting, asked); err != nil {
		return err
	}
	switch {
	case asked.denied:
	case asked.digest == "":
		return usage("required flag --plan not set: nothing is approved. hint: %s", asked.command(waiting))
	case !beginsDigest(asked.digest, waiting.Plan.Digest):
		return usage("run %s waits with another plan than %s: look at the one above. hint: %s", asked.run, asked.digest,
			asked.command(waiting))
	}
	statement := journal.Statement{
		Run: asked.run, Digest: waiting.Plan.Digest, Question: waiting.Question.ID, Denied: asked.denied,
		Reason: asked.reason, Limits: limits, From: a.from(),
	}
	if !asked.denied {
		statement.Expires = asked.expires.Seconds()
	}
	return a.say(ctx, kept, asked, waiting, statement)
}

// findWaiting looks for a run that waits wherever runs may be.
func (a *app) findWaiting(command *cobra.Command, asked *verdictRequest) (*journal.Location, journal.Waiting, error) {
	if err := asked.read(a, command.Flags()); err != nil {
		return nil, journal.Waiting{}, err
	}
	places, err := asked.places(a)
	for i, place := range places {
		var kept *journal.Location
		if kept, err = place.open(command.Context()); err != nil {
			return nil, journal.Waiting{}, err
		}
		var waiting journal.Waiting
		waiting, err = journal.ReadWaiting(command.Context(), kept, asked.run)
		var missing *journal.MissingError
		if !errors.As(err, &missing) || i == len(places)-1 {
			return kept, waiting, err
		}
	}
	return nil, journal.Waiting{}, err
}

// from is where a statement is made, by the word of this machine.
func (a *app) from() string {
	host, _ := os.Hostname() // a nameless host says nothing
	holder := a.holder()
	return strings.TrimSpace(fmt.Sprintf("%s@%s", holder.User, host))
}

// command approves what waits.
func (r *verdictRequest) command(waiting journal.Waiting) string {
	words := r.approving(r.run, waiting.Plan.Digest)
	for i := range words {
		if words[i] == "KEY" && r.key != "" {
			words[i] = r.key
		}
	}
	return shell(words)
}

// limits are those of --narrow.
func (r *verdictRequest) limits() (map[string]int, error) {
	var limits map[string]int
	for _, given := range r.narrow {
		name, text, found := strings.Cut(given, "=")
		number, err := strconv.Atoi(text)
		if _, twice := limits[name]; !found || name == "" || err != nil || twice {
			return nil, usage("invalid --narrow %q: it must be NAME=NUMBER, each name once", given)
		}
		if number < 1 {
			return nil, usage("invalid --narrow %s: the run may do nothing then, for which there is salve deny", given)
		}
		if limits == nil {
			limits = map[string]int{}
		}
		limits[name] = number
	}
	return limits, nil
}

// narrowable finds what the runner would refuse.
func narrowable(are, lowered map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(lowered)) {
		number := lowered[name]
		is, known := are[name]
		switch {
		case len(are) == 0:
			return usage("--narrow %s: the run has no limit that can be lowered", name)
		case !known:
			return usage("--narrow %s: the run has no limit of this name. %s", name, limitsNear(name, are))
		case number > is:
			return usage("--narrow %s=%d: it is %d, and can only be lowered", name, number, is)
		}
	}
	return nil
}

// limitsNear are the limit that a misspelt one may stand for, and all that there are.
func limitsNear(name string, are map[string]int) string {
	names := slices.Sorted(maps.Keys(are))
	shown := make([]string, 0, len(names))
	for _, one := range names {
		shown = append(shown, fmt.Sprintf("%s (%d)", one, are[one]))
	}
	all := "It has: " + strings.Join(shown, ", ")
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("Did you mean %q? %s", near, all)
	}
	return all
}

// showQuestion prints the plan, and what of it is known only by the word of its record.
func (a *app) showQuestion(waiting journal.Waiting, asked *verdictRequest) error {
	if a.json() {
		return nil
	}
	if err := report.Plan(a.stdout, a.width(), waiting.Plan); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "\nTarget: %s\nAsked by: %s, run %s\n", waiting.Plan.Target.ID, waiting.Question.Requester,
		asked.run)
	for _, fact := range evidenceOf(waiting.Plan) {
		fmt.Fprintln(a.stdout, fact)
	}
	_, err := fmt.Fprintln(a.stdout)
	return err
}

// evidenceOf are what the plan rests on, a line for each guard.
func evidenceOf(plan runbook.Plan) (lines []string) {
	told := map[string]bool{}
	for _, fact := range plan.Evidence {
		if !told[fact.Guard] {
			told[fact.Guard] = true
			lines = append(lines, fmt.Sprintf("Guard %s: %s", fact.Guard, fact.Answer))
		}
	}
	return lines
}

// say leaves the statement where the runner looks for it.
func (a *app) say(
	ctx context.Context, kept *journal.Location, asked *verdictRequest, waiting journal.Waiting,
	statement journal.Statement,
) (err error) {
	var where string
	var by journal.Identity
	switch beside := kept.Backend.(type) {
	case *configmap.Journal:
		if asked.key != "" {
			return usage("--key is for journals in folders: in a cluster the API server tells who approves")
		}
		where, by, err = a.sayInCluster(ctx, asked, beside, statement)
	case *journal.File:
		where, by, err = a.sayInFolder(ctx, asked, beside, waiting, statement)
	default:
		return usage("nobody can approve a run whose journal is in %s", kept.Where)
	}
	if err != nil {
		return err
	}
	statement.By, statement.Proof = by, where
	verb, lasts := "Denied", ""
	if !asked.denied {
		verb, lasts = "Approved", fmt.Sprintf(", for %s from when the runner sees it", asked.expires)
	}
	says := fmt.Sprintf("%s plan %s of run %s as %s%s: %s.", verb, waiting.Plan.Short(), asked.run, by, lasts, where)
	if a.json() {
		fmt.Fprintln(a.stderr, says)
		return a.document(approvalDocument{report.NewDocument("approval"), statement})
	}
	_, err = fmt.Fprintln(a.stdout, says)
	return err
}

func (a *app) sayInCluster(
	ctx context.Context, asked *verdictRequest, beside *configmap.Journal, statement journal.Statement,
) (string, journal.Identity, error) {
	cluster, err := asked.cluster(ctx, a)
	if err != nil {
		return "", journal.Identity{}, err
	}
	client, err := kube.ApprovalClient(cluster, permit.ForApprovals())
	if err != nil {
		return "", journal.Identity{}, err
	}
	approvals := csr.Approvals{Client: client, Clock: cluster.Clock, Namespace: beside.Namespace()}
	name, by, err := approvals.Say(ctx, statement)
	return "CertificateSigningRequest " + name, by, err
}

func (a *app) sayInFolder(
	ctx context.Context, asked *verdictRequest, beside *journal.File, waiting journal.Waiting, statement journal.Statement,
) (string, journal.Identity, error) {
	if asked.key == "" {
		return "", journal.Identity{}, usage("required flag --key not set: a journal in a folder knows people by their keys")
	}
	signer, err := a.signer(ctx, "--key", asked.key, asked.public)
	if err != nil {
		return "", journal.Identity{}, err
	}
	raw, err := approval.Sign(ctx, signer, statement)
	if err != nil {
		return "", journal.Identity{}, err
	}
	var by journal.Identity
	if rule := waiting.Header.Approval; rule != nil { // the runner decides; this saves a wait
		said, err := approval.Verify(*rule, raw)
		if err != nil {
			return "", said.By, usage("%v", strings.Replace(err.Error(), "forged: ", "", 1))
		}
		by = said.By
	}
	fourEyes := waiting.Header.Approval != nil && waiting.Header.Approval.FourEyes
	if fourEyes && !asked.denied && by.Same(waiting.Question.Requester) {
		return "", by, usage("four eyes: %s asked for the approval, and can't give it", by)
	}
	where, err := approval.Folder{Dir: beside.Dir()}.Leave(asked.run, waiting.Question.ID, raw)
	return where, by, err
}

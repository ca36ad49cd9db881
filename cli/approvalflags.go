package cli

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"salve/engine"
	"salve/internal/approval"
	"salve/internal/approval/csr"
	"salve/internal/hotfix/signing"
	"salve/journal"
	"salve/journal/configmap"
	"salve/kube"
)

// policyVariable names the file with the rule of approvals for all runs.
const policyVariable = "SALVE_APPROVAL_POLICY"

// approvalFlags say who has to approve a run's plan before it changes anything.
type approvalFlags struct {
	approveBy  []string
	policyFile string
	fourEyes   bool
	wait       time.Duration
	requestKey string
	// rule is what they come to; nil where nobody has to.
	rule *journal.ApprovalRule
}

func (f *approvalFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.approveBy, "approve-by", nil,
		"wait until the plan is approved by `WHO`: in a cluster user:NAME, group:NAME or anyone who may; with --journal the "+
			"file of a public key (repeatable)")
	flags.StringVar(&f.policyFile, "approval-policy", "",
		"`FILE` that says who has to approve the plan ("+policyVariable+")")
	flags.BoolVar(&f.fourEyes, "four-eyes", false, "who runs this can't approve it")
	flags.DurationVar(&f.wait, "approval-wait", approval.DefaultWait, "how long to wait for the approval")
	f.addKey(flags)
}

// addKey is the flag that a resumed run has as well.
func (f *approvalFlags) addKey(flags *pflag.FlagSet) {
	flags.StringVar(&f.requestKey, "request-key", "",
		"the `KEY` of who runs this, as --key of salve approve takes one: for four eyes with --journal")
}

// read takes flags and environment together.
func (f *approvalFlags) read(a *app, flags *pflag.FlagSet) error {
	file, of := f.policyFile, "--approval-policy"
	if file == "" {
		file, of = a.lookup(policyVariable), policyVariable
	}
	switch {
	case f.policyFile != "" && len(f.approveBy) > 0:
		return usage("--approve-by and --approval-policy: the policy says who approves")
	case file != "" && len(f.approveBy) > 0:
		return usage("--approve-by and %s: the policy says who approves", policyVariable)
	case file != "":
		if err := f.readPolicy(file, of); err != nil {
			return err
		}
	case len(f.approveBy) > 0:
		if err := f.readNames(); err != nil {
			return err
		}
	case f.fourEyes, flags.Changed("approval-wait"):
		return usage("--four-eyes and --approval-wait go with --approve-by or --approval-policy")
	default:
		return nil
	}
	f.rule.FourEyes = f.rule.FourEyes || f.fourEyes
	if flags.Changed("approval-wait") {
		f.rule.WaitSeconds = f.wait.Seconds()
	}
	if err := approval.CheckWait(time.Duration(f.rule.WaitSeconds * float64(time.Second))); err != nil {
		return usage("--approval-wait: %v", err)
	}
	return nil
}

func (f *approvalFlags) readPolicy(file, of string) error {
	raw, err := readBounded(file, 1<<20)
	if err != nil {
		return usage("%s: %v", of, err)
	}
	rule, err := approval.ReadPolicy(raw)
	if err != nil {
		return usage("%s %s: %v", of, file, err)
	}
	f.rule = &rule
	return nil
}

// readNames takes names as they are, and files of keys as people named after them.
func (f *approvalFlags) readNames() error {
	f.rule = &journal.ApprovalRule{WaitSeconds: f.wait.Seconds()}
	for _, who := range f.approveBy {
		if approval.IsName(who) {
			f.rule.By = append(f.rule.By, who)
			continue
		}
		public, err := signing.ReadPublic(who)
		if errors.Is(err, fs.ErrNotExist) {
			return usage("--approve-by %s: not anyone, user:NAME or group:NAME, and no file with a public key", who)
		}
		if err != nil {
			return usage("--approve-by: %v", err)
		}
		name := strings.TrimSuffix(filepath.Base(who), ".pub")
		if strings.HasPrefix(who, "ed25519:") {
			name = who
		}
		f.rule.Keys = append(f.rule.Keys, journal.ApproverKey{Name: name, Key: signing.ShowPublic(public)})
	}
	return nil
}

// approvals is where it is looked for approvals of the runs in a journal; nil where there is no such place.
func (a *app) approvals(
	ctx context.Context, kept *journal.Location, f *approvalFlags, cluster func(context.Context) (*kube.Cluster, error),
) (engine.Approvals, error) {
	switch beside := kept.Backend.(type) {
	case *configmap.Journal:
		if f.rule != nil {
			if err := approval.CheckCluster(*f.rule); err != nil {
				return nil, usage("%v", err)
			}
		}
		if f.requestKey != "" {
			return nil, usage("--request-key is for journals in folders: in a cluster the API server tells who runs this")
		}
		reached, err := cluster(ctx)
		if err != nil {
			return nil, err
		}
		return csr.Approvals{Client: reached.Client, Clock: reached.Clock, Namespace: beside.Namespace()}, nil
	case *journal.File:
		if f.rule != nil {
			if err := approval.CheckFolder(*f.rule); err != nil {
				return nil, usage("%v", err)
			}
			if f.rule.FourEyes && f.requestKey == "" {
				return nil, usage("required flag --request-key not set: under four eyes something has to show who asks. " +
					"hint: --request-key KEY, the key of a person in the policy")
			}
		}
		folder := approval.Folder{Dir: beside.Dir(), Claimed: a.holder().String()}
		if f.requestKey != "" {
			signer, err := a.signer(ctx, "--request-key", f.requestKey, "")
			if err != nil {
				return nil, err
			}
			folder.Key = signer
		}
		return folder, nil
	}
	if f.rule != nil {
		return nil, usage("nobody can approve a run whose journal is in %s", kept.Where)
	}
	return nil, nil
}

// signer reaches a private key.
func (a *app) signer(ctx context.Context, flag, key, public string) (approval.Signer, error) {
	options := signing.Options{Agent: a.lookup("SSH_AUTH_SOCK"), Patience: time.Minute}
	if signing.IsCommand(key) {
		if public == "" {
			return nil, usage("%s %s: a command can't be asked for its public key. hint: --public KEY.pub", flag, key)
		}
		var err error
		if options.Public, err = signing.ReadPublic(public); err != nil {
			return nil, usage("--public: %v", err)
		}
	}
	signer, err := signing.Open(ctx, key, options)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("%s: %v", flag, err)
	}
	return signer, err
}

package cli

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/spf13/pflag"

	"salve/internal/hotfix/signing"
	"salve/internal/report"
)

// signingKeys are the private keys that a command signs with.
type signingKeys struct {
	keys     []string
	publics  []string
	patience time.Duration
}

const keysHelp = `A KEY is a file in PEM (PKCS #8, Ed25519, mode 0600), "agent:" and the fingerprint or
the comment of an Ed25519 key in the ssh-agent, or "exec:" and a command that gets
what is to be signed on its input and prints the signature in base64: the client of
a KMS. It is run without a shell, and needs --public with the key's public one.`

func (k *signingKeys) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&k.keys, "key", nil, "a `KEY` to sign with; may be given again")
	flags.StringArrayVar(&k.publics, "public", nil,
		"the `PUBLIC` key of an exec: key, as a file or as a word; in their order where there are several")
	flags.DurationVar(&k.patience, "key-timeout", time.Minute,
		"how long an agent or a command may take: somebody may have to touch a token")
}

// open reaches all the keys before anything is signed.
func (k *signingKeys) open(ctx context.Context, a *app) ([]signing.Signer, error) {
	if len(k.keys) == 0 {
		return nil, usage("--key is needed")
	}
	publics := k.publics
	var signers []signing.Signer
	for _, key := range k.keys {
		options := signing.Options{Agent: a.lookup("SSH_AUTH_SOCK"), Patience: k.patience}
		if signing.IsCommand(key) {
			if len(publics) == 0 {
				return nil, usage("--public is needed: a command can't be asked for its public key")
			}
			public, err := signing.ReadPublic(publics[0])
			if err != nil {
				return nil, usage("--public: %v", err)
			}
			options.Public, publics = public, publics[1:]
		}
		signer, err := signing.Open(ctx, key, options)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, usage("--key: %v", err)
		case err != nil:
			return nil, err
		}
		signers = append(signers, signer)
	}
	if len(publics) > 0 {
		return nil, usage("--public: %s more than exec: keys", report.Count(len(publics), "one", "ones"))
	}
	return signers, nil
}

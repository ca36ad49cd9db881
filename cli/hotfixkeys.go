package cli

import (
	"crypto/ed25519"
	"fmt"

	"github.com/spf13/cobra"

	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
	"salve/internal/report"
)

func newHotfixKeys(a *app) *cobra.Command {
	command := parent("keys", "Make the keys that sign hotfixes, and the root document that says which count")
	command.AddCommand(newKeysGenerate(a), newKeysShow(a), newKeysRoot(a))
	return command
}

// shownKey is the document of salve hotfix keys generate and show.
type shownKey struct {
	report.Document
	ID         string `json:"id"`
	Public     string `json:"public"`
	File       string `json:"file,omitempty"`
	PublicFile string `json:"publicFile,omitempty"`
}

func newShownKey(public ed25519.PublicKey) shownKey {
	return shownKey{Document: report.NewDocument("hotfix-key"), ID: trust.IDOf(public), Public: signing.ShowPublic(public)}
}

func (a *app) printKey(key shownKey) error {
	if a.json() {
		return a.document(key)
	}
	if key.File != "" {
		fmt.Fprintf(a.stdout, "private  %s (for you alone; without a copy, what it signs ends with this disk)\npublic   %s\n",
			key.File, key.PublicFile)
	}
	_, err := fmt.Fprintf(a.stdout, "ID       %s\nkey      %s\n", key.ID, key.Public)
	return err
}

func newKeysGenerate(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "generate FILE",
		Short: "Make an Ed25519 key",
		Long: `Make an Ed25519 key: FILE has the private one (PKCS #8 in PEM, mode 0600), FILE.pub the
public one. Neither is ever written over.`,
		Example: `  # Make alice.pem, which stays with Alice, and alice.pem.pub
  salve hotfix keys generate alice.pem`,
		Args: oneArgument("the file of the new key"),
		RunE: func(_ *cobra.Command, arguments []string) error {
			public, err := signing.Generate(arguments[0])
			if err != nil {
				return err
			}
			key := newShownKey(public)
			key.File, key.PublicFile = arguments[0], arguments[0]+".pub"
			return a.printKey(key)
		},
	}
}

func newKeysShow(a *app) *cobra.Command {
	public := ""
	keys := &signingKeys{}
	command := &cobra.Command{
		Use:   "show [PUBLIC] [--key KEY]",
		Short: "Print the ID and the public key of a key",
		Long: `Print the ID and the public key of a private key, or of a PUBLIC one: a file in PEM, a
line of OpenSSH's, or a word as this command prints it. No private key is shown.

` + keysHelp,
		Example: `  # The word that stands for a public key in policies and root documents
  salve hotfix keys show alice.pem.pub
  # That of a key in the ssh-agent
  salve hotfix keys show --key agent:alice`,
		Args: func(command *cobra.Command, arguments []string) error {
			if len(arguments) > 1 || (len(arguments) == 1) == (len(keys.keys) > 0) {
				return usage("%s takes a public key, or --key", command.CommandPath())
			}
			if len(arguments) == 1 {
				public = arguments[0]
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			if public != "" {
				read, err := signing.ReadPublic(public)
				if err != nil {
					return usage("%v", err)
				}
				return a.printKey(newShownKey(read))
			}
			signers, err := keys.open(command.Context(), a)
			if err != nil {
				return err
			}
			if len(signers) > 1 {
				return usage("one --key at a time")
			}
			return a.printKey(newShownKey(signers[0].Public()))
		},
	}
	keys.addFlags(command.Flags())
	return command
}

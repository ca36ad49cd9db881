package signing

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// inAgent is a key that an ssh-agent keeps.
type inAgent struct {
	options Options
	key     ssh.PublicKey
	public  ed25519.PublicKey
}

func (k inAgent) Public() ed25519.PublicKey { return k.public }

// Sign lets the agent sign. What it signs of Ed25519 is the message itself.
func (k inAgent) Sign(ctx context.Context, message []byte) (sig []byte, err error) {
	err = k.options.withAgent(ctx, func(client agent.Agent) error {
		signature, err := client.Sign(k.key, message)
		if err != nil {
			return fmt.Errorf("the agent does not sign: %w", err)
		}
		sig = signature.Blob
		return nil
	})
	return sig, err
}

// withAgent connects to the agent for one thing.
func (o Options) withAgent(ctx context.Context, use func(agent.Agent) error) error {
	if o.Agent == "" {
		return errors.New("there is no ssh-agent: SSH_AUTH_SOCK is not set")
	}
	limited, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(limited, "unix", o.Agent)
	if err != nil {
		return fmt.Errorf("ssh-agent: %w", err)
	}
	defer connection.Close()
	stop := context.AfterFunc(limited, func() { _ = connection.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err = use(agent.NewClient(connection))
	if limited.Err() != nil {
		return fmt.Errorf("ssh-agent did not answer in time: %w", context.Cause(limited))
	}
	return err
}

// openAgent finds a key by its fingerprint, as ssh-add -l prints it, or by its comment.
func openAgent(ctx context.Context, selector string, options Options) (Signer, error) {
	var keys []*agent.Key
	err := options.withAgent(ctx, func(client agent.Agent) (err error) {
		keys, err = client.List()
		return err
	})
	if err != nil {
		return nil, err
	}
	var found []*agent.Key
	var there []string
	for _, key := range keys {
		there = append(there, fmt.Sprintf("%s %.60q (%s)", ssh.FingerprintSHA256(key), key.Comment, key.Type()))
		if ssh.FingerprintSHA256(key) == selector || key.Comment == selector {
			found = append(found, key)
		}
	}
	switch {
	case len(there) == 0:
		return nil, errors.New("the agent has no keys. hint: ssh-add FILE")
	case len(found) == 0:
		return nil, fmt.Errorf("the agent has no key %.100q, but %s", selector, strings.Join(there, ", "))
	case len(found) > 1:
		return nil, fmt.Errorf("the agent has %d keys %.100q: name one by its fingerprint, of %s", len(found), selector,
			strings.Join(there, ", "))
	}
	key, err := ssh.ParsePublicKey(found[0].Blob)
	if err != nil {
		return nil, fmt.Errorf("key %.100q of the agent: %w", selector, err)
	}
	public, err := ofSSH(key)
	if err != nil {
		return nil, fmt.Errorf("key %.100q of the agent: %w", selector, err)
	}
	return inAgent{options, key, public}, nil
}

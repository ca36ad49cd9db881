package signing_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"salve/internal/hotfix/signing"
)

// TestAKeyInAnAgent: in the agent of OpenSSH where it is installed, and in one of this process.
func TestAKeyInAnAgent(t *testing.T) {
	t.Run("of OpenSSH", func(t *testing.T) { signInAgent(t, realAgent(t)) })
	t.Run("in this process", func(t *testing.T) { signInAgent(t, serveAgent(t, agent.NewKeyring())) })
}

func signInAgent(t *testing.T, socket string) {
	t.Helper()
	options := signing.Options{Agent: socket, Patience: time.Minute}
	_, err := signing.Open(t.Context(), "agent:alice", options)
	expectRefused(t, err, "the agent has no keys. hint: ssh-add FILE")
	alice, bob := addKey(t, socket, "alice"), addKey(t, socket, "bob")
	addKey(t, socket, "twice")
	addKey(t, socket, "twice")
	for selector, public := range map[string]ed25519.PublicKey{"alice": alice, "bob": bob, fingerprint(t, bob): bob} {
		key, err := signing.Open(t.Context(), "agent:"+selector, options)
		check(t, err)
		if !key.Public().Equal(public) {
			t.Errorf("%s is %x", selector, key.Public())
		}
		expectSigned(t, key)
	}
	for selector, says := range map[string]string{
		"carol": `the agent has no key "carol", but SHA256:`, "": "the agent has no key", "twice": "the agent has 2 keys",
	} {
		_, err = signing.Open(t.Context(), "agent:"+selector, options)
		expectRefused(t, err, says)
	}
	key, err := signing.Open(t.Context(), "agent:alice", options)
	check(t, err)
	check(t, client(t, socket).RemoveAll())
	_, err = signing.Add(t.Context(), envelope(), key)
	expectRefused(t, err, "the agent does not sign")
}

func TestAgentsThatDontAnswer(t *testing.T) {
	_, err := signing.Open(t.Context(), "agent:alice", signing.Options{Patience: time.Minute})
	expectRefused(t, err, "SSH_AUTH_SOCK is not set")
	gone := filepath.Join(t.TempDir(), "gone")
	_, err = signing.Open(t.Context(), "agent:alice", signing.Options{Agent: gone, Patience: time.Minute})
	expectRefused(t, err, "ssh-agent: ")
	silent := listen(t, func(net.Conn) {}) // it keeps the connection open
	_, err = signing.Open(t.Context(), "agent:alice", signing.Options{Agent: silent, Patience: 50 * time.Millisecond})
	expectRefused(t, err, "did not answer in time")
	liar := serveAgent(t, &lying{agent.NewKeyring()})
	addKey(t, liar, "alice")
	options := signing.Options{Agent: liar, Patience: time.Minute}
	key, err := signing.Open(t.Context(), "agent:alice", options)
	check(t, err)
	_, err = signing.Add(t.Context(), envelope(), key)
	expectRefused(t, err, "is no signature of this key")
}

// TestOnlyPlainEd25519: what a security token signs is another message, and other algorithms no node knows.
func TestOnlyPlainEd25519(t *testing.T) {
	keys := agent.NewKeyring()
	socket := serveAgent(t, keys)
	private, err := ssh.ParseRawPrivateKey([]byte(ecdsaKey(t)))
	check(t, err)
	check(t, keys.Add(agent.AddedKey{PrivateKey: private, Comment: "old"}))
	_, err = signing.Open(t.Context(), "agent:old", signing.Options{Agent: socket, Patience: time.Minute})
	expectRefused(t, err, "it is a key of type ecdsa-sha2-nistp256, and ssh-ed25519 is needed")
}

// lying signs something else than what it is asked to.
type lying struct{ agent.Agent }

func (l *lying) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	return l.Agent.Sign(key, append(data, 0))
}

func addKey(t *testing.T, socket, comment string) ed25519.PublicKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	check(t, err)
	check(t, client(t, socket).Add(agent.AddedKey{PrivateKey: &private, Comment: comment}))
	return public
}

func fingerprint(t *testing.T, public ed25519.PublicKey) string {
	t.Helper()
	key, err := ssh.NewPublicKey(public)
	check(t, err)
	return ssh.FingerprintSHA256(key)
}

func client(t *testing.T, socket string) agent.Agent {
	t.Helper()
	connection, err := net.Dial("unix", socket)
	check(t, err)
	t.Cleanup(func() { _ = connection.Close() })
	return agent.NewClient(connection)
}

func serveAgent(t *testing.T, keys agent.Agent) (socket string) {
	return listen(t, func(connection net.Conn) { _ = agent.ServeAgent(keys, connection) }) // it ends with the connection
}

func listen(t *testing.T, serve func(net.Conn)) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	check(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go serve(connection)
			}
		}
	}()
	return socket
}

// realAgent starts OpenSSH's, in the foreground, and waits until it has said where it listens.
func realAgent(t *testing.T) (socket string) {
	t.Helper()
	program, err := exec.LookPath("ssh-agent")
	if err != nil {
		t.Skip("OpenSSH's agent is not installed")
	}
	folder, err := os.MkdirTemp("", "agent") // the path of a socket is short
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket = filepath.Join(folder, "s")
	process := exec.CommandContext(t.Context(), program, "-D", "-a", socket)
	out, err := process.StdoutPipe()
	check(t, err)
	check(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })
	said := make([]byte, 256)
	n, err := out.Read(said)
	check(t, err)
	if !bytes.Contains(said[:n], []byte(socket)) {
		t.Fatalf("ssh-agent says %q", said[:n])
	}
	return socket
}

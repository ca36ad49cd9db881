package signing_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
)

// The test program signs in the place of a KMS's client when it is started with one of these in the variable KMS.
func TestMain(m *testing.M) {
	if behaviour := os.Getenv("KMS"); behaviour != "" {
		kms(behaviour)
		return
	}
	os.Exit(m.Run())
}

func envelope() trust.Envelope {
	return trust.Envelope{PayloadType: trust.PointerType, Payload: []byte(`{"counter":7}`)}
}

// expectSigned: one signature, which is the key's own.
func expectSigned(t *testing.T, by signing.Signer) {
	t.Helper()
	e, err := signing.Add(t.Context(), envelope(), by)
	check(t, err)
	if len(e.Signatures) != 1 || e.Signatures[0].KeyID != trust.IDOf(by.Public()) ||
		!ed25519.Verify(by.Public(), e.Signed(), e.Signatures[0].Sig) {
		t.Errorf("%+v", e.Signatures)
	}
}

// TestASignatureUnderAnotherName: nodes count a signature under the ID of its key alone, so signing again mends it.
func TestASignatureUnderAnotherName(t *testing.T) {
	by, other := generated(t), generated(t)
	signed, err := signing.Add(t.Context(), envelope(), other)
	check(t, err)
	signed, err = signing.Add(t.Context(), signed, by)
	check(t, err)
	for _, name := range []string{"", trust.IDOf(other.Public()), "alice"} {
		renamed := signed
		renamed.Signatures = slices.Clone(signed.Signatures)
		renamed.Signatures[1].KeyID = name
		mended, err := signing.Add(t.Context(), renamed, by)
		check(t, err)
		if diff := cmp.Diff(signed, mended); diff != "" {
			t.Errorf("under %q (-want +got):\n%s", name, diff)
		}
	}
}

func TestAKeyIsMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alice.pem")
	public, err := signing.Generate(path)
	check(t, err)
	for file, mode := range map[string]fs.FileMode{path: 0o600, path + ".pub": 0o644} {
		info, err := os.Stat(file)
		check(t, err)
		if info.Mode() != mode {
			t.Errorf("%s has mode %v", file, info.Mode())
		}
	}
	before, err := os.ReadFile(path)
	check(t, err)
	_, err = signing.Generate(path)
	expectRefused(t, err, "keys are never written over")
	check(t, os.WriteFile(path+"2.pub", nil, 0o600))
	if _, err := signing.Generate(path + "2"); err == nil {
		t.Error("over a public key")
	}
	if _, err := os.Stat(path + "2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a private key without its public one is left: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Error("the key was changed")
	}
	key, err := signing.Open(t.Context(), path, signing.Options{})
	check(t, err)
	expectSigned(t, key)
	for _, text := range []string{path + ".pub", signing.ShowPublic(public)} {
		read, err := signing.ReadPublic(text)
		if err != nil || !read.Equal(key.Public()) || !read.Equal(public) {
			t.Errorf("%s is %x, %v", text, read, err)
		}
	}
}

// TestKeyFilesThatAreRefused: none of the errors shows anything of the key.
func TestKeyFilesThatAreRefused(t *testing.T) {
	good := filepath.Join(t.TempDir(), "key.pem")
	_, err := signing.Generate(good)
	check(t, err)
	raw, err := os.ReadFile(good)
	check(t, err)
	secret := strings.Split(string(raw), "\n")[1]
	block, _ := pem.Decode(raw)
	as := func(kind string, bytes int) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: block.Bytes[:bytes]}))
	}
	for name, row := range map[string]struct {
		content string
		mode    fs.FileMode
		says    string
	}{
		"others may read it":     {string(raw), 0o604, "can be read by others (mode 0604). hint: chmod 600"},
		"its group may read it":  {string(raw), 0o640, "can be read by others (mode 0640)"},
		"its group may write it": {string(raw), 0o620, "can be read by others (mode 0620)"},
		"it may only be read":    {string(raw), 0o400, ""},
		"empty":                  {"", 0o600, "it is not a key in PEM"},
		"a text":                 {"secret", 0o600, "it is not a key in PEM"},
		"a public key":           {as("PUBLIC KEY", 40), 0o600, `it is a "PUBLIC KEY"`},
		"an encrypted key":       {as("ENCRYPTED PRIVATE KEY", 40), 0o600, "hint: keep it in an agent"},
		"OpenSSH's own form":     {as("OPENSSH PRIVATE KEY", 40), 0o600, "hint: ssh-add it"},
		"an RSA key's form":      {as("RSA PRIVATE KEY", 40), 0o600, `it is a "RSA PRIVATE KEY"`},
		"two keys":               {string(raw) + string(raw), 0o600, "something follows the key"},
		"a key that is cut off":  {as("PRIVATE KEY", 20), 0o600, "not a private key of PKCS #8"},
		"another kind of key":    {ecdsaKey(t), 0o600, "it is not an Ed25519 key"},
		"more than any key":      {string(raw) + strings.Repeat("\n", 20_000), 0o600, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key")
			check(t, os.WriteFile(path, []byte(row.content), 0o600))
			check(t, os.Chmod(path, row.mode))
			_, err := signing.Open(t.Context(), path, signing.Options{})
			switch {
			case row.says == "":
				check(t, err)
			case err == nil || !strings.Contains(err.Error(), row.says):
				t.Errorf("%v, want %q", err, row.says)
			case strings.Contains(err.Error(), secret[:20]):
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
	_, err = signing.Open(t.Context(), t.TempDir(), signing.Options{})
	expectRefused(t, err, "not a regular file")
	_, err = signing.ReadPublic(good)
	expectRefused(t, err, "it is a private key: keep it where it is")
}

func ecdsaKey(t *testing.T) string {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

func TestPublicKeys(t *testing.T) {
	const (
		token = "sk-ssh-ed25519@openssh.com " +
			"AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIEX1Z1UV1CLIkbNBtVcgs5vQLCbyHT+aKtYYmyOuLvJ9AAAABHNzaDo= x"
		line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f alice\n"
	)
	for text, says := range map[string]string{
		"ed25519:AAAA": "the base64 of 32 bytes", "ed25519:*": "the base64 of 32 bytes", "no-such-file": "no such file",
		written(t, "text"): "no public key of Ed25519", written(t, "ssh-rsa AAAA"): "no public key of Ed25519",
		written(t, token): "of type sk-ssh-ed25519@openssh.com",
	} {
		_, err := signing.ReadPublic(text)
		expectRefused(t, err, says)
	}
	public, err := signing.ReadPublic(written(t, line))
	check(t, err)
	if public[1] != 1 || len(public) != 32 {
		t.Errorf("%x", public)
	}
}

func written(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// TestSigningAgain adds nothing; what claims to be the key's signature and isn't is taken out; others' stay.
func TestSigningAgain(t *testing.T) {
	alice, bob := generated(t), generated(t)
	e, err := signing.Add(t.Context(), envelope(), alice)
	check(t, err)
	e, err = signing.Add(t.Context(), e, bob)
	check(t, err)
	again, err := signing.Add(t.Context(), e, alice)
	if err != nil || len(again.Signatures) != 2 {
		t.Errorf("%d signatures, %v", len(again.Signatures), err)
	}
	e.Signatures[0].Sig = make([]byte, 64)
	mended, err := signing.Add(t.Context(), e, alice)
	check(t, err)
	role := trust.Role{Threshold: 2}
	for _, one := range []signing.Signer{alice, bob} {
		role.Keys = append(role.Keys, trust.Key{ID: trust.IDOf(one.Public()), Public: one.Public()})
	}
	if tally := signing.Count(mended, role); len(mended.Signatures) != 2 || !tally.Complete() {
		t.Errorf("%d signatures, %d count", len(mended.Signatures), len(tally.Signers))
	}
}

func generated(t *testing.T) signing.Signer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	_, err := signing.Generate(path)
	check(t, err)
	key, err := signing.Open(t.Context(), path, signing.Options{})
	check(t, err)
	return key
}

// kms signs as a command does, or fails as one may.
func kms(behaviour string) {
	private := ed25519.NewKeyFromSeed(make([]byte, 32))
	message, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	sig := base64.StdEncoding.EncodeToString(ed25519.Sign(private, message))
	switch behaviour {
	case "signs":
		fmt.Println(sig)
	case "wraps":
		fmt.Println(sig[:40] + "\n" + sig[40:])
	case "signs something else":
		fmt.Println(base64.StdEncoding.EncodeToString(ed25519.Sign(private, append(message, 0))))
	case "hashes":
		prehashed, err := private.Sign(nil, make([]byte, 64), &ed25519.Options{Hash: 7})
		if err != nil {
			panic(err)
		}
		fmt.Println(base64.StdEncoding.EncodeToString(prehashed))
	case "talks":
		fmt.Println("Signature: " + sig)
	case "floods":
		for {
			if _, err := fmt.Println(sig); err != nil {
				return
			}
		}
	case "refuses":
		fmt.Fprintln(os.Stderr, "starting\naccess \x1b[31mdenied")
		os.Exit(7)
	case "hangs":
		select {}
	case "arguments":
		if strings.Join(os.Args[1:], "|") != "sign|--key|my key|$HOME;id" {
			panic(os.Args)
		}
		fmt.Println(sig)
	}
}

// TestAKeyBehindACommand: what it gives counts only when it is a signature of its public key.
func TestAKeyBehindACommand(t *testing.T) {
	public := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	for behaviour, says := range map[string]string{
		"signs": "", "wraps": "", "arguments": "",
		"signs something else": "is no signature of this key over this document", "hashes": "is no signature of this key",
		"talks": "did not print the base64 of 64 bytes", "floods": "printed more than 4096 bytes",
		"refuses": `exit status 7: "access \x1b[31mdenied"`, "hangs": "did not answer in time",
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Setenv("KMS", behaviour)
			patience := time.Minute
			if behaviour == "hangs" {
				patience = 50 * time.Millisecond
			}
			key, err := signing.Open(t.Context(), fmt.Sprintf(`exec:'%s' sign --key "my key" '$HOME;id'`, os.Args[0]),
				signing.Options{Public: public, Patience: patience})
			check(t, err)
			_, err = signing.Add(t.Context(), envelope(), key)
			if says == "" {
				check(t, err)
			} else if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%v, want %q", err, says)
			}
		})
	}
	for line, says := range map[string]string{
		"exec:": "needs a command", "exec:  ": "needs a command", "exec:sign 'x": "a quote is not closed",
	} {
		_, err := signing.Open(t.Context(), line, signing.Options{Public: public})
		expectRefused(t, err, says)
	}
	_, err := signing.Open(t.Context(), "exec:sign", signing.Options{})
	expectRefused(t, err, "needs --public")
	key, err := signing.Open(t.Context(), "exec:/no/such/program", signing.Options{Public: public, Patience: time.Minute})
	check(t, err)
	if _, err := key.Sign(context.Background(), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func expectRefused(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, want %q", err, says)
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

package signing

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/crypto/ssh"
)

// publicPrefix stands before a public key that is written out.
const publicPrefix = "ed25519:"

// ShowPublic writes a public key as one word.
func ShowPublic(public ed25519.PublicKey) string {
	return publicPrefix + base64.StdEncoding.EncodeToString(public)
}

// ReadPublic reads a public key: the word that ShowPublic gives, or a file with a key in PEM or a line of OpenSSH's.
func ReadPublic(text string) (ed25519.PublicKey, error) {
	if encoded, is := strings.CutPrefix(text, publicPrefix); is {
		public, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil || len(public) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("%.80q is not «%s» and the base64 of %d bytes", text, publicPrefix, ed25519.PublicKeySize)
		}
		return public, nil
	}
	file, err := os.Open(text)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := readBounded(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	public, err := parsePublic(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return public, nil
}

var errNoPublicKey = errors.New("it is no public key of Ed25519, neither in PEM nor a line of OpenSSH's. hint: salve " +
	"hotfix keys show --key KEY prints one")

func parsePublic(raw []byte) (ed25519.PublicKey, error) {
	block, _ := pem.Decode(raw)
	switch {
	case block == nil:
		return parseLine(raw)
	case block.Type == publicType:
		key, err := x509.ParsePKIXPublicKey(block.Bytes)
		if public, is := key.(ed25519.PublicKey); is && err == nil {
			return public, nil
		}
	case strings.HasSuffix(block.Type, privateType):
		return nil, errors.New("it is a private key: keep it where it is, and give its public one, in FILE.pub")
	}
	return nil, errNoPublicKey
}

func parseLine(raw []byte) (ed25519.PublicKey, error) {
	key, _, _, _, err := ssh.ParseAuthorizedKey(raw)
	if err != nil {
		return nil, errNoPublicKey
	}
	return ofSSH(key)
}

// ofSSH is an Ed25519 key as SSH has it. One in a security token signs in a way of its own, which no node knows.
func ofSSH(key ssh.PublicKey) (ed25519.PublicKey, error) {
	if key.Type() != ssh.KeyAlgoED25519 {
		return nil, fmt.Errorf("it is a key of type %s, and %s is needed", key.Type(), ssh.KeyAlgoED25519)
	}
	crypto, is := key.(ssh.CryptoPublicKey)
	if !is {
		return nil, errNoPublicKey
	}
	public, is := crypto.CryptoPublicKey().(ed25519.PublicKey)
	if !is {
		return nil, errNoPublicKey
	}
	return public, nil
}

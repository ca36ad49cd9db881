package signing

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

const (
	maxKeyFile  = 16 << 10 // bytes
	privateType = "PRIVATE KEY"
	publicType  = "PUBLIC KEY"
)

// held is a private key in memory.
type held struct{ private ed25519.PrivateKey }

func (h held) Public() ed25519.PublicKey {
	public, _ := h.private.Public().(ed25519.PublicKey) // it is one: see the standard library
	return public
}

func (h held) Sign(_ context.Context, message []byte) ([]byte, error) {
	return ed25519.Sign(h.private, message), nil
}

// openFile reads a private key of PKCS #8 in PEM, from a file that nobody else may read.
func openFile(path string) (Signer, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("key %s is not a regular file", path)
	case runtime.GOOS == "windows": // mode bits don't tell there who may read a file
		return nil, fmt.Errorf("key %s: keys in files are not supported on Windows. hint: a key behind a command, "+
			"exec:'kms-sign --key release', or Linux or macOS", path)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("key %s can be read by others (mode %#o). hint: chmod 600 %s, and replace the key if "+
			"others may have read it", path, info.Mode().Perm(), path)
	}
	raw, err := readBounded(file)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	private, err := parsePrivate(raw)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	return held{private}, nil
}

func readBounded(file io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	if err == nil && len(raw) > maxKeyFile {
		err = fmt.Errorf("it is larger than %d bytes", maxKeyFile)
	}
	return raw, err
}

// parsePrivate never says what is in a key, only of what kind it is.
func parsePrivate(raw []byte) (ed25519.PrivateKey, error) {
	block, rest := pem.Decode(raw)
	switch {
	case block == nil:
		return nil, errors.New("it is not a key in PEM")
	case len(bytes.TrimSpace(rest)) > 0:
		return nil, errors.New("something follows the key")
	case block.Type == "OPENSSH PRIVATE KEY":
		return nil, errors.New("it is a key of OpenSSH's own form. hint: ssh-add it, and use --key agent:COMMENT")
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("it is encrypted. hint: keep it in an agent, and use --key agent:COMMENT")
	case block.Type != privateType:
		return nil, fmt.Errorf("it is a %q, and a %q of PKCS #8 is needed", block.Type, privateType)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, errors.New("it is not a private key of PKCS #8")
	}
	private, is := key.(ed25519.PrivateKey)
	if !is {
		return nil, errors.New("it is not an Ed25519 key. hint: salve hotfix keys generate FILE")
	}
	return private, nil
}

// Generate makes a key and writes it to path, for this user alone, and its public key to path.pub. Neither may be
// there before.
func Generate(path string) (ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	if err := create(path, pem.EncodeToMemory(&pem.Block{Type: privateType, Bytes: encoded}), 0o600); err != nil {
		return nil, err
	}
	text, err := EncodePublic(public)
	if err == nil {
		err = create(path+".pub", text, 0o644)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return public, nil
}

// create writes a file that must not be there, and waits for the disk.
func create(path string, content []byte, mode fs.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there, and keys are never written over. hint: name another file", path)
	case err != nil:
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// EncodePublic writes a public key in PEM.
func EncodePublic(public ed25519.PublicKey) ([]byte, error) {
	encoded, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: publicType, Bytes: encoded}), nil
}

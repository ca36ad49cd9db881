//go:build linux

package slot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"salve/internal/hotfix/disk"
)

// Manifest says what the staged program is. It lies beside it.
type Manifest struct {
	SchemaVersion int       `json:"schemaVersion"`
	Target        string    `json:"target"` // the version, as the pointer names it
	SHA256        string    `json:"sha256"`
	Staged        time.Time `json:"staged"`
	Source        string    `json:"source"`
	// Artifact is the SHA-256 of the signed artifact that it came from; empty for one that nobody signed.
	Artifact string `json:"artifact,omitempty"`
}

const (
	manifestVersion = 1
	manifestLimit   = 16 << 10 // bytes
)

func (m Manifest) write(folder *disk.Folder, name string) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return folder.Replace(name+manifestSuffix, bytes.NewReader(append(raw, '\n')), 0o644)
}

func readManifest(folder *disk.Folder, name string) (Manifest, error) {
	raw, err := folder.Read(name+manifestSuffix, manifestLimit)
	if err != nil {
		return Manifest{}, err
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return Manifest{}, fmt.Errorf("manifest: %w", err)
	}
	digest, err := hex.DecodeString(m.SHA256)
	if m.SchemaVersion != manifestVersion || m.Target == "" || err != nil || len(digest) != sha256.Size {
		return Manifest{}, errors.New("manifest: it does not have what this version of salve-node writes")
	}
	return m, nil
}

func digestOf(content io.Reader) (string, error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, content); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// ValidDigest tells whether a text is a digest as manifests have it.
func ValidDigest(text string) bool {
	digest, err := hex.DecodeString(text)
	return err == nil && len(digest) == sha256.Size && hex.EncodeToString(digest) == text
}

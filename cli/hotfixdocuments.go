package cli

import (
	"fmt"

	"salve/internal/hotfix/signing"
	"salve/internal/hotfix/trust"
)

// refuseSigned is for what looks at pointers before they are signed: of a signed one it would see nothing.
func refuseSigned(path string, raw []byte) error {
	what := map[signing.Kind]string{signing.Signed: "a signed pointer", signing.Root: "a root document"}[signing.KindOf(raw)]
	if what == "" {
		return nil
	}
	return usage("%s is %s. hint: salve hotfix verify %s --root ROOT", path, what, path)
}

func readEnvelope(path string) (trust.Envelope, error) {
	raw, err := readBounded(path, trust.MaxEnvelope)
	if err != nil {
		return trust.Envelope{}, err
	}
	envelope, err := trust.ParseEnvelope(raw)
	if err != nil {
		return trust.Envelope{}, fmt.Errorf("%s: %w", path, err)
	}
	return envelope, nil
}

func readBundle(path string) (trust.Bundle, error) {
	raw, err := readBounded(path, trust.MaxBundle)
	if err != nil {
		return trust.Bundle{}, err
	}
	bundle, err := trust.ParseBundle(raw)
	if err != nil {
		return trust.Bundle{}, fmt.Errorf("%s: %w", path, err)
	}
	return bundle, nil
}

// readTrusted reads the root of trust as nodes have it.
func readTrusted(path string) (trust.Trusted, error) {
	raw, err := readBounded(path, trust.MaxEnvelope)
	if err != nil {
		return trust.Trusted{}, usage("--root: %v", err)
	}
	root, err := trust.ParseTrusted(raw)
	if err != nil {
		return trust.Trusted{}, fmt.Errorf("--root: %s: nodes trust nobody by it: %w", path, err)
	}
	return root, nil
}

// readRoots reads root documents of one line, those of a signed pointer among them.
func readRoots(paths []string, others []trust.Envelope) (signing.Roots, error) {
	all := others
	for _, path := range paths {
		envelope, err := readEnvelope(path)
		if err != nil {
			return signing.Roots{}, usage("--root: %v", err)
		}
		all = append(all, envelope)
	}
	roots, err := signing.ReadRoots(all)
	if err != nil {
		return signing.Roots{}, fmt.Errorf("--root: %w", err)
	}
	return roots, nil
}

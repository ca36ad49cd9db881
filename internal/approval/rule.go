package approval

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"

	"salve/journal"
)

// Anyone stands for whoever may approve.
const Anyone = "anyone"

// The ways to name who may approve.
const (
	userPrefix  = "user:"
	groupPrefix = "group:"
	keyPrefix   = "ed25519:"
)

// DefaultWait is how long a run waits for its approval, and LongestWait how long it may: its lease is held meanwhile.
const (
	DefaultWait = time.Hour
	LongestWait = 24 * time.Hour
)

// CheckWait refuses what is no time to wait.
func CheckWait(wait time.Duration) error {
	if wait <= 0 || wait > LongestWait {
		return fmt.Errorf("a wait of %s: it must be above 0 and at most %s", wait, LongestWait)
	}
	return nil
}

// CheckCluster finds what is wrong with a rule for a journal in a cluster, where the API server tells who somebody is.
func CheckCluster(rule journal.ApprovalRule) error {
	if len(rule.Keys) > 0 {
		return fmt.Errorf("keys are for journals in folders: in a cluster the API server tells who approves. "+
			"hint: --approve-by %s or %sNAME", Anyone, groupPrefix)
	}
	for _, who := range rule.By {
		if _, _, err := parse(who); err != nil {
			return err
		}
	}
	return nil
}

// CheckFolder finds what is wrong with a rule for a journal in a folder, where a key tells who somebody is.
func CheckFolder(rule journal.ApprovalRule) error {
	if len(rule.Keys) == 0 {
		return fmt.Errorf("no key of anybody who may approve: nothing else tells who somebody is. " +
			"hint: --approve-by KEY.pub, or people in --approval-policy FILE")
	}
	names, keys := map[string]bool{}, map[string]bool{}
	for _, person := range rule.Keys {
		if _, err := publicKey(person.Key); err != nil {
			return fmt.Errorf("the key of %q: %w", person.Name, err)
		}
		if person.Name == "" || names[person.Name] || keys[person.Key] {
			return fmt.Errorf("the name or the key of %q is a duplicate, or empty", person.Name)
		}
		names[person.Name], keys[person.Key] = true, true
	}
	for _, who := range rule.By {
		kind, name, err := parse(who)
		switch {
		case err != nil:
			return err
		case kind == groupPrefix:
			return fmt.Errorf("%q: groups are known in clusters alone", who)
		case kind == userPrefix && !names[name]:
			return fmt.Errorf("%q: there is no key of that name", who)
		}
	}
	return nil
}

// Names tells whether a rule names an identity among those who may approve.
func Names(rule journal.ApprovalRule, identity journal.Identity) bool {
	return len(rule.By) == 0 || slices.ContainsFunc(rule.By, func(who string) bool {
		kind, name, err := parse(who)
		switch {
		case err != nil:
			return false
		case kind == userPrefix:
			return identity.User == name
		case kind == groupPrefix:
			return slices.Contains(identity.Groups, name)
		}
		return true
	})
}

// parse takes a way to name who may approve apart.
func parse(who string) (kind, name string, _ error) {
	if who == Anyone {
		return Anyone, "", nil
	}
	for _, kind := range []string{userPrefix, groupPrefix} {
		if name, is := strings.CutPrefix(who, kind); is && name != "" {
			return kind, name, nil
		}
	}
	return "", "", fmt.Errorf("%q is none of %s, %sNAME, %sNAME", who, Anyone, userPrefix, groupPrefix)
}

// IsName tells whether a word names somebody, and is not a key.
func IsName(word string) bool {
	_, _, err := parse(word)
	return err == nil
}

// publicKey reads a key as one word.
func publicKey(word string) (ed25519.PublicKey, error) {
	encoded, is := strings.CutPrefix(word, keyPrefix)
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if !is || err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("%.80q is not %q and the base64 of %d bytes", word, keyPrefix, ed25519.PublicKeySize)
	}
	return raw, nil
}

func keyWord(public ed25519.PublicKey) string {
	return keyPrefix + base64.StdEncoding.EncodeToString(public)
}

package configmap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
)

const (
	keyPrefix = "journal-key-"
	// keyField holds the key in hexadecimal digits.
	keyField = "key"
)

// secretName is what a runbook's name has to be for the Secret to be named after it.
var secretName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// KeySecret names the Secret with the key for a runbook's records: a runner holds
// the right to get this one and no other.
func KeySecret(runbook string) string {
	if secretName.MatchString(runbook) {
		return keyPrefix + runbook
	}
	sum := sha256.Sum256([]byte(runbook))
	return keyPrefix + "x." + hex.EncodeToString(sum[:8])
}

// Key reads the Secret of a runbook, once.
func (j *Journal) Key(ctx context.Context, runbook string) (journal.Key, error) {
	j.mu.Lock()
	key, known := j.keys[runbook]
	j.mu.Unlock()
	if known {
		return key, nil
	}
	var secret *corev1.Secret
	err := backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
		return j.once(ctx, func(ctx context.Context) (err error) {
			secret, err = j.client.CoreV1().Secrets(j.namespace).Get(ctx, KeySecret(runbook), metav1.GetOptions{})
			return err
		})
	})
	if err == nil {
		key, err = keyIn(secret)
	}
	if err != nil {
		return journal.Key{}, j.keyError(runbook, err)
	}
	j.mu.Lock()
	j.keys[runbook] = key
	j.mu.Unlock()
	return key, nil
}

func keyIn(secret *corev1.Secret) (journal.Key, error) {
	raw, err := hex.DecodeString(strings.TrimSpace(string(secret.Data[keyField])))
	if err != nil {
		return journal.Key{}, apierr.New(apierr.Terminal, "field %q does not hold hexadecimal digits", keyField)
	}
	return journal.NewKey(raw)
}

// MakeKey makes the Secret when there is none and the rights allow it. Of several
// runners that do so at once, one makes it and all read it.
func (j *Journal) MakeKey(ctx context.Context, runbook string) (journal.Key, error) {
	key, err := j.Key(ctx, runbook)
	if err == nil || apierr.ClassOf(err) != apierr.Missing {
		return key, err
	}
	ctx, cancel := clock.WithTimeout(ctx, j.clock, patience)
	defer cancel()
	_, secret := journal.RandomKey()
	immutable := true
	object := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: KeySecret(runbook), Labels: map[string]string{ownerLabel: ownerName}},
		Immutable:  &immutable,
		Data:       map[string][]byte{keyField: []byte(hex.EncodeToString(secret))},
	}
	for n := 1; ; n++ {
		err := j.inNamespace(ctx, j.namespace, func(ctx context.Context) error {
			_, err := j.client.CoreV1().Secrets(j.namespace).
				Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
			return err
		})
		if err == nil || apierr.ClassOf(err) == apierr.Conflict {
			return j.Key(ctx, runbook)
		}
		if !passes(err) || clock.Sleep(ctx, j.clock, retryPause(n, err)) != nil {
			return journal.Key{}, j.keyError(runbook, err)
		}
	}
}

// keyError says what an administrator has to do for the key to be had.
func (j *Journal) keyError(runbook string, err error) error {
	name := KeySecret(runbook)
	failed := &journal.KeyError{Runbook: runbook, Where: fmt.Sprintf("secret %s/%s", j.namespace, name), Err: err}
	if class := apierr.ClassOf(err); class == apierr.Denied || class == apierr.Missing {
		failed.Hint = fmt.Sprintf(
			`kubectl -n %[1]s create secret generic %[2]s --from-literal=%[3]s="$(openssl rand -hex 32)"; `+
				`kubectl -n %[1]s create role %[2]s --verb=get --resource=secrets --resource-name=%[2]s; `+
				`kubectl -n %[1]s create rolebinding %[2]s --role=%[2]s --user=WHO`, j.namespace, name, keyField)
	}
	return failed
}

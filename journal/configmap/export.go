package configmap

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
)

const (
	// exportsSuffix makes the namespace of exports. It is another than that of
	// records: whoever reads back what his run exported reads Secrets there, and none
	// of the keys.
	exportsSuffix = "-exports"
	// chunkSize is what one Secret holds, below the limit of 1 MiB for the whole
	// object.
	chunkSize        = 768 << 10
	exportAnnotation = "salve-export"
	chunksAnnotation = "salve-chunks"
	chunkField       = "chunk"
)

// Namespaces are those that a journal writes to; the first is DefaultNamespace when
// none is named.
func Namespaces(namespace string) []string {
	if namespace == "" {
		namespace = DefaultNamespace
	}
	return []string{namespace, namespace + exportsSuffix}
}

func (j *Journal) exportsNamespace() string { return j.namespace + exportsSuffix }

// chunkName names a Secret by a digest: names of exports may be longer than those of
// objects.
func chunkName(run, name string, n int) string {
	sum := sha256.Sum256([]byte(run + "/" + name))
	return fmt.Sprintf("export-%s-%d", hex.EncodeToString(sum[:12]), n)
}

// PutExport keeps data, compressed, in as many Secrets as it takes. The first one
// is made last: it stands for all of them.
func (j *Journal) PutExport(ctx context.Context, run, name string, data []byte) error {
	if !runName.MatchString(run) {
		return apierr.New(apierr.Terminal, "invalid run %q", run)
	}
	ctx, cancel := clock.WithTimeout(ctx, j.clock, patience)
	defer cancel()
	packed, err := pack(data)
	if err != nil {
		return err
	}
	size := j.sizes.chunk
	chunks := max(1, (len(packed)+size-1)/size)
	for n := chunks - 1; n >= 0; n-- {
		chunk := packed[min(n*size, len(packed)):min((n+1)*size, len(packed))]
		if err := j.putChunk(ctx, run, name, n, chunks, chunk); err != nil {
			return fmt.Errorf("export %q of run %q in namespace %s: %w", name, run, j.exportsNamespace(), err)
		}
	}
	return nil
}

func (j *Journal) putChunk(ctx context.Context, run, name string, n, chunks int, chunk []byte) error {
	immutable := true
	object := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: chunkName(run, name, n), Labels: map[string]string{ownerLabel: ownerName, runLabel: run},
			Annotations: map[string]string{exportAnnotation: name, chunksAnnotation: strconv.Itoa(chunks)},
		},
		Immutable: &immutable, Data: map[string][]byte{chunkField: chunk},
	}
	for attempt := 1; ; attempt++ {
		err := j.inNamespace(ctx, j.exportsNamespace(), func(ctx context.Context) error {
			_, err := j.client.CoreV1().Secrets(j.exportsNamespace()).
				Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
			return err
		})
		if err != nil && apierr.ClassOf(err) == apierr.Conflict {
			return j.sameChunk(ctx, object)
		}
		if err == nil {
			return nil
		}
		if !passes(err) || clock.Sleep(ctx, j.clock, retryPause(attempt, err)) != nil {
			return err
		}
	}
}

// sameChunk is satisfied when what is there already is what was to be written: the
// answer to an attempt before was lost.
func (j *Journal) sameChunk(ctx context.Context, object *corev1.Secret) error {
	kept, err := j.readChunk(ctx, object.Name)
	if err != nil {
		return err
	}
	if kept.Annotations[chunksAnnotation] != object.Annotations[chunksAnnotation] ||
		!bytes.Equal(kept.Data[chunkField], object.Data[chunkField]) {
		return apierr.New(apierr.Conflict, "conflict: secret %s holds other data", object.Name)
	}
	return nil
}

func (j *Journal) readChunk(ctx context.Context, name string) (secret *corev1.Secret, err error) {
	err = backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
		return j.once(ctx, func(ctx context.Context) (err error) {
			secret, err = j.client.CoreV1().Secrets(j.exportsNamespace()).Get(ctx, name, metav1.GetOptions{})
			return err
		})
	})
	return secret, err
}

// Export reads what PutExport kept.
func (j *Journal) Export(ctx context.Context, run, name string) ([]byte, error) {
	var packed []byte
	for n, chunks := 0, 1; n < chunks; n++ {
		secret, err := j.readChunk(ctx, chunkName(run, name, n))
		if err != nil {
			if apierr.ClassOf(err) == apierr.Missing {
				err = errors.Join(err,
					&journal.MissingError{Run: run, Where: "namespace " + j.exportsNamespace() + " (export " + name + ")"})
			}
			return nil, err
		}
		if n == 0 {
			chunks, err = strconv.Atoi(secret.Annotations[chunksAnnotation])
			if err != nil || chunks < 1 || chunks > 2*journal.MaxExport/j.sizes.chunk {
				return nil, apierr.New(apierr.Terminal, "secret %s has annotation %s=%q", secret.Name, chunksAnnotation,
					secret.Annotations[chunksAnnotation])
			}
		}
		packed = append(packed, secret.Data[chunkField]...)
	}
	return unpack(packed, journal.MaxExport)
}

func pack(data []byte) ([]byte, error) {
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	_, err := writer.Write(data)
	err = errors.Join(err, writer.Close())
	return packed.Bytes(), err
}

// unpack stops at the limit: a few bytes can be made to unpack to many.
func unpack(packed []byte, limit int) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(reader, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = fmt.Errorf("it is above the limit of %d bytes", limit)
	}
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	return data, nil
}

// Delete removes the exports, then the record from its last part on: as long as the
// first one is there, the run is listed.
func (j *Journal) Delete(ctx context.Context, run string) error {
	parts, err := j.readParts(ctx, run)
	if err != nil {
		return err
	}
	err = backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
		return j.once(ctx, func(ctx context.Context) error {
			return j.client.CoreV1().Secrets(j.exportsNamespace()).
				DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: runLabel + "=" + run})
		})
	})
	if err != nil && apierr.ClassOf(err) != apierr.Missing {
		return fmt.Errorf("deleting the exports of run %q: %w", run, err)
	}
	for n := parts; n >= 1; n-- {
		err := backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
			return j.once(ctx, func(ctx context.Context) error {
				return j.client.CoreV1().ConfigMaps(j.namespace).Delete(ctx, partName(run, n), metav1.DeleteOptions{})
			})
		})
		if err != nil && apierr.ClassOf(err) != apierr.Missing {
			return fmt.Errorf("deleting the record of run %q in %s: %w", run, j.Where(), err)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.tails, run)
	delete(j.firsts, run)
	return nil
}

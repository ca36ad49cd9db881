package stranded

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/redact"
	"salve/kube"
	"salve/runbook"
)

// pieceSize is the size from which a piece of a record takes no further pod, in
// bytes: encoded as text, a piece is well below what an object in a cluster can
// hold.
const pieceSize = 384 << 10

// recordNote says how many pieces there are, each in a note of its own.
const recordNote = "pods"

func pieceNote(number int) string { return fmt.Sprintf("pods-%d", number) }

// Record writes pods to the journal, as they are now, and reads them back: as
// JSON, one a line, compressed, in pieces. Left out are a pod's status, its managed
// fields, and what looks like a credential. Pods that are gone are not recorded. It
// holds a page of pods of the selector, and the record.
func (s *Search) Record(ctx context.Context, run runbook.Run, pods []Misplaced) error {
	wanted := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		wanted[pod.UID] = true
	}
	var record *packing
	_, err := s.EachPod(ctx, kube.Scope{Selector: s.Selector}, func() { record = newPacking() }, func(pod *corev1.Pod) error {
		if !wanted[pod.UID] {
			return nil
		}
		return record.add(pod)
	})
	if err != nil {
		return err
	}
	if err := record.close(); err != nil {
		return err
	}
	for number, piece := range record.pieces {
		if err := run.Note(ctx, pieceNote(number), piece); err != nil {
			return err
		}
	}
	for number, piece := range record.pieces {
		var kept []byte
		if _, err := run.ReadBack(ctx, pieceNote(number), &kept); err != nil {
			return err
		}
		if !bytes.Equal(kept, piece) {
			return apierr.New(apierr.Terminal, "piece %d of the pods that were read back from the journal differs from what was written", number)
		}
	}
	return run.Note(ctx, recordNote, len(record.pieces))
}

// Recorded observes whether the journal holds a record of pods.
func Recorded(_ context.Context, run runbook.Run) runbook.Observation {
	found, err := run.Recall(recordNote, new(int))
	if err != nil {
		return runbook.NotObserved(err)
	}
	return noted(found, "the record of the pods")
}

// noted is how far a step is that does no more than note something.
func noted(found bool, what string) runbook.Observation {
	if found {
		return runbook.Done("the journal holds %s", what)
	}
	return runbook.NotStarted("the journal does not hold %s", what)
}

// RecordedPods reads the record back; found is false when there is none. What a
// pod's status says is not in it.
func RecordedPods(run runbook.Run) (pods []Pod, found bool, _ error) {
	var pieces int
	if found, err := run.Recall(recordNote, &pieces); !found || err != nil {
		return nil, found, err
	}
	for number := range pieces {
		var piece []byte
		if _, err := run.Recall(pieceNote(number), &piece); err != nil {
			return nil, true, err
		}
		some, err := unpack(piece)
		if err != nil {
			return nil, true, apierr.New(apierr.Terminal, "piece %d of the recorded pods: %w", number, err)
		}
		pods = append(pods, some...)
	}
	return pods, true, nil
}

// packing is a record in the making.
type packing struct {
	pieces [][]byte
	buffer *bytes.Buffer
	gzip   *gzip.Writer
}

func newPacking() *packing {
	p := &packing{}
	p.begin()
	return p
}

func (p *packing) begin() {
	p.buffer = &bytes.Buffer{}
	p.gzip = gzip.NewWriter(p.buffer)
}

func (p *packing) add(pod *corev1.Pod) error {
	kept := &corev1.Pod{ObjectMeta: *pod.ObjectMeta.DeepCopy(), Spec: pod.Spec}
	kept.APIVersion, kept.Kind, kept.ManagedFields = "v1", "Pod", nil
	line, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("packing pod %s: %w", pod.Namespace+"/"+pod.Name, err)
	}
	if _, err := p.gzip.Write(append(redact.Redact(line), '\n')); err != nil {
		return err
	}
	if p.buffer.Len() < pieceSize {
		return nil
	}
	if err := p.close(); err != nil {
		return err
	}
	p.begin()
	return nil
}

func (p *packing) close() error {
	err := p.gzip.Close()
	p.pieces = append(p.pieces, p.buffer.Bytes())
	return err
}

func unpack(piece []byte) (pods []Pod, _ error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(piece))
	if err != nil {
		return nil, err
	}
	for lines := json.NewDecoder(unzipped); ; {
		var pod corev1.Pod
		err := lines.Decode(&pod)
		if errors.Is(err, io.EOF) {
			return pods, nil
		}
		if err != nil {
			return nil, err
		}
		pods = append(pods, podOf(&pod))
	}
}

package stranded

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/kube"
	"salve/runbook"
)

// What a run deletes is recorded twice: which pods they are in the run's record, and the pods themselves, which may
// hold passwords, in its exports.

// MostPods is how many a run's record can hold.
const MostPods = 10000

const (
	// recordNote says how many pieces there are, each in a note of its own.
	recordNote = "pods"
	// podsOfPiece is how many pods a piece names. It is well below what an object in a cluster can hold.
	podsOfPiece = 500
	// pieceSize is the size from which a piece of the exported pods takes no further pod, in bytes. It is well below
	// what a run takes as one export.
	pieceSize = 16 << 20
)

func pieceNote(number int) string { return fmt.Sprintf("pods-%d", number) }

// recordedPod is a pod as the record has it.
type recordedPod struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	UID       types.UID         `json:"uid"`
	Labels    map[string]string `json:"labels"`
}

// Record writes down which pods are to be deleted, exports them as they are now, and reads both back. Left out of the
// exports are a pod's status and managed fields. Pods that are gone are not recorded. It holds a page of pods of the
// selector, and the exports.
func (s *Search) Record(ctx context.Context, run runbook.Run, pods []Misplaced) error {
	wanted := make(map[types.UID]bool, len(pods))
	for _, pod := range pods {
		wanted[pod.UID] = true
	}
	var packed *packing
	var recorded []recordedPod
	begin := func() { packed, recorded = newPacking(), nil }
	_, err := s.EachPod(ctx, kube.Scope{Selector: s.Selector}, begin, func(pod *corev1.Pod) error {
		if !wanted[pod.UID] {
			return nil
		}
		recorded = append(recorded, recordedPod{pod.Namespace, pod.Name, pod.UID, pod.Labels})
		return packed.add(pod)
	})
	if err == nil {
		err = packed.close()
	}
	if err == nil {
		err = packed.export(ctx, run)
	}
	if err != nil {
		return err
	}
	pieces := 0
	for first := 0; first < len(recorded); first += podsOfPiece {
		some := recorded[first:min(first+podsOfPiece, len(recorded))]
		if err := run.Note(ctx, pieceNote(pieces), some); err != nil {
			return err
		}
		pieces++
	}
	if err := run.Note(ctx, recordNote, pieces); err != nil {
		return err
	}
	kept, _, err := s.ReadRecorded(ctx, run)
	if err == nil && len(kept) != len(recorded) {
		err = apierr.New(apierr.Terminal, "conflict: %d pods were read back from the record, %d were written",
			len(kept), len(recorded))
	}
	return err
}

// Recorded observes whether the journal holds a record of pods.
func Recorded(_ context.Context, run runbook.Run) runbook.Observation {
	found, err := run.Recall(recordNote, new(int))
	if err != nil {
		return runbook.NotObserved(err)
	}
	return noteOf(found, "the record of the pods")
}

// noteOf is how far a step is that does no more than note something.
func noteOf(found bool, what string) runbook.Observation {
	if found {
		return runbook.Done("the journal holds %s", what)
	}
	return runbook.NotStarted("the journal does not hold %s", what)
}

// RecordedPods recalls which pods were recorded; found is false when there is no record. Of a pod there is no more
// than what tells it from others. It fails with *ForeignError when the record names a pod that this search would
// not find.
func (s *Search) RecordedPods(run runbook.Run) (pods []Pod, found bool, _ error) {
	return s.recorded(run.Recall)
}

// ReadRecorded is RecordedPods from where the record is kept, verified.
func (s *Search) ReadRecorded(ctx context.Context, run runbook.Run) (pods []Pod, found bool, _ error) {
	return s.recorded(func(name string, into any) (bool, error) { return run.ReadBack(ctx, name, into) })
}

func (s *Search) recorded(recall func(name string, into any) (bool, error)) (pods []Pod, found bool, _ error) {
	var pieces int
	if found, err := recall(recordNote, &pieces); !found || err != nil {
		return nil, found, err
	}
	if most := MostPods/podsOfPiece + 1; pieces < 0 || pieces > most {
		return nil, true, &ForeignError{fmt.Sprintf("%d pieces, of at most %d", pieces, most)}
	}
	for number := range pieces {
		var piece []recordedPod
		found, err := recall(pieceNote(number), &piece)
		if err == nil && !found {
			err = apierr.New(apierr.Terminal, "not found: piece %d of the recorded pods", number)
		}
		if err != nil {
			return nil, true, err
		}
		for _, one := range piece {
			pods = append(pods, Pod{Namespace: one.Namespace, Name: one.Name, UID: one.UID, Labels: one.Labels})
		}
	}
	return pods, true, s.checkRecorded(pods)
}

// packing is an export of pods in the making: as JSON, one a line, compressed, in pieces.
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
	kept := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: *pod.ObjectMeta.DeepCopy(), Spec: pod.Spec,
	}
	kept.ManagedFields = nil
	line, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("packing pod %s: %w", pod.Namespace+"/"+pod.Name, err)
	}
	if _, err := p.gzip.Write(append(line, '\n')); err != nil {
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

// export keeps the pieces in the exports of a run, and reads them back.
func (p *packing) export(ctx context.Context, run runbook.Run) error {
	for number, piece := range p.pieces {
		if err := run.Export(ctx, pieceNote(number), piece); err != nil {
			return err
		}
		kept, err := run.ReadExport(ctx, pieceNote(number))
		if err != nil {
			return err
		}
		if !bytes.Equal(kept, piece) {
			return apierr.New(apierr.Terminal, "conflict: piece %d of the exported pods is not what was written", number)
		}
	}
	return nil
}

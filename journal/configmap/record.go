package configmap

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"salve/internal/apierr"
	"salve/internal/backoff"
	"salve/internal/clock"
	"salve/journal"
)

const (
	// fullAt is the size from which a part takes no further line. The API server
	// stores the whole object anew for each line, so that parts are kept small.
	fullAt = 128 << 10
	// longest is what a ConfigMap can hold: a line of its own at the most.
	longest = corev1.MaxSecretSize - 4<<10
	// patience bounds the attempts to write a line: long enough for an API server
	// to restart.
	patience = time.Minute
	listPage = 100
)

// part is a ConfigMap that holds a stretch of a record. Only the last one takes
// lines: it is sealed before the next is made, so that a writer who has not seen
// the next can't add to the one before.
type part struct {
	number  int
	version string
	sealed  bool
	size    int
	lines   map[int]string
}

// last is the position of the newest line; zero for an empty part.
func (p *part) last() int {
	newest := 0
	for seq := range p.lines {
		newest = max(newest, seq)
	}
	return newest
}

// Create makes the first part of a record.
func (j *Journal) Create(ctx context.Context, run string) error {
	if !runName.MatchString(run) {
		return apierr.New(apierr.Terminal, "run %q can't be kept in a cluster: its name must be lower-case letters, digits, - and . only, at most 63", run)
	}
	ctx, cancel := clock.WithTimeout(ctx, j.clock, patience)
	defer cancel()
	unclear := false
	for n := 1; ; n++ {
		err := j.createPart(ctx, run, 1, nil)
		if err != nil && unclear && apierr.ClassOf(err) == apierr.Conflict {
			if parts, seen := j.parts(ctx, run); seen == nil && len(parts) == 1 && len(parts[0].lines) == 0 {
				err = nil // ours: the answer to the attempt before was lost
			}
		}
		if err == nil {
			return nil
		}
		if !passes(err) || clock.Sleep(ctx, j.clock, attempts.Pause(n, apierr.RetryAfter(err))) != nil {
			return fmt.Errorf("in %s: %w", j.Where(), err)
		}
		unclear = true
	}
}

// passes tells whether it is worth trying again.
func passes(err error) bool {
	class := apierr.ClassOf(err)
	return class == apierr.Transient || class == apierr.Throttled
}

// Append adds a line to the last part, or begins another part with it. When an
// answer is lost it looks whether the line is there. It fails with class Conflict
// when the line's place holds another one: somebody else writes the record.
func (j *Journal) Append(ctx context.Context, run string, seq int, line []byte) error {
	text := strings.TrimSuffix(string(line), "\n")
	if len(text) > longest {
		return apierr.New(apierr.Terminal, "a line of %d bytes is more than the %d that an object can hold", len(text), longest)
	}
	ctx, cancel := clock.WithTimeout(ctx, j.clock, patience)
	defer cancel()
	j.mu.Lock()
	defer j.mu.Unlock()
	for n := 1; ; n++ {
		err := j.place(ctx, run, seq, text)
		if err == nil {
			return nil
		}
		delete(j.tails, run) // what was known of the record may be wrong
		again := passes(err) || apierr.ClassOf(err) == apierr.Conflict && n == 1
		if !again || clock.Sleep(ctx, j.clock, attempts.Pause(n, apierr.RetryAfter(err))) != nil {
			return fmt.Errorf("line %d of run %q in %s: %w", seq, run, j.Where(), err)
		}
	}
}

// place writes a line where it belongs, unless it is there already.
func (j *Journal) place(ctx context.Context, run string, seq int, text string) error {
	tail := j.tails[run]
	if tail == nil {
		parts, err := j.parts(ctx, run)
		if err != nil {
			return err
		}
		tail = parts[len(parts)-1]
	}
	switch kept, found := tail.lines[seq]; {
	case found && kept == text:
		j.tails[run] = tail
		return nil
	case found || tail.last() >= seq:
		return apierr.New(apierr.Conflict, "another runner wrote this line")
	case tail.last() != seq-1 && !(len(tail.lines) == 0 && seq == 1):
		return apierr.New(apierr.Conflict, "the record ends at line %d", tail.last())
	}
	if tail.size > 0 && tail.size+len(text) > fullAt && !tail.sealed {
		if err := j.edit(ctx, run, tail, map[string]any{"immutable": true}); err != nil {
			return err
		}
		tail.sealed = true
	}
	if tail.sealed {
		delete(j.tails, run) // the version of the new part is read with the next line
		return j.createPart(ctx, run, tail.number+1, map[string]string{key(seq): text})
	}
	if err := j.edit(ctx, run, tail, map[string]any{"data": map[string]string{key(seq): text}}); err != nil {
		return err
	}
	tail.lines[seq], tail.size = text, tail.size+len(text)
	j.tails[run] = tail
	return nil
}

// edit changes a part if it still is as it was read.
func (j *Journal) edit(ctx context.Context, run string, p *part, change map[string]any) error {
	change["metadata"] = map[string]any{"resourceVersion": p.version}
	patch, err := json.Marshal(change)
	if err != nil {
		return err
	}
	return j.once(ctx, func(ctx context.Context) error {
		written, err := j.client.CoreV1().ConfigMaps(j.namespace).Patch(ctx, partName(run, p.number), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
		if err == nil {
			p.version = written.ResourceVersion
		}
		return err
	})
}

func (j *Journal) createPart(ctx context.Context, run string, number int, data map[string]string) error {
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:   partName(run, number),
			Labels: map[string]string{ownerLabel: ownerName, runLabel: run, partLabel: strconv.Itoa(number)},
		},
		Data: data,
	}
	return j.inNamespace(ctx, func(ctx context.Context) error {
		_, err := j.client.CoreV1().ConfigMaps(j.namespace).Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
		return err
	})
}

// Read gives the lines of all parts, as of one moment.
func (j *Journal) Read(ctx context.Context, run string) ([][]byte, error) {
	if !runName.MatchString(run) {
		return nil, &journal.MissingError{Run: run, Where: j.Where()}
	}
	var parts []*part
	err := backoff.Retry(ctx, j.clock, func(ctx context.Context) (err error) {
		parts, err = j.parts(ctx, run)
		return err
	})
	if err != nil {
		return nil, err
	}
	var lines [][]byte
	for _, part := range parts {
		for _, seq := range slices.Sorted(maps.Keys(part.lines)) {
			if seq != len(lines)+1 {
				return nil, &journal.BrokenError{Run: run, Line: len(lines) + 1, Reason: "the line is missing in " + j.Where()}
			}
			lines = append(lines, []byte(part.lines[seq]))
		}
	}
	return lines, nil
}

// parts reads the parts of a record, in order. It fails with *journal.MissingError
// when there are none.
func (j *Journal) parts(ctx context.Context, run string) ([]*part, error) {
	var list *corev1.ConfigMapList
	err := j.once(ctx, func(ctx context.Context) (err error) {
		list, err = j.client.CoreV1().ConfigMaps(j.namespace).List(ctx, metav1.ListOptions{LabelSelector: runLabel + "=" + run})
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, &journal.MissingError{Run: run, Where: j.Where()}
	}
	var parts []*part
	for i := range list.Items {
		part, err := partOf(&list.Items[i])
		if err != nil {
			return nil, &journal.BrokenError{Run: run, Reason: err.Error()}
		}
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b *part) int { return a.number - b.number })
	return parts, nil
}

func partOf(object *corev1.ConfigMap) (*part, error) {
	number, err := strconv.Atoi(object.Labels[partLabel])
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s has label %s=%q", object.Name, partLabel, object.Labels[partLabel])
	}
	p := &part{
		number: number, version: object.ResourceVersion, lines: map[int]string{},
		sealed: object.Immutable != nil && *object.Immutable,
	}
	for name, text := range object.Data {
		seq, err := strconv.Atoi(name)
		if err != nil || seq < 1 {
			return nil, fmt.Errorf("ConfigMap %s has the key %q", object.Name, name)
		}
		p.lines[seq], p.size = text, p.size+len(text)
	}
	return p, nil
}

// Runs names the records; names sort by time.
func (j *Journal) Runs(ctx context.Context) ([]string, error) {
	var runs []string
	page := metav1.ListOptions{LabelSelector: ownerLabel + "=" + ownerName + "," + partLabel + "=1", Limit: listPage}
	for {
		var list *corev1.ConfigMapList
		err := backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
			return j.once(ctx, func(ctx context.Context) (err error) {
				list, err = j.client.CoreV1().ConfigMaps(j.namespace).List(ctx, page)
				return err
			})
		})
		if err != nil {
			return nil, fmt.Errorf("in %s: %w", j.Where(), err)
		}
		for i := range list.Items {
			runs = append(runs, list.Items[i].Labels[runLabel])
		}
		if page.Continue = list.Continue; page.Continue == "" {
			slices.Sort(runs)
			return runs, nil
		}
	}
}

func partName(run string, number int) string { return fmt.Sprintf("run-%s-%d", run, number) }

// key is a line's name in its part: it sorts as the lines do.
func key(seq int) string { return fmt.Sprintf("%06d", seq) }

package configmap

import (
	"context"
	"encoding/json"
	"errors"
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
	longest = min(journal.MaxLine, corev1.MaxSecretSize-4<<10)
	// patience bounds the attempts to write a line: long enough for an API server
	// to restart.
	patience = time.Minute
	listPage = 100
)

// part is a ConfigMap that holds a stretch of a record. Only the last one takes
// lines: it is made immutable before the next is made, so that a writer who has not seen
// the next can't add to the one before.
type part struct {
	number  int
	version string
	full    bool
	size    int
	lines   map[int]string
}

// first is the position of the oldest line; zero for an empty part.
func (p *part) first() int {
	oldest := 0
	for seq := range p.lines {
		if oldest == 0 || seq < oldest {
			oldest = seq
		}
	}
	return oldest
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
		return apierr.New(apierr.Terminal, "run %q can't be kept in a cluster: "+
			"its name must be lower-case letters, digits, - and . only, at most 63", run)
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
		if !passes(err) || clock.Sleep(ctx, j.clock, retryPause(n, err)) != nil {
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
		return apierr.New(apierr.Terminal, "a line of %d bytes is more than the %d that an object can hold",
			len(text), longest)
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
		if !again || clock.Sleep(ctx, j.clock, retryPause(n, err)) != nil {
			return fmt.Errorf("line %d of run %q in %s: %w", seq, run, j.Where(), err)
		}
	}
}

// place writes a line where it belongs, unless it is there already.
func (j *Journal) place(ctx context.Context, run string, seq int, text string) error {
	tail := j.tails[run]
	holder := tail // the part that the line is in, if it is there
	if tail == nil {
		parts, err := j.parts(ctx, run)
		if err != nil {
			return err
		}
		tail = parts[len(parts)-1]
		holder = tail
		for _, part := range parts { // others may have begun a part since the answer was lost
			if _, found := part.lines[seq]; found {
				holder = part
			}
		}
	}
	switch kept, found := holder.lines[seq]; {
	case found && kept == text:
		j.tails[run] = tail
		return nil
	case found || tail.last() >= seq:
		return apierr.New(apierr.Conflict, "another runner wrote this line")
	case tail.last() != seq-1 && !(len(tail.lines) == 0 && seq == 1):
		return apierr.New(apierr.Conflict, "the record ends at line %d", tail.last())
	}
	if tail.size > 0 && tail.size+len(text) > j.sizes.part && !tail.full {
		if err := j.edit(ctx, run, tail, map[string]any{"immutable": true}); err != nil {
			return err
		}
		tail.full = true
	}
	if tail.full {
		delete(j.tails, run)  // the version of the new part is read with the next line
		delete(j.firsts, run) // and so is where it begins
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
		written, err := j.client.CoreV1().ConfigMaps(j.namespace).
			Patch(ctx, partName(run, p.number), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: fieldManager})
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
	return j.inNamespace(ctx, j.namespace, func(ctx context.Context) error {
		_, err := j.client.CoreV1().ConfigMaps(j.namespace).
			Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
		return err
	})
}

// Read gives the lines of all parts.
func (j *Journal) Read(ctx context.Context, run string) ([][]byte, error) {
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
	j.mu.Lock()
	defer j.mu.Unlock()
	j.firsts[run] = nil
	for _, part := range parts {
		j.firsts[run] = append(j.firsts[run], part.first())
	}
	return lines, nil
}

// ReadLine reads the one part that holds the line.
func (j *Journal) ReadLine(ctx context.Context, run string, seq int) ([]byte, error) {
	number := j.partWith(run, seq)
	if number == 0 {
		if _, err := j.Read(ctx, run); err != nil {
			return nil, err
		}
		if number = j.partWith(run, seq); number == 0 {
			return nil, &journal.BrokenError{Run: run, Line: seq, Reason: "the line is missing in " + j.Where()}
		}
	}
	var held *part
	err := backoff.Retry(ctx, j.clock, func(ctx context.Context) (err error) {
		held, err = j.part(ctx, run, number)
		return err
	})
	switch {
	case err != nil && apierr.ClassOf(err) == apierr.Missing:
		return nil, errors.Join(err, &journal.MissingError{Run: run, Where: j.Where()})
	case err != nil:
		return nil, err
	}
	text, found := held.lines[seq]
	if !found {
		return nil, &journal.BrokenError{Run: run, Line: seq, Reason: "the line is missing in " + j.Where()}
	}
	return []byte(text), nil
}

// partWith is the number of the part that holds a line; zero when that isn't known.
func (j *Journal) partWith(run string, seq int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	number := 0
	for i, first := range j.firsts[run] {
		if first > 0 && first <= seq {
			number = i + 1
		}
	}
	return number
}

// maxParts bounds how many parts of a record are looked for.
const maxParts = 2 * journal.MaxRecord / fullAt

// parts reads the parts of a record, in order, by their names: a label that somebody
// removed hides nothing. It fails with *journal.MissingError when there are none.
func (j *Journal) parts(ctx context.Context, run string) ([]*part, error) {
	if !runName.MatchString(run) {
		return nil, &journal.MissingError{Run: run, Where: j.Where()}
	}
	var parts []*part
	for n := 1; n <= maxParts; n++ {
		next, err := j.part(ctx, run, n)
		switch {
		case err != nil && apierr.ClassOf(err) == apierr.Missing && n > 1:
			return parts, nil // the part before was full when its writer died
		case err != nil && apierr.ClassOf(err) == apierr.Missing:
			return nil, &journal.MissingError{Run: run, Where: j.Where()}
		case err != nil:
			return nil, err
		}
		if parts = append(parts, next); !next.full {
			return parts, nil
		}
	}
	return nil, &journal.BrokenError{Run: run, Reason: "the record has more parts than any"}
}

// part reads one part.
func (j *Journal) part(ctx context.Context, run string, number int) (*part, error) {
	var object *corev1.ConfigMap
	err := j.once(ctx, func(ctx context.Context) (err error) {
		object, err = j.client.CoreV1().ConfigMaps(j.namespace).Get(ctx, partName(run, number), metav1.GetOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	read, err := partOf(object, number)
	if err != nil {
		return nil, &journal.BrokenError{Run: run, Reason: err.Error()}
	}
	return read, nil
}

// readParts counts the parts, whatever they hold.
func (j *Journal) readParts(ctx context.Context, run string) (int, error) {
	if !runName.MatchString(run) {
		return 0, &journal.MissingError{Run: run, Where: j.Where()}
	}
	for n := 1; ; n++ {
		err := backoff.Retry(ctx, j.clock, func(ctx context.Context) error {
			return j.once(ctx, func(ctx context.Context) error {
				_, err := j.client.CoreV1().ConfigMaps(j.namespace).Get(ctx, partName(run, n), metav1.GetOptions{})
				return err
			})
		})
		switch {
		case err != nil && apierr.ClassOf(err) == apierr.Missing && n == 1:
			return 0, &journal.MissingError{Run: run, Where: j.Where()}
		case err != nil && apierr.ClassOf(err) == apierr.Missing:
			return n - 1, nil
		case err == nil && n == maxParts:
			return n, nil
		case err != nil:
			return 0, err
		}
	}
}

func partOf(object *corev1.ConfigMap, number int) (*part, error) {
	p := &part{
		number: number, version: object.ResourceVersion, lines: map[int]string{},
		full: object.Immutable != nil && *object.Immutable,
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
			// The name decides, as it does for reading. A label is anybody's to write.
			run := strings.TrimSuffix(strings.TrimPrefix(list.Items[i].Name, "run-"), "-1")
			if runName.MatchString(run) && list.Items[i].Name == partName(run, 1) {
				runs = append(runs, run)
			}
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

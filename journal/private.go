package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"salve/internal/apierr"
	"salve/internal/redact"
)

// Export names data that is kept apart from the record, and its digest.
type Export struct {
	Name string `json:"name"`
	// Sum is the SHA-256 of the data; Size its length.
	Sum  string `json:"sha256"`
	Size int    `json:"size"`
}

// file is the name under which a backend keeps the export. It holds the digest, so
// that newer data never takes the place of what the record still names.
func (e Export) file() string { return e.Name + "." + e.Sum[:16] }

var exportName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

// PutExport keeps data apart from the record, which then holds its digest. What
// whole objects hold, secrets among it, never reaches the record itself.
func (r *Record) PutExport(ctx context.Context, name string, data []byte) error {
	export, err := r.putExport(ctx, name, data)
	if err != nil {
		return err
	}
	return r.Append(ctx, Exported, "", export)
}

func (r *Record) putExport(ctx context.Context, name string, data []byte) (Export, error) {
	if !exportName.MatchString(name) || len(data) > MaxExport {
		return Export{}, apierr.New(apierr.Terminal,
			"invalid export %q of %d bytes: lower-case letters, digits, - and ., at most %d bytes",
			name, len(data), MaxExport)
	}
	export := Export{Name: name, Sum: hash(data), Size: len(data)}
	if err := r.backend.PutExport(ctx, r.Run, export.file(), data); err != nil {
		return Export{}, fmt.Errorf("keeping export %q of run %q: %w", name, r.Run, err)
	}
	return export, nil
}

// ReadExport gives the newest export of a name, verified; *MissingError when the
// record knows none.
func (r *Record) ReadExport(ctx context.Context, name string) ([]byte, error) {
	var export Export
	found := false
	r.View(func(r *Record) { export, found = r.exports[name] })
	if !found {
		return nil, &MissingError{Run: r.Run, Where: r.backend.Location() + " (export " + name + ")"}
	}
	return r.readExport(ctx, export)
}

// Exports are the newest exports of each name.
func (h *History) Exports() []Export {
	return slices.SortedFunc(maps.Values(h.exports), func(a, b Export) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
}

func (r *Record) readExport(ctx context.Context, export Export) ([]byte, error) {
	return readExport(ctx, r.backend, r.Run, export)
}

func readExport(ctx context.Context, backend Backend, run string, export Export) ([]byte, error) {
	if len(export.Sum) != 64 || !exportName.MatchString(export.Name) {
		return nil, fmt.Errorf("export %q of run %q: invalid name or digest", export.Name, run)
	}
	data, err := backend.Export(ctx, run, export.file())
	if err != nil {
		return nil, fmt.Errorf("reading export %q of run %q: %w", export.Name, run, err)
	}
	if hash(data) != export.Sum || len(data) != export.Size {
		return nil, &BrokenError{Run: run, Reason: fmt.Sprintf("export %q is not what was kept", export.Name)}
	}
	return data, nil
}

// masked encodes an entry's data with secrets masked. A value that a resumed run
// reads back, and that masking would change, is kept whole apart from the record.
func (r *Record) masked(ctx context.Context, seq int, one Pending) (json.RawMessage, error) {
	var err error
	data := one.Data
	switch value := data.(type) {
	case Note:
		value.Private, value.Value, err = r.keepPrivate(ctx, seq, value.Value)
		data = value
	case Approval:
		value.Private, value.Inputs, err = r.keepPrivate(ctx, seq, value.Inputs)
		value.Reason, value.From = redact.String(value.Reason), redact.String(value.From)
		data = value
	case Header:
		value.Private, value.Inputs, err = r.keepPrivate(ctx, seq, value.Inputs)
		value.Overrides, value.Command = maskedReasons(value.Overrides), redact.String(value.Command)
		data = value
	case Resumption:
		value.Private, value.Inputs, err = r.keepPrivate(ctx, seq, value.Inputs)
		value.Overrides, value.Command = maskedReasons(value.Overrides), redact.String(value.Command)
		data = value
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("encoding %s of step %q for the journal: %w", one.Kind, one.Step, err)
	}
	switch one.Kind {
	case Opened, Resumed, Noted, Exported, Approved:
		return raw, nil // names, digests, and values that are masked by now
	default:
		return redact.JSON(raw), nil
	}
}

func (r *Record) keepPrivate(ctx context.Context, seq int, value json.RawMessage) (*Export, json.RawMessage, error) {
	if len(value) == 0 {
		return nil, value, nil
	}
	if !json.Valid(value) {
		return nil, nil, apierr.New(apierr.Terminal, "entry %d of run %q: a value is not JSON", seq, r.Run)
	}
	shown := redact.JSON(value)
	if string(shown) == string(value) {
		return nil, value, nil
	}
	export, err := r.putExport(ctx, fmt.Sprintf("private-%d", seq), value)
	if err != nil {
		return nil, nil, err
	}
	r.memory.Lock()
	defer r.memory.Unlock()
	r.private[seq] = value
	return &export, shown, nil
}

func maskedReasons(overrides map[string]string) map[string]string {
	masked := map[string]string{}
	for guard, reason := range overrides {
		masked[guard] = redact.String(reason)
	}
	return masked
}

// loadPrivate reads the values that were kept apart and that are still the newest
// of their name.
func loadPrivate(
	ctx context.Context, backend Backend, run string, entries []Entry,
) (map[int]json.RawMessage, map[int]error) {
	newest := map[string]Export{}
	seqs := map[string]int{}
	for _, entry := range entries {
		name, export := privateOf(entry)
		delete(newest, name)
		if export != nil {
			newest[name], seqs[name] = *export, entry.Seq
		}
	}
	private, unread := map[int]json.RawMessage{}, map[int]error{}
	for name, export := range newest {
		value, err := readExport(ctx, backend, run, export)
		if err != nil {
			unread[seqs[name]] = err
			continue
		}
		private[seqs[name]] = value
	}
	return private, unread
}

// privateOf tells which value an entry sets, and where it is kept if apart.
func privateOf(entry Entry) (name string, export *Export) {
	switch entry.Kind {
	case Noted:
		var note Note
		if json.Unmarshal(entry.Data, &note) == nil {
			return "note " + noteKey(entry.Step, note.Name), note.Private
		}
	case Opened:
		var header Header
		if json.Unmarshal(entry.Data, &header) == nil {
			return "inputs", header.Private
		}
	case Resumed:
		var resumption Resumption
		if json.Unmarshal(entry.Data, &resumption) == nil && len(resumption.Inputs) > 0 {
			return "inputs", resumption.Private
		}
	case Approved:
		var approval Approval
		if json.Unmarshal(entry.Data, &approval) == nil && len(approval.Inputs) > 0 {
			return "inputs", approval.Private
		}
	default: // the others keep nothing apart
	}
	return "", nil
}

// unreadInputs is why the run's inputs, kept apart, can't be read; nil when they can.
func (h *History) unreadInputs() error {
	if h.Header.Private == nil || h.Header.Inputs != nil {
		return nil
	}
	for _, err := range h.unread {
		return err
	}
	return nil
}

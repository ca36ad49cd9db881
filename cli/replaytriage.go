package cli

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strings"

	"salve/internal/report/replay"
	"salve/internal/triage/analysis"
	"salve/internal/triage/record"
	triagereplay "salve/internal/triage/replay"
)

// headSize is how much of a file tells what it is.
const headSize = 64 << 10

// isTriage tells by its beginning whether a file is of a triage: its record, or a document that has no evidence.
func isTriage(head []byte) bool { return record.Is(head) || isTriageDocument(head) }

func isTriageDocument(head []byte) bool {
	start := head[:min(len(head), 256)]
	return bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")) &&
		bytes.Contains(start, []byte(`"format"`)) && bytes.Contains(start, []byte(`"salve.triage/`))
}

// replayTriage replays the record of a triage.
func replayTriage(path string, raw []byte, settings []replay.Setting) (triagereplay.Result, error) {
	if isTriageDocument(raw) {
		return triagereplay.Result{}, &attentionError{fmt.Errorf("%s: a triage document does not have what its verdicts "+
			"rest on. hint: salve triage PATH --evidence FILE", path)}
	}
	read, err := record.Read(raw)
	if err != nil {
		return triagereplay.Result{}, &attentionError{fmt.Errorf("%s: %w", path, err)}
	}
	options := triagereplay.Options{Program: builtFrom().String(), Architecture: runtime.GOARCH}
	for _, setting := range settings {
		options.Set = append(options.Set, triagereplay.Setting{Name: setting.Field, Value: setting.Value})
	}
	result, err := triagereplay.Replay(read, options)
	if err != nil {
		return result, usage("%s: --set: %v", path, err)
	}
	return result, nil
}

// keepEvidence writes the record of a triage.
func (a *app) keepEvidence(path string, result *analysis.Result) error {
	raw, leftOut, err := record.Write(record.Triage{
		Program: builtFrom().String(), Architecture: runtime.GOARCH, Build: result.Document.Build,
		Created: result.Document.Created, Thresholds: result.Thresholds, Evidence: result.Evidence, Examined: result.Examined,
		Decision: result.Decision,
	})
	if err == nil && strings.HasSuffix(path, ".gz") {
		raw, err = record.Pack(raw)
	}
	if err == nil {
		err = writeWhole(path, func(file *os.File) error {
			_, err := file.Write(raw)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("--evidence: %w", err)
	}
	for _, reason := range leftOut {
		fmt.Fprintf(a.stderr, "%s: %s\n", path, reason)
	}
	return nil
}

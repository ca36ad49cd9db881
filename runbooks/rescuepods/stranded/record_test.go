package stranded

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"salve/internal/apierr"
	"salve/runbook"
	"salve/runbook/runbooktest"
)

var errFull = errors.New("the journal is full")

// faulty is a run whose journal refuses what one name stands for, or forgets or alters it.
type faulty struct {
	runbooktest.Run
	note, export, warn, altered, forgotten string
}

func (f *faulty) Note(ctx context.Context, name string, value any) error {
	if name == f.note {
		return errFull
	}
	return f.Run.Note(ctx, name, value)
}

func (f *faulty) ReadBack(ctx context.Context, name string, into any) (bool, error) {
	if name == f.forgotten {
		return true, nil
	}
	return f.Run.ReadBack(ctx, name, into)
}

func (f *faulty) Export(ctx context.Context, name string, data []byte) error {
	if err := f.Run.Export(ctx, name, data); err != nil || name != f.export {
		return err
	}
	return errFull
}

func (f *faulty) ReadExport(ctx context.Context, name string) ([]byte, error) {
	data, err := f.Run.ReadExport(ctx, name)
	if name == f.altered {
		data = data[1:]
	}
	return data, err
}

func (f *faulty) Warn(ctx context.Context, format string, args ...any) error {
	if strings.Contains(fmt.Sprintf(format, args...), f.warn) && f.warn != "" {
		return errFull
	}
	return f.Run.Warn(ctx, format, args...)
}

// TestRecordIsWholeOrAnError: the exports and the notes were written and read back, or no deletion follows.
func TestRecordIsWholeOrAnError(t *testing.T) {
	lost := errors.New("not readable")
	for rule, row := range map[string]struct {
		run  *faulty
		want error
		says string
	}{
		"all is kept":          {run: &faulty{}},
		"an export is refused": {run: &faulty{export: pieceNote(0)}, want: errFull},
		"an export can't be read back": {want: lost,
			run: &faulty{Run: runbooktest.Run{Lost: map[string]error{pieceNote(0): lost}}}},
		"an export is not what was written": {run: &faulty{altered: pieceNote(0)}, says: "is not what was written"},
		"a piece of the record is refused":  {run: &faulty{note: pieceNote(0)}, want: errFull},
		"the record's end is refused":       {run: &faulty{note: recordNote}, want: errFull},
		"a piece of the record is not read back": {run: &faulty{forgotten: pieceNote(0)},
			says: "0 pods were read back from the record, 2 were written"},
	} {
		t.Run(rule, func(t *testing.T) {
			onAPI(t, func(t *testing.T, a *api, s *Search) {
				pods := []Misplaced{{Pod: podOf(a.stranded("a"))}, {Pod: podOf(a.stranded("b"))}, {Pod: Pod{UID: "gone"}}}
				a.pod("away", "other")
				err := s.Record(t.Context(), row.run, pods)
				switch {
				case row.want == nil && row.says == "":
					kept, found, err := s.ReadRecorded(t.Context(), row.run)
					if err != nil || !found || fmt.Sprint(NamesOf(kept)) != "[away/a away/b]" {
						t.Errorf("kept: %v, %v, %v", kept, found, err)
					}
				case err == nil || !errors.Is(err, row.want) && row.want != nil || !strings.Contains(err.Error(), row.says):
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
}

// TestRecordedSaysWhatTheJournalHolds.
func TestRecordedSaysWhatTheJournalHolds(t *testing.T) {
	run := &runbooktest.Run{}
	if seen := Recorded(t.Context(), run); seen.State != runbook.StateNotStarted {
		t.Errorf("%+v", seen)
	}
	if err := run.Note(t.Context(), recordNote, 1); err != nil {
		t.Fatal(err)
	}
	if seen := Recorded(t.Context(), run); seen.State != runbook.StateDone {
		t.Errorf("%+v", seen)
	}
	s := &Search{Selector: "app=web"}
	if _, found, err := s.RecordedPods(run); !found || apierr.ClassOf(err) != apierr.Terminal {
		t.Errorf("a record without its piece: %v, %v", found, err)
	}
}

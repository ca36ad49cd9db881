package console

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"salve/engine"
	"salve/journal"
	"salve/runbook"
)

// hostile are texts that a terminal obeys.
func hostile() map[string]string {
	return map[string]string{
		"clear the screen":           "\x1b[2J",
		"set the title":              "\x1b]0;owned\x07",
		"plant a link (OSC 8)":       "\x1b]8;;https://evil.example\x1b\\here\x1b]8;;\x1b\\",
		"8-bit CSI":                  "\u009b31m",
		"8-bit CSI as a raw byte":    "\x9b31m",
		"go back on the line":        "failed\rremediated",
		"erase the last letters":     "failed\b\b\b\b\b\b",
		"turn the direction":         "\u202etxt.exe",
		"isolate the direction":      "\u2066hidden\u2069",
		"a tag that nobody can see":  "a\U000e0041b",
		"delete":                     "a\x7fb",
		"a line of another alphabet": "a\u2028b",
	}
}

// orders are what makes the hostile texts so.
const orders = "\x07\b\r\x1b\x7f\u009b\u2028\u202e\u2066\u2069\U000e0041"

func TestNothingThatATerminalObeysIsPrinted(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			got := Visible(text)
			if strings.ContainsAny(got, orders) || strings.Contains(got, "\x9b") {
				t.Errorf("%q is still obeyed", got)
			}
		})
	}
}

func TestWhatPeopleReadStaysAsItIs(t *testing.T) {
	for _, text := range []string{"", "a\n\tb", "✓ größer → 完了", "👩‍💻", `C:\u001b`} {
		if got := Visible(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestJSONStaysWhatItWas(t *testing.T) {
	want := "a\u009b31m\u202eb\x7f"
	raw, err := json.Marshal(map[string]string{"reason": want})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal([]byte(Visible(string(raw))), &got); err != nil || got["reason"] != want {
		t.Errorf("got %q, error %v", got["reason"], err)
	}
}

// TestTheLivePictureObeysNobody: each text of an event may come from others.
func TestTheLivePictureObeysNobody(t *testing.T) {
	at := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
	for name, text := range hostile() {
		picture := &picture{title: "t" + text}
		for _, event := range []engine.Event{
			{Kind: engine.RunBegan, Run: "r" + text, At: at},
			{Kind: engine.Found, Step: "start", Finding: &runbook.Finding{Guard: "g" + text, Answer: runbook.AnswerUnknown,
				Reason: "r" + text}},
			{Kind: engine.StepBegan, Step: "s" + text, At: at},
			{Kind: engine.StepMoved, Step: "s" + text, Progress: &runbook.Progress{Text: "p" + text,
				Details: []string{"d" + text}}},
			{Kind: engine.Warning, Text: "w" + text},
			{Kind: engine.StepBegan, Step: "f" + text, At: at},
			{Kind: engine.StepEnded, Step: "f" + text, Result: &journal.Result{Result: journal.Failure, Reason: "f" + text}},
		} {
			picture.take(event)
		}
		drawn := picture.draw(at, 80, 0, 0)
		for _, own := range []string{plain, bold, faint, red, green, yellow, blue} {
			drawn = strings.ReplaceAll(drawn, own, "")
		}
		if strings.ContainsFunc(drawn, obeyed) || strings.Contains(drawn, "\x9b") {
			t.Errorf("%s: the picture is %q", name, drawn)
		}
	}
}

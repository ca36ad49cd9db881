package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"text/template"
	"time"

	"salve/engine"
	"salve/internal/diagnostic"
	"salve/internal/redact"
	"salve/runbook"
)

// Message is what is told of an outcome: the data of the CloudEvent, and what templates are executed over.
type Message struct {
	Run     string          `json:"run"`
	Runbook string          `json:"runbook"`
	Target  runbook.Target  `json:"target"`
	Outcome runbook.Outcome `json:"outcome"`
	Reason  string          `json:"reason"`
	// Question is what an operator has to answer; empty for closed runs.
	Question string    `json:"question,omitempty"`
	At       time.Time `json:"at"`
	// Source is the program and the machine that executed the run.
	Source string `json:"source"`
}

func messageOf(event engine.Event, source string) Message {
	verdict := event.Verdict
	return Message{
		Run: event.Run, Runbook: event.Runbook, Target: event.Target, Outcome: verdict.Outcome, Reason: clean(verdict.Reason),
		Question: clean(verdict.Question), At: event.At.UTC(), Source: source,
	}
}

func clean(text string) string { return diagnostic.Printable(redact.String(text)) }

// Title is the message in one line.
func (m Message) Title() string {
	return fmt.Sprintf("%s: %s on %s", m.Outcome, m.Runbook, m.Target.Name)
}

// Good tells whether nobody has to look.
func (m Message) Good() bool {
	switch m.Outcome {
	case runbook.Remediated, runbook.RolledOut, runbook.NothingToDo, runbook.Deferred:
		return true
	default:
		return false
	}
}

// form is how a message is written.
type form struct {
	contentType string
	text        *template.Template
}

func (f form) body(m Message) ([]byte, error) {
	var body bytes.Buffer
	if err := f.text.Execute(&body, m); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

func functions() template.FuncMap {
	return template.FuncMap{"json": func(value any) (string, error) {
		raw, err := json.Marshal(value)
		return string(raw), err
	}}
}

// forms are those that are built in.
func forms() map[string]form {
	parse := func(text string) *template.Template {
		return template.Must(template.New("").Funcs(functions()).Parse(text))
	}
	return map[string]form{
		// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
		"cloudevents": {"application/cloudevents+json", parse(`{"specversion": "1.0", "type": "salve.run.outcome", ` +
			`"source": {{json (print "/salve/" .Source)}}, "id": {{json (print .Run "/" .Outcome "/" .At.UnixNano)}}, ` +
			`"time": {{json .At}}, "subject": {{json .Target.ID}}, "datacontenttype": "application/json", "data": {{json .}}}`)},
		// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
		"slack": {"application/json", parse(`{"text": {{json .Title}}, "blocks": [` +
			`{"type": "header", "text": {"type": "plain_text", "text": {{json .Title}}}}, ` +
			`{"type": "section", "text": {"type": "plain_text", "text": {{json (print .Reason "\n" .Question)}}}}, ` +
			`{"type": "context", "elements": [{"type": "plain_text", "text": {{json (print "run " .Run)}}}]}]}`)},
		// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
		"teams": {"application/json", parse(`{"type": "message", "attachments": [{"contentType": ` +
			`"application/vnd.microsoft.card.adaptive", "content": {"type": "AdaptiveCard", "version": "1.4", ` +
			`"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "body": [` +
			`{"type": "TextBlock", "weight": "bolder", "wrap": true, "text": {{json .Title}}, ` +
			`"color": {{if .Good}}"good"{{else}}"attention"{{end}}}, ` +
			`{"type": "TextBlock", "wrap": true, "text": {{json .Reason}}}, ` +
			`{"type": "TextBlock", "wrap": true, "isSubtle": true, "text": {{json (print "run " .Run " " .Question)}}}]}}]}`)},
	}
}

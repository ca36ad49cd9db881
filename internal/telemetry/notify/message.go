package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"text/template"
	"time"

	"salve/engine"
	"salve/internal/telemetry"
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

// mostText bounds a text in a message, in bytes.
const mostText = 4 << 10

func clean(text string) string { return telemetry.Text(text, mostText) }

// Title is the message in one line.
func (m Message) Title() string {
	return fmt.Sprintf("%s: %s on %s", m.Outcome, m.Runbook, m.Target.Name)
}

// Texts are what is told below the title.
func (m Message) Texts() []string { return []string{m.Reason, m.Question} }

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

// check executes the form over messages of all kinds: what fails only for some outcome, or for a text with quotes in
// it, would be found out when somebody has to be told.
func (f form) check() error {
	for _, outcome := range runbook.Outcomes() {
		for _, text := range []string{"", "node \"a\\b\" is\nnot ready"} {
			body, err := f.body(Message{Run: text, Runbook: text, Target: runbook.Target{Kind: text, ID: text, Name: text},
				Outcome: outcome, Reason: text, Question: text, Source: text})
			switch {
			case err != nil:
				return err
			case !json.Valid(body):
				return fmt.Errorf("for outcome %s it does not give JSON. hint: {{json .Reason}} quotes a text", outcome)
			}
		}
	}
	return nil
}

func functions() template.FuncMap {
	return template.FuncMap{"json": func(value any) (string, error) {
		raw, err := json.Marshal(value)
		return string(raw), err
	}}
}

const (
	// mostHeader and mostSection are what Slack takes in a block, in characters; it refuses a message with more
	// (https://docs.slack.dev/reference/block-kit/blocks/header-block, …/section-block). Texts are cut to as many bytes.
	mostHeader  = 150
	mostSection = 3000
)

// formFunctions are for the forms that are built in.
func formFunctions() template.FuncMap {
	return template.FuncMap{
		"header":  func(text string) string { return telemetry.Text(text, mostHeader) },
		"section": func(text string) string { return telemetry.Text(text, mostSection) },
		// What is <!channel> would call everybody (https://docs.slack.dev/messaging/formatting-message-text#escaping).
		"mrkdwn": strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace,
	}
}

// forms are those that are built in. Texts come from clusters and clouds: they stay plain, without links in them.
func forms() map[string]form {
	parse := func(text string) *template.Template {
		return template.Must(template.New("").Funcs(functions()).Funcs(formFunctions()).Parse(text))
	}
	return map[string]form{
		// https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md
		"cloudevents": {"application/cloudevents+json", parse(`{"specversion": "1.0", "type": "salve.run.outcome", ` +
			`"source": {{json (print "/salve/" .Source)}}, "id": {{json (print .Run "/" .Outcome "/" .At.UnixNano)}}, ` +
			`"time": {{json .At}}, "subject": {{json .Target.ID}}, "datacontenttype": "application/json", "data": {{json .}}}`)},
		// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
		"slack": {"application/json", parse(`{"text": {{json (mrkdwn .Title)}}, "blocks": [` +
			`{"type": "header", "text": {"type": "plain_text", "text": {{json (header .Title)}}}}, ` +
			`{{range .Texts}}{{if .}}` +
			`{"type": "section", "text": {"type": "plain_text", "text": {{json (section .)}}}}, {{end}}{{end}}` +
			`{"type": "context", "elements": [{"type": "plain_text", "text": {{json (print "run " .Run)}}}]}]}`)},
		// https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using. A TextBlock
		// is Markdown; a RichTextBlock is not (https://learn.microsoft.com/adaptive-cards/authoring-cards/text-features).
		"teams": {"application/json", parse(`{"type": "message", "attachments": [{"contentType": ` +
			`"application/vnd.microsoft.card.adaptive", "content": {"type": "AdaptiveCard", "version": "1.4", ` +
			`"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "body": [` +
			`{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "weight": "bolder", "text": {{json .Title}}, ` +
			`"color": {{if .Good}}"good"{{else}}"attention"{{end}}}]}, ` +
			`{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": {{json .Reason}}}]}, ` +
			`{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "isSubtle": true, ` +
			`"text": {{json (print "run " .Run " " .Question)}}}]}]}}]}`)},
	}
}

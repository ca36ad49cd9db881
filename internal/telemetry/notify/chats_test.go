package notify_test

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"k8s.io/utils/clock"

	"salve/internal/telemetry/notify"
)

// element is a part of a chat's message.
type element struct {
	Type, Text string
}

// said is how a chat's message tells an event: its elements, whose text may be one too, wherever they are.
func said(t *testing.T, format, reason string) (body string, parts []element) {
	t.Helper()
	w := &webhook{}
	synctest.Test(t, func(t *testing.T) {
		n, err := notify.New(notify.Options{
			Config: []byte("notifications: [{format: " + format + ", url: {env: URL}}]"), Clock: clock.RealClock{}, Transport: w,
			Lookups: notify.Lookups{Env: func(string) string { return address }},
		})
		if err != nil {
			t.Fatal(err)
		}
		event := ended(reason)
		event.Target.Name = reason
		n.Tell(event)
		if err := n.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	var whole any
	if err := json.Unmarshal([]byte(w.bodies[0]), &whole); err != nil {
		t.Fatalf("%v: %s", err, w.bodies[0])
	}
	return w.bodies[0], elements(whole)
}

func elements(value any) (all []element) {
	switch value := value.(type) {
	case []any:
		for _, one := range value {
			all = append(all, elements(one)...)
		}
	case map[string]any:
		kind, _ := value["type"].(string)
		text, _ := value["text"].(string)
		if inner, is := value["text"].(map[string]any); is {
			text, _ = inner["text"].(string)
		}
		all = append(all, element{kind, text})
		for _, one := range value {
			all = append(all, elements(one)...)
		}
	}
	return all
}

// TestSlackTakesALongReason: it refuses a message with a block that is too long
// (https://docs.slack.dev/reference/block-kit/blocks).
func TestSlackTakesALongReason(t *testing.T) {
	_, parts := said(t, "slack", strings.Repeat("not ready ", 500))
	most, sections := map[string]int{"header": 150, "section": 3000}, 0
	for _, part := range parts {
		if limit, limited := most[part.Type]; limited && (len(part.Text) > limit || part.Text == "") {
			t.Errorf("a %s of %d bytes: at most %d", part.Type, len(part.Text), limit)
		}
		if part.Type == "section" {
			sections++
		}
	}
	if sections != 2 {
		t.Errorf("%d sections: one is for the reason, one for the question", sections)
	}
}

// TestTextsStayPlain: what a cluster says calls nobody in a chat, and is no link there.
func TestTextsStayPlain(t *testing.T) {
	body, _ := said(t, "slack", "<!channel> [log in](https://evil.example.com)")
	var message struct{ Text string }
	if err := json.Unmarshal([]byte(body), &message); err != nil || !strings.Contains(message.Text, "&lt;!channel&gt;") {
		t.Errorf("the text of the message is %q: %v", message.Text, err)
	}
	if strings.Contains(body, `"mrkdwn"`) {
		t.Errorf("a block has markup: %s", body)
	}
	if _, parts := said(t, "teams", "[log in](https://evil.example.com)"); !strings.Contains(kinds(parts), "TextRun") ||
		strings.Contains(kinds(parts), "TextBlock ") {
		t.Errorf("Teams renders the Markdown of a TextBlock: %s", kinds(parts))
	}
}

func kinds(parts []element) (all string) {
	for _, part := range parts {
		if part.Type != "RichTextBlock" {
			all += part.Type + " "
		}
	}
	return all
}

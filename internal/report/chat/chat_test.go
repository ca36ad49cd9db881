package chat_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"salve/internal/report/chat"
)

const dated = "# February 5th, 2019 outage\n\nAll times in PST\n\n## Appendix\n\n"

// TestTraps: each row is a trap; what is wanted is one line for each message and the beginning of each question.
func TestTraps(t *testing.T) {
	before := dated + "Ann [8:05 AM]\na\n\n"
	ann := "Ann 2019-02-05 08:05 -08:00 a"
	cases := []struct{ name, input, want string }{
		{"a title and a comma in a name", before + "Dr. No, PhD [8:09 AM]\nhi\n", ann +
			"|Dr. No, PhD 2019-02-05 08:09 -08:00 hi"},
		{"brackets in a name", before + "Bob [SRE] [8:11 AM]\nhi\n", ann + "|Bob [SRE] 2019-02-05 08:11 -08:00 hi"},
		{"a back quote in a name", before + "O`Neil [8:12 AM]\nhi\n", ann + "|O`Neil 2019-02-05 08:12 -08:00 hi"},
		{"a name of digits", before + "123 [8:13 AM]\nhi\n", ann + "|123 2019-02-05 08:13 -08:00 hi"},
		{"a time that is none", before + "C [25:10]\nhi\n", ann + "\n\nC [25:10]\nhi|?is \"C [25:10]\" the first line"},
		{"a name that isn't understood", before + "<Bob!> [8:14 AM]\nhi\n", ann +
			"\n\n<Bob!> [8:14 AM]\nhi|?is \"<Bob!> [8:14 AM]\" the first line"},
		{"an IRC time that is none", dated + "[14:05] <ann> a\n[25:06] <bob> b\n",
			"ann 2019-02-05 14:05 -08:00 a\n[25:06] <bob> b|?is \"[25:06] <bob> b\" the first line"},
		{"a title above Slack's time", dated + "Ann\n  8:05 AM\na\n\nDr. No, PhD\n  8:09 AM\nhi\n", ann +
			"|Dr. No, PhD 2019-02-05 08:09 -08:00 hi"},
		{"Discord, contiguous", "Alice — Today at 2:03 PM\na\nBob — Today at 2:04 PM\nb\n",
			"Alice ? 14:03 ? a|Bob ? 14:04 ? b|?which date is \"today\"|?which time zone|?which date is \"today\""},
		{"a quoted header", dated + ">Ann [8:27 AM]  \nhello  \n", "Ann 2019-02-05 08:27 -08:00 hello"},
		{"blanks and a padded hour", dated + "Ann   [07:16 AM]\nhello\n", "Ann 2019-02-05 07:16 -08:00 hello"},
		{"a 24-hour clock", dated + "Ann [14:05]\nhello\n", "Ann 2019-02-05 14:05 -08:00 hello"},
		{"an edited text", dated + "Ann [14:05]\nhello (edited) \n", "Ann 2019-02-05 14:05 -08:00 hello edited"},
		{"a bot", dated + "prow APP [2:05 PM]\nhello\n", "prow 2019-02-05 14:05 -08:00 hello bot"},
		{"Slack's two blanks", dated + "Ann  8:27 AM\nhello\n", "Ann 2019-02-05 08:27 -08:00 hello"},
		{"Slack's time below", dated + "Ann\n  8:27 AM\nhello\n8:28\nmore\n",
			"Ann 2019-02-05 08:27 -08:00 hello|Ann 2019-02-05 08:28 -08:00 more"},
		{"Teams", dated + "[8:27 AM] Ann Lee\nhello\n", "Ann Lee 2019-02-05 08:27 -08:00 hello"},
		{"IRC", "[2019-02-05 08:27:33] <ann> hello\n", "ann 2019-02-05 08:27 ? hello|?which time zone"},
		{"ISO with a zone", "2019-02-05T08:27:33Z ann: hello\n", "ann 2019-02-05 08:27 +00:00 hello"},
		{"day or month first", "All times in UTC\n\nAnn 2/5/2019 8:27 AM\nhello\n", "Ann ? 08:27 ? hello|?which comes first"},
		{"no date", "All times in UTC\n\nAnn [8:27 AM]\nhello\n", "Ann ? 08:27 ? hello|?which date"},
		{"an ambiguous zone", "# 2019-02-05\n\nAll times in IST\n\nAnn [8:27 AM]\nhi\n",
			"Ann 2019-02-05 08:27 ? hi|?which time zone is"},
		{"standard time in summer", "# 2019-07-05\n\nAll times in PST\n\nAnn [8:27 AM]\nhi\n",
			"Ann 2019-07-05 08:27 ? hi|?PST on 2019-07-05"},
		{"AM or PM", dated + "Ann [8:27]\nhello\n", "Ann ? 08:27 ? hello|?AM or PM"},
		{"code", dated + "Ann [14:05]\n```\n\nBob [14:06]\n[08:12] x\n```\n",
			"Ann 2019-02-05 14:05 -08:00 ```\n\nBob [14:06]\n[08:12] x\n```"},
		{"a small step back", dated + "Ann [14:05]\na\n\nBob [14:03]\nb\n",
			"Ann 2019-02-05 14:05 -08:00 a|Bob ? 14:03 ? b|?the time goes back"},
		{"past midnight, dated at the chat", "All times in UTC\n\n## Chat of 2019-02-05\n\nAnn [23:50]\na\n\nBob " +
			"[00:10]\nb\n",
			"Ann 2019-02-05 23:50 +00:00 a|Bob 2019-02-06 00:10 +00:00 b"},
		{"past midnight, dated by the title", dated + "Ann [23:50]\na\n\nBob [00:10]\nb\n",
			"Ann ? 23:50 ? a|Bob ? 00:10 ? b|?which date is the first"},
		{"a timeline", "# 2019-02-05\n\n## Timeline\n\n* [08:47] Bump is merged\n\nAnn [08:50]\nx\n", ""},
		{"prose that ends with a time", dated + "Ann [14:05]\na\nwe rolled back [14:06]\n",
			"Ann 2019-02-05 14:05 -08:00 a\nwe rolled back [14:06]"},
		{"escapes", dated + "\x1b[31mAnn\x1b[0m [14:05]\n\x1b]0;t\x07a\x00b\n", "Ann 2019-02-05 14:05 -08:00 ab"},
		{"Slack JSON", `[{"user":"U1","user_profile":{"display_name":"Ann"},"ts":"1549384020.0001","text":"a &lt; ` +
			`<@U1>","edited":{}}]`,
			"Ann 2019-02-05 16:27 +00:00 a < @Ann edited"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			export, err := chat.Parse([]byte(c.input), chat.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range export.Messages {
				got = append(got, shown(m))
			}
			want := strings.Split(c.want, "|")
			for i, q := range export.Questions {
				if at := len(export.Messages) + i; at < len(want) && strings.HasPrefix("?"+q.Text, want[at]) {
					got = append(got, want[at])
					continue
				}
				got = append(got, "?"+q.Text)
			}
			if strings.Join(got, "|") != c.want {
				t.Errorf("got  %q\nwant %q", strings.Join(got, "|"), c.want)
			}
		})
	}
}

// TestWordsForDaysAreDates where the date of the first message is told, and else stay questions.
func TestWordsForDaysAreDates(t *testing.T) {
	for _, c := range []struct{ name, first, second, want string }{
		{"today", "Today at", "Today at", "2019-02-05 2019-02-05 0"},
		{"yesterday and today", "Yesterday at", "Today at", "2019-02-05 2019-02-06 0"},
		{"weekdays", "Tuesday at", "Thursday at", "2019-02-05 2019-02-07 0"},
		{"another weekday than the told date", "Monday at", "Monday at", "  2"},
		{"today after a weekday", "Tuesday at", "Today at", "2019-02-05  1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			export, err := chat.Parse(fmt.Appendf(nil, "Alice — %s 2:03 PM\na\nBob — %s 2:04 PM\nb\n", c.first, c.second),
				chat.Options{Date: "2019-02-05", Zone: time.UTC})
			if err != nil || len(export.Messages) != 2 {
				t.Fatal(err, export.Messages)
			}
			got := fmt.Sprintf("%s %s %d", export.Messages[0].Date, export.Messages[1].Date, len(export.Questions))
			if got != c.want {
				t.Errorf("got %q, want %q: %v", got, c.want, export.Questions)
			}
		})
	}
}

// TestOneOddMessageDoesNotStopAnImport: a time that is a number is read, and a field of another type is asked about.
func TestOneOddMessageDoesNotStopAnImport(t *testing.T) {
	export, err := chat.Parse([]byte(`[{"user":"ann","ts":1549384020.0001,"text":"a"},`+
		`{"user":"bob","ts":"1549384080.0","text":7},{"user":"cy","ts":"1549384140.0","text":"c"}]`), chat.Options{})
	if err != nil || len(export.Messages) != 3 {
		t.Fatal(err, export.Messages)
	}
	if got := shown(export.Messages[0]); got != "ann 2019-02-05 16:27 +00:00 a" {
		t.Error(got)
	}
	if len(export.Questions) != 1 || !strings.Contains(export.Questions[0].Text, "text") {
		t.Errorf("questions %v", export.Questions)
	}
}

func shown(m chat.Message) string {
	date, zone, marks := "?", "?", ""
	if m.Date != "" {
		date = m.Date
	}
	if !m.At.IsZero() {
		zone = m.At.Format("-07:00")
	}
	if m.Edited {
		marks += " edited"
	}
	if m.Bot {
		marks += " bot"
	}
	return fmt.Sprintf("%s %s %02d:%02d %s %s%s", m.Author, date, m.Clock.Hour, m.Clock.Minute, zone, m.Text, marks)
}

func TestBounds(t *testing.T) {
	if _, err := chat.Parse(make([]byte, 16<<20+1), chat.Options{}); !errors.Is(err, chat.ErrTooLarge) {
		t.Error(err)
	}
	many := strings.Repeat("[2019-02-05 08:27:33] <a> b\n", 200_001)
	if _, err := chat.Parse([]byte(many), chat.Options{}); !errors.Is(err, chat.ErrTooLarge) {
		t.Error(err)
	}
	export, err := chat.Parse([]byte("[2019-02-05 08:27:33] <a> "+strings.Repeat("x", 1<<17)), chat.Options{})
	if err != nil || len(export.Messages) != 1 || len(export.Messages[0].Text) > 64<<10 {
		t.Error("a long line isn't cut")
	}
	if _, err := chat.Parse(nil, chat.Options{Date: "2019-02-30"}); err == nil {
		t.Error("an impossible date is taken")
	}
}

func BenchmarkParse(b *testing.B) {
	raw := []byte(dated + strings.Repeat(">Ann [8:27 AM]  \nIt's prow bump time!  \nFor real at 9:00, "+
		"probably.\n>\n", 10_000))
	for b.Loop() {
		if _, err := chat.Parse(raw, chat.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

package chat_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"salve/internal/report/chat"
)

// TestGeneratedChatsAreRead makes chats in every form, with traps among their texts: at least 98 % of the messages
// have the right name and time, and none has a wrong date unless something is asked.
func TestGeneratedChatsAreRead(t *testing.T) {
	forms := []string{">%s [%s]  \n", "> %s [%s]\n", "%s   [%s]\n", "%s  %s\n", "%s\n  %s\n", "%s %s\n"}
	traps := []string{"", "```\n\n[08:12] Bob Log\nBob [9:99 AM]\n```", "see you at 9:30 AM", "we rolled back [9:12 AM]",
		"time=\"2019-02-09T00:11:37Z\" level=warning", "ann\n#11205 Revert", "(edited) is a mark", "2019-01-01"}
	names := []string{"ann", "Bob Lee", "stevekuznetsov", "Zoë"}
	total, right := 0, 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 14))
		form := forms[r.IntN(len(forms))]
		var text strings.Builder
		text.WriteString("## Chat of 2019-02-05 (PST)\n\n")
		minute, want := r.IntN(1440), map[string]int{}
		for range 20 {
			hour := minute / 60 % 24
			half := [2]string{"AM", "PM"}[hour/12]
			name := names[r.IntN(len(names))]
			fmt.Fprintf(&text, form, name, fmt.Sprintf("%d:%02d %s", (hour+11)%12+1, minute%60, half))
			fmt.Fprintf(&text, "hello\n%s\nbye\n\n", traps[r.IntN(len(traps))])
			want[fmt.Sprintf("%s 2019-02-%02d %02d:%02d", name, 5+minute/1440, hour, minute%60)]++
			total++
			minute += r.IntN(40)
		}
		export, err := chat.Parse([]byte(text.String()), chat.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range export.Messages {
			key := fmt.Sprintf("%s %s %02d:%02d", m.Author, m.Date, m.Clock.Hour, m.Clock.Minute)
			switch {
			case want[key] > 0:
				want[key]--
				right++
			case m.Date != "" && len(export.Questions) == 0:
				t.Errorf("seed %d, line %d: %s is wrong and nothing is asked", seed, m.Line, key)
			}
		}
	}
	t.Logf("%d of %d messages are right", right, total)
	if right*100 < total*98 {
		t.Errorf("%d of %d messages are right", right, total)
	}
}

package cli

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"system", "infra", "check", "plan", "aks-recreate-pool"}
	for word, want := range map[string]string{
		"systm": "system", "systme": "system", "SYSTEM": "system", "infar": "infra", "chek": "check", "pan": "plan",
		"aks-recreat-pol": "aks-recreate-pool", "gpu": "", "x": "", "": "",
	} {
		if got := nearest(word, words); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}

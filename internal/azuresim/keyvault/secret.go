package keyvault

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// secret is one of a vault, in its only version.
type secret struct {
	name, value, kind string
	set               time.Time
	version           int
}

func (v *Vaults) secret(asked *call) (int, any, error) {
	name := strings.ToLower(asked.object[1])
	switch asked.Method {
	case http.MethodPut:
		var sent struct {
			Value string `json:"value"`
			Kind  string `json:"contentType"`
		}
		if err := body(asked, &sent); err != nil {
			return 0, nil, err
		}
		there, err := v.opened(asked.vault)
		if err != nil {
			return 0, nil, err
		}
		version := 1
		if before := there.secrets[name]; before != nil {
			version = before.version + 1
		}
		made := &secret{name: asked.object[1], value: sent.Value, kind: sent.Kind, set: v.clock.Now(), version: version}
		there.secrets[name] = made
		return http.StatusOK, made.bundle(asked), nil
	case http.MethodGet:
		held := v.found(asked.vault).secrets[name]
		if held == nil || len(asked.object) == 3 && asked.object[2] != held.id() {
			return 0, nil, &refusal{http.StatusNotFound, "SecretNotFound", fmt.Sprintf(
				"A secret with (name/id) %s was not found in this key vault.", strings.Join(asked.object[1:], "/"))}
		}
		return http.StatusOK, held.bundle(asked), nil
	}
	return unknown(asked)
}

func (s *secret) id() string { return fmt.Sprintf("%032x", s.version) }

func (s *secret) bundle(asked *call) map[string]any {
	return map[string]any{
		"value": s.value, "contentType": s.kind, "id": asked.base + "/secrets/" + s.name + "/" + s.id(),
		"attributes": map[string]any{"enabled": true, "created": s.set.Unix(), "updated": s.set.Unix()},
	}
}

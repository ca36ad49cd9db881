package keyvault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"salve/internal/clock"
)

// Prefix begins the paths of all vaults of the embedded Azure: PREFIX/NAME is there what https://NAME.vault.azure.net
// is elsewhere.
const Prefix = "/keyvault/"

// issuing is how long a certificate takes.
const issuing = 5 * time.Second

// maxBody bounds what a caller may send, in bytes; maxObjects what all vaults keep.
const (
	maxBody    = 64 << 10
	maxObjects = 1000
)

// Vaults are all key vaults, made when they are first written to.
type Vaults struct {
	clock clock.Clock

	mu   sync.Mutex
	held map[string]*vault
}

// vault is what one holds, by lower-case names: a vault's names know no case.
type vault struct {
	certificates map[string]*certificate
	secrets      map[string]*secret
}

// New makes vaults that hold nothing.
func New(c clock.Clock) *Vaults { return &Vaults{clock: c, held: map[string]*vault{}} }

// objectName is the rule for names of certificates and secrets:
// https://learn.microsoft.com/azure/key-vault/general/about-keys-secrets-certificates
var objectName = regexp.MustCompile(`^[0-9a-zA-Z-]{1,127}$`)

// call is a request that leads to an object of a vault.
type call struct {
	*http.Request
	// base is the vault's address, object is what is asked for, such as certificates/frontend/pending.
	base   string
	vault  string
	object []string
}

// refusal is an answer in the service's own form of an error.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

// ServeHTTP answers a call to a vault.
func (v *Vaults) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	status, body, err := v.answer(request)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		status, body = refused.status, map[string]any{"error": map[string]any{
			"code": refused.code, "message": refused.message}}
	case err != nil:
		status, body = http.StatusInternalServerError, map[string]any{"error": map[string]any{
			"code": "InternalServerError", "message": err.Error()}}
	}
	response.Header().Set("Content-Type", "application/json; charset=utf-8")
	if status == http.StatusUnauthorized {
		response.Header().Set("WWW-Authenticate", `Bearer authorization="`+address(request)+`/common", resource="`+
			"https://vault.azure.net"+`"`)
	}
	response.WriteHeader(status)
	_ = json.NewEncoder(response).Encode(body) // who does not read its answer knows that
}

func address(request *http.Request) string {
	scheme := "https"
	if request.TLS == nil {
		scheme = "http"
	}
	return scheme + "://" + request.Host
}

func (v *Vaults) answer(request *http.Request) (int, any, error) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(request.URL.Path, Prefix), "/")
	asked := &call{Request: request, vault: strings.ToLower(name), base: address(request) + Prefix + name,
		object: strings.Split(strings.Trim(rest, "/"), "/")}
	if !strings.HasPrefix(request.Header.Get("Authorization"), "Bearer ") {
		return 0, nil, &refusal{http.StatusUnauthorized, "Unauthorized",
			"AKV10000: Request is missing a Bearer or PoP token."}
	}
	if version := request.URL.Query().Get("api-version"); !strings.HasPrefix(version, "7.") &&
		!strings.HasPrefix(version, "2025-") {
		return 0, nil, &refusal{http.StatusBadRequest, "BadParameter",
			"The request URI contains an invalid or no api-version: " + version}
	}
	if len(asked.object) > 1 && !objectName.MatchString(asked.object[1]) {
		return 0, nil, &refusal{http.StatusBadRequest, "BadParameter",
			"The request URI contains an invalid name: " + asked.object[1]}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch kind := asked.object[0]; {
	case kind == "certificates" && len(asked.object) > 1:
		return v.certificate(asked)
	case kind == "secrets" && (len(asked.object) == 2 || len(asked.object) == 3):
		return v.secret(asked)
	}
	return unknown(asked)
}

func unknown(asked *call) (int, any, error) {
	return 0, nil, &refusal{http.StatusNotImplemented, "NotImplemented", fmt.Sprintf(
		"the embedded Azure does not know this call of a key vault: %s %s", asked.Method, strings.Join(asked.object, "/"))}
}

// found is a vault; one that was never written to holds nothing.
func (v *Vaults) found(name string) *vault {
	if held := v.held[name]; held != nil {
		return held
	}
	return &vault{certificates: map[string]*certificate{}, secrets: map[string]*secret{}}
}

// opened is a vault to write to, made at the first time, while there is room for more.
func (v *Vaults) opened(name string) (*vault, error) {
	kept := 0
	for _, one := range v.held {
		kept += len(one.certificates) + len(one.secrets)
	}
	if kept >= maxObjects {
		return nil, &refusal{http.StatusTooManyRequests, "Throttled", "the embedded Azure's key vaults are full"}
	}
	v.held[name] = v.found(name)
	return v.held[name], nil
}

// body reads what was sent. Fields that are not known here are passed over.
func body(asked *call, into any) error {
	raw, err := io.ReadAll(io.LimitReader(asked.Body, maxBody+1))
	if err != nil {
		return err
	}
	if len(raw) > maxBody {
		return &refusal{http.StatusRequestEntityTooLarge, "RequestBodyTooLarge", "the body is too large"}
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return &refusal{http.StatusBadRequest, "BadParameter", "The request body is invalid: " + err.Error()}
	}
	return nil
}

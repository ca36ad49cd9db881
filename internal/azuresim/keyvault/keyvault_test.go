package keyvault_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"salve/internal/azuresim/keyvault"
	"salve/internal/clock"
)

// bench asks vaults as somebody with a token.
type bench struct {
	t      *testing.T
	vaults *keyvault.Vaults
}

func (b bench) asks(method, path, body string, change ...func(*http.Request)) (int, map[string]any) {
	b.t.Helper()
	request := httptest.NewRequest(method, keyvault.Prefix+path, bytes.NewBufferString(body))
	request.Header.Set("Authorization", "Bearer any")
	for _, one := range change {
		one(request)
	}
	recorder := httptest.NewRecorder()
	b.vaults.ServeHTTP(recorder, request)
	raw, err := io.ReadAll(recorder.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	var said map[string]any
	if err := json.Unmarshal(raw, &said); err != nil {
		b.t.Fatalf("%s: %v", raw, err)
	}
	return recorder.Code, said
}

const policy = `{"policy":{"issuer":{"name":"Self"},"x509_props":{"subject":"CN=a.example","validity_months":12,` +
	`"sans":{"dns_names":["a.example","b.example"]}}}}`

func TestACertificateIsIssued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bench{t, keyvault.New(clock.Real{})}
		if code, said := b.asks("GET", "kv/certificates/a?api-version=7.4", ""); code != 404 ||
			said["error"].(map[string]any)["code"] != "CertificateNotFound" {
			t.Errorf("before it is asked for: %d %v", code, said)
		}
		if code, said := b.asks("POST", "kv/certificates/a/create?api-version=7.4", policy); code != 202 ||
			said["status"] != "inProgress" {
			t.Fatalf("%d %v", code, said)
		}
		if code, _ := b.asks("POST", "kv/certificates/A/create?api-version=7.4", policy); code != 409 {
			t.Errorf("while one is on its way: %d", code)
		}
		if code, _ := b.asks("GET", "kv/certificates/a?api-version=7.4", ""); code != 404 {
			t.Errorf("while it is on its way: %d", code)
		}
		time.Sleep(6 * time.Second)
		if _, said := b.asks("GET", "kv/certificates/a/pending?api-version=7.4", ""); said["status"] != "completed" {
			t.Errorf("then: %v", said)
		}
		_, said := b.asks("GET", "kv/certificates/a?api-version=7.4", "")
		der, err := base64.StdEncoding.DecodeString(said["cer"].(string))
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := x509.ParseCertificate(der)
		if err != nil || certificate.VerifyHostname("b.example") != nil {
			t.Errorf("%v, %v", certificate, err)
		}
		if code, _ := b.asks("GET", "other/certificates/a?api-version=7.4", ""); code != 404 {
			t.Errorf("another vault has it: %d", code)
		}
	})
}

func TestSecrets(t *testing.T) {
	b := bench{t, keyvault.New(clock.Real{})}
	if code, _ := b.asks("PUT", "kv/secrets/pull?api-version=7.4", `{"value":"hush"}`); code != 200 {
		t.Fatal(code)
	}
	if code, said := b.asks("GET", "kv/secrets/pull?api-version=7.4", ""); code != 200 || said["value"] != "hush" {
		t.Errorf("%d %v", code, said)
	}
}

// TestVaultsAreFullAtLast, by what they keep and not by how often it was written.
func TestVaultsAreFullAtLast(t *testing.T) {
	b := bench{t, keyvault.New(clock.Real{})}
	put := func(name string) int {
		code, _ := b.asks("PUT", "kv/secrets/"+name+"?api-version=7.4", `{"value":"x"}`)
		return code
	}
	for range 1100 {
		if code := put("same"); code != 200 {
			t.Fatalf("one secret, written often: %d", code)
		}
	}
	for n := range 999 {
		if code := put(fmt.Sprint("n", n)); code != 200 {
			t.Fatalf("secret %d: %d", n, code)
		}
	}
	if code := put("more"); code != 429 {
		t.Errorf("one more: %d", code)
	}
}

func TestRefusals(t *testing.T) {
	b := bench{t, keyvault.New(clock.Real{})}
	nobody := func(r *http.Request) { r.Header.Del("Authorization") }
	for rule, test := range map[string]struct {
		method, path, body string
		change             func(*http.Request)
		want               int
	}{
		"nobody":                  {"GET", "kv/secrets/a?api-version=7.4", "", nobody, 401},
		"no version":              {"GET", "kv/secrets/a", "", nil, 400},
		"another version":         {"GET", "kv/secrets/a?api-version=2015-06-01", "", nil, 400},
		"a name that is none":     {"GET", "kv/secrets/a_b?api-version=7.4", "", nil, 400},
		"an absent secret":        {"GET", "kv/secrets/a?api-version=7.4", "", nil, 404},
		"a body that is none":     {"PUT", "kv/secrets/a?api-version=7.4", "{", nil, 400},
		"a policy without issuer": {"POST", "kv/certificates/a/create?api-version=7.4", `{"policy":{}}`, nil, 400},
		"what is not known":       {"GET", "kv/keys/a?api-version=7.4", "", nil, 501},
		"a deletion":              {"DELETE", "kv/secrets/a?api-version=7.4", "", nil, 501},
		"the list":                {"GET", "kv/certificates?api-version=7.4", "", nil, 501},
	} {
		changes := []func(*http.Request){}
		if test.change != nil {
			changes = append(changes, test.change)
		}
		if code, said := b.asks(test.method, test.path, test.body, changes...); code != test.want {
			t.Errorf("%s: %d %v, want %d", rule, code, said, test.want)
		}
	}
}

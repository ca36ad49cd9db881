package keyvault

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // G505: it is what a thumbprint is
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"time"
)

// certificate is one of a vault, or on its way.
type certificate struct {
	name     string
	policy   policy
	asked    time.Time
	ready    time.Time
	der      []byte
	version  string
	lifetime time.Duration
}

// policy is what a certificate is asked for with; the rest of what the service knows is kept and shown again.
type policy struct {
	Issuer struct {
		Name string `json:"name"`
	} `json:"issuer"`
	SecretProperties map[string]any `json:"secret_props,omitempty"`
	KeyProperties    map[string]any `json:"key_props,omitempty"`
	X509             struct {
		Subject  string `json:"subject"`
		Validity int    `json:"validity_months"`
		SANs     struct {
			DNSNames []string `json:"dns_names"`
		} `json:"sans"`
	} `json:"x509_props"`
}

func (v *Vaults) certificate(asked *call) (int, any, error) {
	name := strings.ToLower(asked.object[1])
	what := ""
	if len(asked.object) == 3 {
		what = asked.object[2]
	}
	held := v.found(asked.vault).certificates[name]
	switch {
	case asked.Method == http.MethodPost && what == "create":
		return v.issue(asked, name)
	case asked.Method != http.MethodGet || len(asked.object) > 3:
		return unknown(asked)
	case held == nil:
		return 0, nil, &refusal{http.StatusNotFound, "CertificateNotFound", fmt.Sprintf("A certificate with (name/id) %s "+
			"was not found in this key vault. If you recently deleted this certificate you may be able to recover it using the "+
			"correct recovery command.", asked.object[1])}
	case what == "pending":
		return http.StatusOK, v.operation(asked, held), nil
	case v.clock.Now().Before(held.ready):
		return 0, nil, &refusal{http.StatusNotFound, "CertificateNotFound", fmt.Sprintf(
			"A certificate with (name/id) %s was not found in this key vault.", asked.object[1])}
	case what == "policy":
		return http.StatusOK, held.policy, nil
	case what != "" && what != held.version:
		return 0, nil, &refusal{http.StatusNotFound, "CertificateNotFound", fmt.Sprintf(
			"A certificate with (name/id) %s/%s was not found in this key vault.", asked.object[1], what)}
	}
	return http.StatusOK, held.bundle(asked), nil
}

// issue begins a certificate. One that is on its way keeps another one from being begun.
func (v *Vaults) issue(asked *call, name string) (int, any, error) {
	var sent struct {
		Policy policy `json:"policy"`
	}
	if err := body(asked, &sent); err != nil {
		return 0, nil, err
	}
	if sent.Policy.Issuer.Name == "" || sent.Policy.X509.Subject == "" {
		return 0, nil, &refusal{http.StatusBadRequest, "BadParameter",
			"Property policy has an invalid value: an issuer and a subject are required"}
	}
	there, err := v.opened(asked.vault)
	if err != nil {
		return 0, nil, err
	}
	now := v.clock.Now()
	if held := there.certificates[name]; held != nil && now.Before(held.ready) {
		return 0, nil, &refusal{http.StatusConflict, "Conflict",
			"There is already a certificate operation in progress for " + name}
	}
	made := &certificate{name: asked.object[1], policy: sent.Policy, asked: now, ready: now.Add(issuing)}
	if err := made.sign(); err != nil {
		return 0, nil, err
	}
	there.certificates[name] = made
	return http.StatusAccepted, v.operation(asked, made), nil
}

// sign makes the certificate itself.
func (c *certificate) sign() error {
	months := c.policy.X509.Validity
	if months <= 0 || months > 120 {
		months = 12
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(c.asked.UnixNano()),
		Subject:      pkix.Name{CommonName: strings.TrimPrefix(c.policy.X509.Subject, "CN=")},
		NotBefore:    c.asked, NotAfter: c.asked.AddDate(0, months, 0), DNSNames: c.policy.X509.SANs.DNSNames,
	}
	c.der, err = x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return &refusal{http.StatusBadRequest, "BadParameter", "Property policy has an invalid value: " + err.Error()}
	}
	c.lifetime = template.NotAfter.Sub(template.NotBefore)
	version := sha1.Sum(append([]byte("version"), c.der...)) //nolint:gosec // G401: it is a name
	c.version = hex.EncodeToString(version[:16])
	return nil
}

func (v *Vaults) operation(asked *call, of *certificate) map[string]any {
	id := asked.base + "/certificates/" + of.name
	seen := map[string]any{
		"id": id + "/pending", "issuer": map[string]any{"name": of.policy.Issuer.Name},
		"cancellation_requested": false, "request_id": of.version, "status": "inProgress",
		"status_details": "Pending certificate created. Certificate request is in progress.",
	}
	if !v.clock.Now().Before(of.ready) {
		seen["status"], seen["target"] = "completed", id
		delete(seen, "status_details")
	}
	return seen
}

func (c *certificate) bundle(asked *call) map[string]any {
	thumbprint := sha1.Sum(c.der) //nolint:gosec // G401: it is what a thumbprint is
	object := func(kind string) string { return asked.base + "/" + kind + "/" + c.name + "/" + c.version }
	return map[string]any{
		"id": object("certificates"), "kid": object("keys"), "sid": object("secrets"),
		"x5t": base64.RawURLEncoding.EncodeToString(thumbprint[:]), "cer": base64.StdEncoding.EncodeToString(c.der),
		"attributes": map[string]any{
			"enabled": true, "nbf": c.asked.Unix(), "exp": c.asked.Add(c.lifetime).Unix(), "created": c.ready.Unix(),
			"updated": c.ready.Unix(), "recoveryLevel": "Recoverable+Purgeable",
		},
		"policy": c.policy,
	}
}

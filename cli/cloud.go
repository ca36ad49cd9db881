package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/spf13/pflag"
)

// cloudFlags say where ARM, the token service and the cluster's API are.
type cloudFlags struct {
	name, endpoint, audience, authority, ca string
	kubernetesFlags
}

func (c *cloudFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.name, "cloud", "public", "which Azure: public, china or usgov")
	flags.StringVar(&c.endpoint, "arm-endpoint", "", "URL of an ARM of your own, instead of --cloud")
	flags.StringVar(&c.audience, "arm-audience", "", "what tokens for --arm-endpoint are for (default: its URL)")
	flags.StringVar(&c.authority, "authority-host", "",
		"URL of the token service that goes with --arm-endpoint (default: the public one)")
	c.kubernetesFlags.addFlags(flags, "ask ARM for one")
	flags.StringVar(&c.ca, "arm-ca", "", "PEM file of the authority that signed the certificate of --arm-endpoint")
}

// check finds invalid flags.
func (c *cloudFlags) check() error {
	if c.context != "" && c.kubeconfig == "" {
		return usage("--context goes with --kubeconfig, which is missing")
	}
	return c.checkARM()
}

// checkARM finds invalid flags about ARM.
func (c *cloudFlags) checkARM() error {
	if err := knownCloud(c.name); err != nil {
		return usage("invalid --cloud %q: %v", c.name, err)
	}
	if c.endpoint == "" {
		for flag, text := range map[string]string{"arm-audience": c.audience, "authority-host": c.authority, "arm-ca": c.ca} {
			if text != "" {
				return usage("--%s goes with --arm-endpoint, which is missing", flag)
			}
		}
		return nil
	}
	for flag, text := range map[string]string{"arm-endpoint": c.endpoint, "authority-host": c.authority} {
		if err := httpsURL(text); text != "" && err != nil {
			return usage("invalid --%s %q: %v", flag, text, err)
		}
	}
	_, err := c.transport()
	return err
}

func knownCloud(name string) error {
	if _, known := clouds()[name]; !known {
		return errors.New("it must be public, china or usgov")
	}
	return nil
}

func httpsURL(text string) error {
	if where, err := url.Parse(text); err != nil || where.Scheme != "https" || where.Host == "" {
		return errors.New("it must be a URL that begins with https://")
	}
	return nil
}

func clouds() map[string]cloud.Configuration {
	return map[string]cloud.Configuration{
		"public": cloud.AzurePublic, "china": cloud.AzureChina, "usgov": cloud.AzureGovernment,
	}
}

// configuration is the cloud in the SDK's words.
func (c *cloudFlags) configuration() cloud.Configuration {
	if c.endpoint == "" {
		return clouds()[c.name]
	}
	authority, audience := c.authority, c.audience
	if authority == "" {
		authority = cloud.AzurePublic.ActiveDirectoryAuthorityHost
	}
	if audience == "" {
		audience = c.endpoint
	}
	return cloud.Configuration{
		ActiveDirectoryAuthorityHost: authority,
		Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
			cloud.ResourceManager: {Endpoint: c.endpoint, Audience: audience},
		},
	}
}

// transport trusts the own authority besides the system's; nil is each client's own.
func (c *cloudFlags) transport() (http.RoundTripper, error) {
	if c.ca == "" {
		return nil, nil
	}
	pem, err := readBounded(c.ca, largestDocument)
	if err != nil {
		return nil, usage("--arm-ca: %v", err)
	}
	trusted, err := x509.SystemCertPool()
	if err != nil {
		trusted = x509.NewCertPool() // a system without authorities of its own
	}
	if !trusted.AppendCertsFromPEM(pem) {
		return nil, usage("--arm-ca %q: no PEM certificate found in it", c.ca)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	return transport, nil
}

package kubetest

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const lookEvery = 50 * time.Millisecond

// writeKeys makes the key of service accounts and the tokens of the users: admin,
// and the one who stands in for users of tests, whose requests are recorded.
func (c *ControlPlane) writeKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return err
	}
	admin, standIn, runner := rand.Text(), rand.Text(), rand.Text()
	for name, content := range map[string][]byte{
		"accounts.key": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"accounts.pub": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		"tokens.csv": []byte(admin + ",admin,admin,system:masters\n" + standIn + "," + standsIn + "," + standsIn +
			",system:masters\n" + runner + "," + Runner + "," + Runner + "\n"),
		"audit.yaml": []byte(auditPolicy),
	} {
		if err := os.WriteFile(c.file(name), content, 0o600); err != nil {
			return err
		}
	}
	return c.writeKubeconfig(admin, standIn, runner)
}

func (c *ControlPlane) writeKubeconfig(admin, standIn, runner string) error {
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"test": {
			Server: fmt.Sprintf("https://127.0.0.1:%d", c.ports.api), CertificateAuthority: c.file("apiserver/apiserver.crt"),
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			"admin": {Token: admin}, standsIn: {Token: standIn}, Runner: {Token: runner},
		},
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "admin"}},
		CurrentContext: "test",
	}, c.kubeconfig)
}

// connect makes the client as soon as the API server has made its certificate,
// and waits until it is ready.
func (c *ControlPlane) connect(ctx context.Context) error {
	err := c.until(ctx, "kube-apiserver", func() error {
		_, err := os.Stat(c.file("apiserver/apiserver.crt"))
		return err
	})
	if err != nil {
		return err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.kubeconfig); err != nil {
		return err
	}
	c.config.QPS = -1
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		return err
	}
	return c.awaitReady(ctx)
}

func (c *ControlPlane) awaitReady(ctx context.Context) error {
	return c.until(ctx, "kube-apiserver", func() error {
		limited, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := c.client.Discovery().RESTClient().Get().AbsPath("/readyz").MaxRetries(0).DoRaw(limited)
		return err
	})
}

// awaitControllers waits until the controllers work: the first service account
// is theirs to make.
func (c *ControlPlane) awaitControllers(ctx context.Context) error {
	return c.until(ctx, "kube-controller-manager", func() error {
		_, err := c.client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// until asks again and again, as long as the program lives and ctx lets it.
func (c *ControlPlane) until(ctx context.Context, name string, ask func() error) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		err := ask()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, c.failure(name, "did not become ready"))
		case <-c.process(name).done:
			return c.failure(name, "ended")
		case <-ticker.C:
		}
	}
}

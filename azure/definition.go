package azure

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"

	"salve/internal/apierr"
)

// Definition is an agent pool's complete body as ARM answered it. It is kept raw,
// so that properties which this program has never heard of survive.
type Definition json.RawMessage

// readOnly are the properties that ARM answers and does not accept, or that
// would pin what a new pool must choose afresh.
func readOnly() []string {
	return []string{
		"provisioningState", "currentOrchestratorVersion", "nodeImageVersion", "powerState", "creationData", "eTag",
	}
}

// managedTag begins the tags that AKS sets by itself.
const managedTag = "aks-managed-"

// MarshalJSON gives the body itself.
func (d Definition) MarshalJSON() ([]byte, error) { return json.RawMessage(d).MarshalJSON() }

// UnmarshalJSON keeps the body itself; null is none.
func (d *Definition) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*d = nil
		return nil
	}
	return (*json.RawMessage)(d).UnmarshalJSON(raw)
}

// Model reads the body as the SDK's type.
func (d Definition) Model() (armcontainerservice.AgentPool, error) {
	var pool armcontainerservice.AgentPool
	if err := json.Unmarshal(d, &pool); err != nil {
		return pool, apierr.New(apierr.Terminal, "reading an agent pool's definition: %w", err)
	}
	if pool.Properties == nil {
		return pool, apierr.New(apierr.Terminal, "reading an agent pool's definition: it has no properties")
	}
	return pool, nil
}

// Pool is what the definition says, as a cluster's answer would.
func (d Definition) Pool() (Pool, error) {
	model, err := d.Model()
	if err != nil {
		return Pool{}, err
	}
	p := model.Properties
	pool := Pool{
		Name: value(model.Name), State: value(p.ProvisioningState), ETag: value(p.ETag), Mode: string(value(p.Mode)),
		OSType: string(value(p.OSType)), Count: int(value(p.Count)), Tags: values(p.Tags), Labels: values(p.NodeLabels),
	}
	pool.MinCount = minCount(pool.Count, p.EnableAutoScaling, p.MinCount)
	return pool, nil
}

// State is the provisioningState; empty when there is none.
func (d Definition) State() string {
	pool, _ := d.Pool() // what can't be read has none
	return pool.State
}

// ETag is what If-Match takes; empty when there is none.
func (d Definition) ETag() string {
	pool, _ := d.Pool() // what can't be read has none
	return pool.ETag
}

// Sanitized gives the body with which the same pool can be created: without what
// ARM computes, at the control plane's version, so that no downgrade is asked
// for. The definition itself stays as it is.
func (d Definition) Sanitized(version string) (Definition, error) {
	return d.With(func(properties map[string]any) {
		if version != "" {
			properties["orchestratorVersion"] = version
		}
	})
}

// With gives a creatable body that edit changed further.
func (d Definition) With(edit func(properties map[string]any)) (Definition, error) {
	body, properties, err := d.open()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"id", "name", "type"} {
		delete(body, name)
	}
	strip(properties)
	edit(properties)
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encoding an agent pool's definition: %w", err)
	}
	return raw, nil
}

func strip(properties map[string]any) {
	for _, name := range readOnly() {
		delete(properties, name)
	}
	tags, _ := properties["tags"].(map[string]any)
	for tag := range tags {
		if strings.HasPrefix(tag, managedTag) {
			delete(tags, tag)
		}
	}
}

func (d Definition) open() (body, properties map[string]any, err error) {
	decoder := json.NewDecoder(strings.NewReader(string(d)))
	decoder.UseNumber() // a large number must not come back as a float
	if err := decoder.Decode(&body); err != nil {
		return nil, nil, apierr.New(apierr.Terminal, "reading an agent pool's definition: %w", err)
	}
	properties, ok := body["properties"].(map[string]any)
	if !ok {
		return nil, nil, apierr.New(apierr.Terminal, "reading an agent pool's definition: it has no properties")
	}
	return body, properties, nil
}

// Differences names the properties, read-only ones and the version aside, in
// which two definitions differ. A pool that the autoscaler runs may have any
// count.
func (d Definition) Differences(other Definition) ([]string, error) {
	_, ours, err := d.open()
	if err != nil {
		return nil, err
	}
	_, theirs, err := other.open()
	if err != nil {
		return nil, err
	}
	autoscaled, _ := ours["enableAutoScaling"].(bool)
	ignored := map[string]bool{"orchestratorVersion": true, "count": autoscaled}
	strip(ours)
	strip(theirs)
	var different []string
	for _, name := range slices.Sorted(maps.Keys(union(ours, theirs))) {
		if !ignored[name] && !same(ours[name], theirs[name]) {
			different = append(different, fmt.Sprintf("%s: %v, not %v", name, theirs[name], ours[name]))
		}
	}
	return different, nil
}

func union(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// same compares values; an empty collection and an absent one are the same to ARM.
func same(a, b any) bool { return empty(a) && empty(b) || reflect.DeepEqual(a, b) }

func empty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

package recordable

import (
	jsonv2 "github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Unmarshal reads what json.Marshal wrote, by the rules of encoding/json, and goes over the text once where that
// goes several times. Reading is most of what it costs to make the decisions of a folder of records again.
func Unmarshal(raw []byte, into any) error {
	return jsonv2.Unmarshal(raw, into, jsonv1.DefaultOptionsV1())
}

// UnmarshalStrict is Unmarshal, and refuses members that the type does not have.
func UnmarshalStrict(raw []byte, into any) error {
	return jsonv2.Unmarshal(raw, into, jsonv1.DefaultOptionsV1(), jsonv2.RejectUnknownMembers(true))
}

package redact

import (
	"encoding/json"
	"math/rand"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
)

const token = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"

func TestJSONMasksValues(t *testing.T) {
	for name, row := range map[string]struct{ given, want string }{
		"a value under a secret's name": {`{"password": "x y", "a": 1}`, `{"password": "[redacted]", "a": 1}`},
		"camel case":                    {`{"adminPassword":"x"}`, `{"adminPassword":"[redacted]"}`},
		"an argument": {`["--password=", "--password=hunter2"]`,
			`["--password=", "--password=[redacted]"]`},
		"a namespace called onepassword": {`{"namespace":"onepassword","left":["onepassword"]}`,
			`{"namespace":"onepassword","left":["onepassword"]}`},
		"a token by its name": {`{"token":"t","bootstrapToken":"t","api_key":"k","apiKey":"k","x-api-key":"k"}`,
			`{"token":"[redacted]","bootstrapToken":"[redacted]","api_key":"[redacted]",` +
				`"apiKey":"[redacted]","x-api-key":"[redacted]"}`},
		"what is about tokens": {`{"tokens":"12","tokenFile":"x","token_type":"y"}`,
			`{"tokens":"12","tokenFile":"x","token_type":"y"}`},
		"a field called onepassword":     {`{"onepassword":"there"}`, `{"onepassword":"there"}`},
		"JSON in a string":               {`"{\"password\": \"x\"}"`, `"{\"password\": \"[redacted]\"}"`},
		"a token beside an escape":       {`"Bearer ` + token + `\u0026\""`, `"Bearer [redacted]\u0026\""`},
		"a number under a secret's name": {`{"password":7}`, `{"password":7}`},
		"a list under a secret's name":   {`{"password":["x",{"b":"y"}]}`, `{"password":["[redacted]",{"b":"y"}]}`},
		"a key that is a secret":         {`{"` + token + `":1}`, `{"[redacted]":1}`},
		"white space and numbers are kept": {"{ \"a\" : [ 1.50 , 1e3 , true , null ] }\n",
			"{ \"a\" : [ 1.50 , 1e3 , true , null ] }\n"},
		"an empty value is not one":           {`{"password":""}`, `{"password":""}`},
		"a quote does not end what is masked": {`{"password":"a\"b","c":"d"}`, `{"password":"[redacted]","c":"d"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(JSON([]byte(row.given)))
			// Strings that were masked are encoded by encoding/json: compare what they say.
			var said, want any
			if err := json.Unmarshal([]byte(got), &said); err != nil {
				t.Fatalf("%s: %v", got, err)
			}
			if err := json.Unmarshal([]byte(row.want), &want); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(said, want) {
				t.Errorf("got %s, want %s", got, row.want)
			}
			if row.given == row.want && got != row.given {
				t.Errorf("what holds no secret was changed: %s", got)
			}
		})
	}
}

// document is random JSON with what looks like secrets in it.
type document struct{ value any }

func (document) Generate(random *rand.Rand, size int) reflect.Value {
	return reflect.ValueOf(document{generate(random, min(size, 4))})
}

var pieces = []string{
	"password", "password=", "password: ", "\"", "\\", "\\\"", "onepassword", token, "Bearer ", "sig=", "&sig=abc",
	"://u:p@h", "\n", "\u2028",
	"-----BEGIN RSA PRIVATE KEY-----", "abc", "é", "\x00", "</script>", "client_secret=", "{\"password\": \"x\"}", "'",
	" ", "token", "token: ", "token=", "abc123def", "--token ", "apiKey", "Authorization: Basic ", "[redacted]",
	"abcdef.0123456789abcdef", "xoxb-1234567890-abcdef", ",", "\"token\":\"",
}

func text(random *rand.Rand) string {
	var parts []string
	for range random.Intn(5) {
		parts = append(parts, pieces[random.Intn(len(pieces))])
	}
	return strings.Join(parts, "")
}

func generate(random *rand.Rand, depth int) any {
	switch kind := random.Intn(6); {
	case kind == 0 && depth > 0:
		fields := map[string]any{}
		for range random.Intn(4) {
			fields[text(random)] = generate(random, depth-1)
		}
		return fields
	case kind == 1 && depth > 0:
		list := []any{}
		for range random.Intn(4) {
			list = append(list, generate(random, depth-1))
		}
		return list
	case kind == 2:
		return random.NormFloat64()
	case kind == 3:
		return random.Intn(2) == 0
	}
	return text(random)
}

// TestMaskedJSONIsJSON: whatever it holds, with the same shape, and masking it again
// changes nothing.
func TestMaskedJSONIsJSON(t *testing.T) {
	holds := func(d document) bool {
		raw, err := json.Marshal(map[string]any{"data": d.value})
		if err != nil {
			return false
		}
		masked := JSON(raw)
		again := JSON(masked)
		return json.Valid(masked) && string(again) == string(masked) && !strings.Contains(string(masked), token)
	}
	if err := quick.Check(holds, &quick.Config{MaxCount: 3000, Rand: rand.New(rand.NewSource(11))}); err != nil {
		t.Error(err)
	}
}

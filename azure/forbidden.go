package azure

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// role is the custom role of deploy/azure-role.json.
const role = "Salve aks-recreate-pool"

// The forms of ARM's messages about missing rights
// (https://learn.microsoft.com/azure/role-based-access-control/troubleshooting).
var (
	lacksAction = regexp.MustCompile(`with object id '([0-9a-fA-F-]{36})' does not have authorization to perform action ` +
		`'([A-Za-z0-9./]+)' over scope '(/[A-Za-z0-9._()/-]*)'`)
	lacksLinked = regexp.MustCompile(`with object id '([0-9a-fA-F-]{36})' has permission to perform action .* ` +
		`does not have permission to perform action(?:\(s\))? '([A-Za-z0-9./]+)' ` +
		`on the linked scope(?:\(s\))? '(/[A-Za-z0-9._()/-]*)'`)
)

// forbidden words a missing right with the command that gives it; empty where the
// message doesn't have a known form. Nothing else of it is put into a command.
func forbidden(message string) string {
	for _, form := range []*regexp.Regexp{lacksAction, lacksLinked} {
		if found := form.FindStringSubmatch(message); found != nil {
			return fmt.Sprintf("forbidden: identity %[1]s lacks %[2]s on %[3]s. "+
				"hint: az role assignment create --assignee %[1]s --role %[4]s --scope '%[3]s' "+
				"(%[5]s)", found[1], found[2], found[3], roleOf(found[2]), roleHint)
		}
	}
	return ""
}

const roleHint = "a role with that action: deploy/azure-role.json"

// roleOf is the role with an action, as a shell reads it.
func roleOf(action string) string {
	for _, provider := range []string{
		"Microsoft.ContainerService/", "Microsoft.Compute/", "Microsoft.Network/", "Microsoft.Insights/",
	} {
		if len(action) > len(provider) && strings.EqualFold(action[:len(provider)], provider) {
			return "'" + role + "'"
		}
	}
	return "ROLE"
}

// pasteable is a scope that can stand in a command between single quotes.
var pasteable = regexp.MustCompile(`^/[A-Za-z0-9._()/-]*$`)

// forbiddenRequest words a missing right by the request, where ARM's message names neither identity, action nor scope.
func forbiddenRequest(response *http.Response, code, message string) string {
	said := fmt.Sprintf("ARM answered 403 %s: %s", short(code), message)
	if response == nil || response.Request == nil || !pasteable.MatchString(response.Request.URL.Path) {
		return "forbidden: " + said
	}
	action, scope := actionOf(response.Request.Method, response.Request.URL.Path)
	if action == "" {
		return "forbidden: " + said
	}
	return fmt.Sprintf("forbidden: the signed-in identity lacks %[1]s on %[2]s (%[3]s). "+
		"hint: az account show tells who it is; then az role assignment create --assignee IDENTITY --role %[4]s "+
		"--scope '%[2]s' (%[5]s)", action, scope, strings.TrimRight(said, ". "), roleOf(action), roleHint)
}

// actionOf is the action that a request takes on the resource of its path
// (https://learn.microsoft.com/azure/role-based-access-control/resource-provider-operations).
func actionOf(method, path string) (action, scope string) {
	at := strings.LastIndex(strings.ToLower(path), "/providers/")
	if at < 0 {
		return "", ""
	}
	segments := strings.Split(strings.Trim(path[at+len("/providers/"):], "/"), "/")
	kind, scope := segments[0], path[:at]
	for i := 1; i < len(segments); i += 2 {
		kind += "/" + segments[i]
	}
	if len(segments)%2 == 1 && len(segments) > 1 {
		scope = path
	}
	verb := map[string]string{
		http.MethodGet: "/read", http.MethodPut: "/write", http.MethodPatch: "/write", http.MethodDelete: "/delete",
		http.MethodPost: "/action",
	}[method]
	if verb == "" || len(segments) < 2 {
		return "", ""
	}
	if verb == "/read" && strings.HasPrefix(strings.ToLower(kind), "microsoft.insights/eventtypes") {
		kind = "Microsoft.Insights/eventtypes/values"
	}
	return kind + verb, scope
}

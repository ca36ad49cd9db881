package azure

// Exempt and CheckedKubeconfig are tested by themselves: what they refuse is more
// than the client sends, or ARM answers.
var (
	NewTransport      = newTransport
	Exempt            = exempt
	CheckedKubeconfig = checkedKubeconfig
)

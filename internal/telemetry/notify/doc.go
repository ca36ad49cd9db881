// Package notify sends one message for each outcome of a run: a CloudEvent to a webhook, or a message to Slack or
// Teams. It must never print where it sends to: the address of a chat's webhook is a secret.
package notify

// Package page writes the draft of a post-mortem as one HTML page that needs nothing else: no network, no script, no
// font. It has the blocks of the Markdown, with their markers, and a picture of what happened.
//
// It must never decide anything: what it writes is what the draft says. Texts of the draft come from journals, logs and
// chats that anybody may have written; none of them may become markup, an address that runs something, or a marker, or
// turn the direction of what is around it. What is left out for want of room is counted.
package page

package permit

// CommentAccess lets a client write and replace its own comments in one repository without a permit: they are told to
// people, and no run is about them. Only the command line gives it; the type is internal so that a runbook of somebody
// else can't.
type CommentAccess struct{ owner, repo string }

// ForComments gives access to the comments of a repository.
func ForComments(owner, repo string) CommentAccess { return CommentAccess{owner, repo} }

// Repository is that of the comments; empty for the zero CommentAccess, which gives access to nothing.
func (a CommentAccess) Repository() (owner, repo string) { return a.owner, a.repo }

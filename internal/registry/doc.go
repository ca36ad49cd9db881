// Package registry is what Salve asks of container registries: whether an image is there, what is attached to it, and
// to copy what lacks from one registry to another.
//
// It never takes a tag's word for what an image is: images are named by digest, and what a registry sends under a
// digest is hashed. It never deletes anything, never moves a tag that names another image, and gives a credential to
// nobody but the registry that it is for and the token service that this one names.
package registry

// Package template understands ARM's JSON templates: parameters, variables, the expression language, copies,
// conditions, dependencies, and outputs.
//
// Parse checks the text; Template.Bind gives the parameters their values and expands the resources into a Plan. What a
// resource is to be, and what a deployment puts out, is evaluated only when its time has come, against the Azure of
// that moment.
//
// What it must never do: know HTTP, know what a resource does, change anything, or read a clock. Where it knows less
// than ARM (user-defined functions, type definitions, linked templates, lambdas, list* functions; copyIndex() in a
// nested template that is evaluated in the scope of the outer one) it refuses by name. Messages resemble ARM's; only
// their codes are to be relied on.
package template

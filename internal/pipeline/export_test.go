package pipeline

// ReadWithin lets tests be less patient with pipes.
var ReadWithin = readWithin

package ddbstore

// Connections is connections, for tests that need a transport of their own.
var Connections = connections

// SizeOf is sizeOf, for tests that measure what is in a table.
var SizeOf = sizeOf

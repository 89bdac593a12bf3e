package ddbstore

// Connections is connections, for tests that need a transport of their own.
var Connections = connections

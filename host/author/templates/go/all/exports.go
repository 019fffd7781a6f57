package main

// What the host calls, made of the WIT.
import _ "acp-chain/bindings/wit_exports"

// A component has no beginning and no end of its own.
func main() {}

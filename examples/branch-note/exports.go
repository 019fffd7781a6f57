package main

// The exports, generated from the WIT.
import _ "acp-chain/bindings/wit_exports"

// Go requires a `main`; the host does not call it.
func main() {}

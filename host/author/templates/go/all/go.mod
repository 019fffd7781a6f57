module my-proxy

go 1.25

require (
	acp-chain/bindings v0.0.0
	acp-chain/proxy v0.0.0
	go.bytecodealliance.org/pkg v0.2.3
)

replace (
	acp-chain/bindings => ./build/bindings
	acp-chain/proxy => ./sdk
	go.bytecodealliance.org/pkg => ./sdk/pkg
)

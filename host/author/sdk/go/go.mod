module acp-chain/proxy

go 1.25

// Package export_acp_chain_proxy_tools has the functions that the bindings export to the host.
package export_acp_chain_proxy_tools

import (
	"encoding/json"
	"errors"

	"acp-chain/proxy"
	"acp-chain/proxy/tools"

	calls "acp-chain/bindings/acp_chain_proxy_calls"
	bindings "acp-chain/bindings/acp_chain_proxy_tools"
	types "acp-chain/bindings/acp_chain_proxy_types"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

func ListTools(session wit.Option[string]) wit.Result[bindings.Catalog, string] {
	catalog := bindings.Catalog{Instructions: wit.None[string]()}
	all, err := proxy.Try(func() ([]tools.Tool, error) { return tools.Served.Tools(session.SomeOr("")) })
	for _, tool := range all {
		text, wrong := json.Marshal(tool)
		err = errors.Join(err, wrong)
		catalog.Tools = append(catalog.Tools, string(text))
	}
	if err != nil {
		return wit.Err[bindings.Catalog, string](err.Error())
	}
	return wit.Ok[bindings.Catalog, string](catalog)
}

func CallTool(call bindings.ToolCall) wit.Result[calls.Outcome, types.RpcError] {
	given := tools.Call{
		ID: call.Id, Session: call.Session.SomeOr(""), Name: call.Name, Arguments: call.Arguments,
	}
	result, err := proxy.Try(func() (any, error) { return tools.Served.Call(given) })
	if err == nil && result == nil {
		return wit.Ok[calls.Outcome, types.RpcError](calls.MakeOutcomePending())
	}
	text, wrong := json.Marshal(result)
	if err = errors.Join(err, wrong); err == nil {
		return wit.Ok[calls.Outcome, types.RpcError](calls.MakeOutcomeDone(string(text)))
	}
	failed := types.RpcError{Code: -32603, Message: err.Error(), Data: wit.None[string]()}
	var own *proxy.Error
	if errors.As(err, &own) {
		failed.Code = own.Code
		if own.Data != "" {
			failed.Data = wit.Some(own.Data)
		}
	}
	return wit.Err[calls.Outcome, types.RpcError](failed)
}

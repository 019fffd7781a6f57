// Package export_acp_chain_proxy_handler has the functions that the bindings export to the host.
package export_acp_chain_proxy_handler

import (
	"acp-chain/proxy"

	types "acp-chain/bindings/acp_chain_proxy_types"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

func Init(config string, saved wit.Option[string]) wit.Result[types.Registration, string] {
	made, err := proxy.Try(func() (proxy.Registration, error) {
		return proxy.Served.Init(config, saved.SomeOr(""))
	})
	if err != nil {
		return wit.Err[types.Registration, string](err.Error())
	}
	subscriptions := make([]types.Subscription, len(made.Subscriptions))
	for i, one := range made.Subscriptions {
		subscriptions[i] = types.Subscription{
			Method: one.Method, Sender: one.Sender, Kinds: one.Kinds, WithBody: one.WithBody,
		}
	}
	registration := types.Registration{Subscriptions: subscriptions, OnFailure: made.OnFailure, Guard: made.Guard}
	return wit.Ok[types.Registration, string](registration)
}

func OnRequest(request types.Request) wit.Result[types.Action, string] {
	message := proxy.Request{Head: head(request.Head), Params: request.Params}
	return decided(proxy.Served.OnRequest, message)
}

func OnNotification(notification types.Notification) wit.Result[types.Action, string] {
	message := proxy.Notification{Head: head(notification.Head), Params: notification.Params}
	return decided(proxy.Served.OnNotification, message)
}

func OnResponse(response types.Response) wit.Result[types.Action, string] {
	message := proxy.Response{Head: head(response.Head)}
	if response.Outcome.IsOk() {
		message.Result = response.Outcome.Ok()
	} else {
		failed := response.Outcome.Err()
		message.Err = &proxy.Error{Code: failed.Code, Message: failed.Message, Data: failed.Data.SomeOr("")}
	}
	return decided(proxy.Served.OnResponse, message)
}

func OnCancel(id uint64) wit.Result[wit.Unit, string] {
	_, err := proxy.Try(func() (any, error) { return nil, proxy.Served.OnCancel(id) })
	if err != nil {
		return wit.Err[wit.Unit, string](err.Error())
	}
	return wit.Ok[wit.Unit, string](wit.Unit{})
}

func head(head types.Head) proxy.Head {
	return proxy.Head{
		ID: head.Id, Sender: head.Sender, Method: head.Method, Session: head.Session.SomeOr(""), Size: head.Size,
	}
}

func decided[M any](handle func(M) (proxy.Action, error), message M) wit.Result[types.Action, string] {
	action, err := proxy.Try(func() (proxy.Action, error) { return handle(message) })
	if err != nil {
		return wit.Err[types.Action, string](err.Error())
	}
	return wit.Ok[types.Action, string](action)
}

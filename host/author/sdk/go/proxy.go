// Package proxy is the SDK for proxies in Go: a [Handler] that forwards every message, and the functions of the
// host. The whole interface is in acp-chain/bindings, which the first build generates from the WIT.
package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	channel "acp-chain/bindings/acp_chain_proxy_channel"
	types "acp-chain/bindings/acp_chain_proxy_types"

	wit "go.bytecodealliance.org/pkg/wit/types"
)

type (
	Action    = types.Action
	Kinds     = types.Kinds
	MessageID = types.MessageId
	Peer      = types.Peer
	Sender    = types.Sender
)

const (
	Client = types.PeerClient
	Agent  = types.PeerAgent

	FromAny    = types.SenderAny
	FromClient = types.SenderClient
	FromAgent  = types.SenderAgent

	Requests      = types.KindsRequest
	Notifications = types.KindsNotification
	Responses     = types.KindsResponse

	Restart = types.FailurePolicyRestart
	Bypass  = types.FailurePolicyBypass
	Refuse  = types.FailurePolicyRefuse
)

// A Subscription has a method, or a prefix that ends in `*`. Without bodies, messages have an empty one, and
// [Read] returns parts of it.
type Subscription struct {
	Method   string
	Sender   Sender
	Kinds    Kinds
	WithBody bool
}

type Registration struct {
	Subscriptions []Subscription
	OnFailure     uint8
	// Whether the user relies on this proxy's decisions.
	Guard bool
}

// A Head has the common properties of all messages. A message without a session has an empty one.
type Head struct {
	ID      MessageID
	Sender  Peer
	Method  string
	Session string
	Size    uint64
}

type Request struct {
	Head
	Params string
}

type Notification struct {
	Head
	Params string
}

// A Response has a result or an error.
type Response struct {
	Head
	Result string
	Err    *Error
}

// An Error of JSON-RPC. A tool's error is sent to the agent unchanged; of an error that a handler returns, only the
// text is reported.
type Error struct {
	Code    int32
	Message string
	// JSON text, if there is any.
	Data string
}

func (e *Error) Error() string { return e.Message }

// A Handler is a proxy. An error means that the proxy could not decide.
type Handler interface {
	// Init receives the proxy's table from the manifest, and the state that an earlier instance saved before it broke.
	Init(config, saved string) (Registration, error)
	OnRequest(Request) (Action, error)
	OnNotification(Notification) (Action, error)
	OnResponse(Response) (Action, error)
	OnCancel(MessageID) error
}

// Served is the proxy of this program.
var Served Handler = Passing{}

// Serve sets the proxy of this program; call it from an `init`.
func Serve(handler Handler) { Served = handler }

// Try calls a handler. A panic becomes an error, and is logged with its position: uncaught, it would end the
// instance.
func Try[T any](handle func() (T, error)) (value T, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
			fmt.Fprintf(os.Stderr, "%v\n%s", err, debug.Stack())
		}
	}()
	return handle()
}

// Passing forwards every message, and rejects cancelled messages. Proxies embed it.
type Passing struct{}

func (Passing) Init(_, _ string) (Registration, error)      { return Registration{}, nil }
func (Passing) OnRequest(Request) (Action, error)           { return Forward(), nil }
func (Passing) OnNotification(Notification) (Action, error) { return Forward(), nil }
func (Passing) OnResponse(Response) (Action, error)         { return Forward(), nil }
func (Passing) OnCancel(id MessageID) error {
	cancelled := types.RpcError{Code: -32800, Message: "Request cancelled", Data: wit.None[string]()}
	// Fails if the host has settled the message.
	_ = Settle(id, types.MakeActionReject(cancelled))
	return nil
}

// Forward forwards a message unchanged.
func Forward() Action { return types.MakeActionForward() }

// Hold keeps a message until [Settle].
func Hold() Action { return types.MakeActionHold() }

// Edit forwards a message with this value at a JSON Pointer. A last part `-` adds to an array.
func Edit(pointer string, value any) (Action, error) {
	text, err := json.Marshal(value)
	edit := types.Edit{Pointer: pointer, Change: types.MakeChangeSet(string(text))}
	return types.MakeActionEdit([]types.Edit{edit}), err
}

// Respond answers a request with this result, instead of forwarding it.
func Respond(value any) (Action, error) {
	text, err := json.Marshal(value)
	return types.MakeActionRespond(string(text)), err
}

// Read reads the JSON at a JSON Pointer of a message into a value, and returns whether there is any.
func Read(id MessageID, pointer string, into any) (bool, error) {
	part, err := done(channel.Read(id, pointer))
	if err != nil || part.IsNone() {
		return false, err
	}
	return true, json.Unmarshal([]byte(part.Some()), into)
}

// Ask sends a request to a neighbour. OnResponse receives the answer under the returned number.
func Ask(to Peer, method string, params any) (MessageID, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return 0, err
	}
	return done(channel.Request(to, method, string(text)))
}

// Notify sends a notification to a neighbour.
func Notify(to Peer, method string, params any) error {
	text, err := json.Marshal(params)
	if err == nil {
		_, err = done(channel.Notify(to, method, string(text)))
	}
	return err
}

// Settle settles a message for which a handler returned [Hold], or a tool returned pending.
func Settle(id MessageID, action Action) error {
	_, err := done(channel.Settle(id, action))
	return err
}

// Cancel cancels a request of this proxy. The request is still answered.
func Cancel(id MessageID) error {
	_, err := done(channel.Cancel(id))
	return err
}

// Save saves a state, replacing the previous one: Init receives it if the proxy breaks and is restarted.
func Save(state string) error {
	_, err := done(channel.Save(state))
	return err
}

// ID is the name of the proxy.
func ID() string { return channel.ProxyId() }

func done[T any](result wit.Result[T, channel.ChannelError]) (T, error) {
	if result.IsOk() {
		return result.Ok(), nil
	}
	var none T
	return none, errors.New(result.Err().Message)
}

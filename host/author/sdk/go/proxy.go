// Package proxy is what proxies in Go have in common: a [Handler] that lets every message pass, and what it may
// ask the host for. All of the interface is in acp-chain/bindings, which the first build makes of the WIT.
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

// A Subscription is to a method, or to a prefix of it that ends in `*`. Without its body a message comes with an
// empty one, and [Read] gives parts of it.
type Subscription struct {
	Method   string
	Sender   Sender
	Kinds    Kinds
	WithBody bool
}

type Registration struct {
	Subscriptions []Subscription
	OnFailure     uint8
	// Whether others rely on this proxy to decide.
	Guard bool
}

// A Head is what all messages have. A message that names no session has an empty one.
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

// An Error of JSON-RPC. A tool's goes to the agent as it is; of one that a handler returns, as of any other error, only
// the text is told.
type Error struct {
	Code    int32
	Message string
	// JSON text, if there is any.
	Data string
}

func (e *Error) Error() string { return e.Message }

// A Handler is a proxy. An error means that it could not decide.
type Handler interface {
	// Init gets the proxy's table from the manifest, and what an earlier instance saved, if that broke.
	Init(config, saved string) (Registration, error)
	OnRequest(Request) (Action, error)
	OnNotification(Notification) (Action, error)
	OnResponse(Response) (Action, error)
	OnCancel(MessageID) error
}

// Served is the proxy of this program.
var Served Handler = Passing{}

// Serve says which it is; called from an `init`.
func Serve(handler Handler) { Served = handler }

// Try calls a handler. A panic becomes its error, and where it was is in the log of acp-chain: uncaught, it would
// be the end of the instance.
func Try[T any](handle func() (T, error)) (value T, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v", panicked)
			fmt.Fprintf(os.Stderr, "%v\n%s", err, debug.Stack())
		}
	}()
	return handle()
}

// Passing lets every message pass, and gives up what is withdrawn. Proxies embed it.
type Passing struct{}

func (Passing) Init(_, _ string) (Registration, error)      { return Registration{}, nil }
func (Passing) OnRequest(Request) (Action, error)           { return Forward(), nil }
func (Passing) OnNotification(Notification) (Action, error) { return Forward(), nil }
func (Passing) OnResponse(Response) (Action, error)         { return Forward(), nil }
func (Passing) OnCancel(id MessageID) error {
	cancelled := types.RpcError{Code: -32800, Message: "Request cancelled", Data: wit.None[string]()}
	// If not, the host has taken it back.
	_ = Settle(id, types.MakeActionReject(cancelled))
	return nil
}

// Forward lets a message go on unchanged.
func Forward() Action { return types.MakeActionForward() }

// Hold keeps a message until [Settle].
func Hold() Action { return types.MakeActionHold() }

// Edit lets a message go on with this value at a JSON Pointer. A last part `-` adds to an array.
func Edit(pointer string, value any) (Action, error) {
	text, err := json.Marshal(value)
	edit := types.Edit{Pointer: pointer, Change: types.MakeChangeSet(string(text))}
	return types.MakeActionEdit([]types.Edit{edit}), err
}

// Respond answers a request with this, which goes no further.
func Respond(value any) (Action, error) {
	text, err := json.Marshal(value)
	return types.MakeActionRespond(string(text)), err
}

// Read gets what is at a JSON Pointer of a message into a value, and says whether anything is there.
func Read(id MessageID, pointer string, into any) (bool, error) {
	part, err := done(channel.Read(id, pointer))
	if err != nil || part.IsNone() {
		return false, err
	}
	return true, json.Unmarshal([]byte(part.Some()), into)
}

// Ask sends a neighbour a request. The answer comes to OnResponse under this number.
func Ask(to Peer, method string, params any) (MessageID, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return 0, err
	}
	return done(channel.Request(to, method, string(text)))
}

// Notify tells a neighbour.
func Notify(to Peer, method string, params any) error {
	text, err := json.Marshal(params)
	if err == nil {
		_, err = done(channel.Notify(to, method, string(text)))
	}
	return err
}

// Settle settles what a handler has answered with [Hold], or a tool with pending.
func Settle(id MessageID, action Action) error {
	_, err := done(channel.Settle(id, action))
	return err
}

// Cancel withdraws what was asked. Its answer still comes.
func Cancel(id MessageID) error {
	_, err := done(channel.Cancel(id))
	return err
}

// Save keeps this in place of what was kept before: Init gets it if the proxy breaks and is started again.
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

// Uses all of the interface: each function, each case of each type, and each field of what the host gives. What is asked
// of it is in the method: `_every/reject` is rejected. It does what the component in tests/released does, and more.
import {
  Action,
  ChannelError,
  CompletionCall,
  ErrorCode,
  FailurePolicy,
  Head,
  Json,
  Keeper,
  Kinds,
  Level,
  MessageId,
  Notification,
  Outcome,
  Peer,
  PromptCall,
  Registration,
  Request,
  ResourceRead,
  ResourcesCatalog,
  Response,
  RpcError,
  Sender,
  Some,
  Subscription,
  ToolCall,
  ToolsCatalog,
  args,
  array,
  channel,
  discard,
  edit,
  fail,
  forward,
  hold,
  log,
  notify,
  object,
  parse,
  read,
  reject,
  remove,
  request,
  respond,
  result,
  save,
  set,
  settle,
} from "../sdk/acp-chain";

// What is held: a request of the client's, and what was asked for its sake.
let held: MessageId = 0;
let asked: MessageId = 0;
// A request that waits for some time, and the number of that.
let sleeper: MessageId = 0;
let pause: MessageId = 0;
// A request that waits for a stored value, and the number of the request for the value.
let keeping: MessageId = 0;
let value: MessageId = 0;
// The call of a tool that waits, and what its caller was asked.
let waiting: MessageId = 0;
let caller: MessageId = 0;

const CODES = ["denied", "unknown-message", "invalid", "full", "other"];

// Nothing that is asked for here is refused.
function must(error: ChannelError | null): void {
  if (error != null) throw new Error(error.message);
}

export function init(config: string, saved: string | null): Registration {
  if (!parse(config).get("fail").isNone) return fail<Registration>("it was told to fail");
  log.info(saved == null ? "new" : "restored " + saved);
  return new Registration(
    [
      new Subscription("_every/*", Sender.Client, Kinds.Request, true),
      new Subscription("_every/*", Sender.Any, Kinds.Notification, true),
      new Subscription("_every/*", Sender.Agent, Kinds.Response, true),
      new Subscription("_every/unread", Sender.Client, Kinds.Request),
    ],
    FailurePolicy.Restart,
  );
}

// The error of a call that cannot work.
function refused(kind: string): Json {
  let error: ChannelError | null = null;
  if (kind == "denied") error = channel.request(Peer.Agent, "initialize", "{}").error;
  if (kind == "invalid") error = channel.notify(Peer.Agent, "_every/x", "{");
  if (kind == "unknown") error = channel.settle(1, forward());
  return shown(error!);
}

function shown(error: ChannelError): Json {
  return object().set("code", CODES[error.code]).set("says", error.message.length > 0);
}

// All that the host says of a message.
function headOf(message: Head): Json {
  const sender = message.sender == Peer.Client ? "client" : "agent";
  const made = object().set("hasId", message.id > 0).set("sender", sender).set("method", message.method);
  return made.set("session", message.session).set("size", message.size);
}

export function onRequest(message: Request): Action {
  const method = message.head.method.substring("_every/".length), id = message.head.id;
  if (method == "edit") return Action.edit([set("/a", 1), remove("/b")]);
  if (method == "replace") return Action.replace('{"other":true}');
  if (method == "respond") return respond(object().set("answered", true));
  if (method == "reject") return Action.reject(new RpcError(-32050, "no", "[1]"));
  if (method == "err") return fail<Action>("cannot decide");
  if (method == "read") {
    const part = read(id, "/x");
    return part.isNone ? respond("nothing") : respond(part);
  }
  if (method == "unread") return respond(message.params.length > 0 ? "read" : "unread");
  if (method == "save") {
    save("state");
    return respond(true);
  }
  if (method == "id") return respond(channel.proxyId());
  if (method == "log") {
    for (let level = Level.Trace; level <= Level.Error; level++) channel.log(level, "said");
  }
  if (method == "notify") {
    notify(Peer.Client, "_every/told", object());
    notify(Peer.Agent, "_every/told", object());
  }
  if (method == "hold") {
    asked = request(Peer.Client, "_every/asked", object());
    held = id;
    return hold();
  }
  if (method == "wake") {
    pause = channel.wakeAfter(500).value;
    sleeper = id;
    return hold();
  }
  if (method == "oversleep") return respond(shown(channel.wakeAfter(4000000).error!));
  if (method == "load" || method == "store" || method == "remove") {
    if (method == "load") value = channel.loadValue(Keeper.user(), "key").value;
    if (method == "store") value = channel.storeValue(Keeper.user(), "key", 0, "stored").value;
    if (method == "remove") value = channel.storeValue(Keeper.project("s"), "key", 0, null).value;
    keeping = id;
    return hold();
  }
  if (method == "give-up") {
    held = id;
    return hold();
  }
  if (method == "denied" || method == "invalid" || method == "unknown") return respond(refused(method));
  if (method == "changed") {
    must(channel.toolsChanged());
    must(channel.resourcesChanged());
    must(channel.promptsChanged());
    must(channel.resourceChanged("every:/one"));
  }
  // Beyond what the component of old does.
  if (method == "head") return respond(headOf(message.head));
  if (method == "params") return Action.respond(message.params);
  if (method == "written") return respond(parse(message.params));
  if (method == "place") return edit("/a/-", array().push("b").push(1.5).push(-2).push<string | null>(null));
  if (method == "throw") throw new Error("oh no: “nø”");
  if (method == "loop") while (parse(message.params).isNone == false) continue;
  if (method == "grow") {
    const kept: StaticArray<u8>[] = [];
    while (true) kept.push(new StaticArray<u8>(1 << 20));
  }
  if (method == "lone") return respond(String.fromCharCode(0xd800) + "|" + String.fromCharCode(0xdc00));
  return forward();
}

export function onNotification(told: Notification): Action {
  const method = told.head.method;
  if (method == "_every/discard") return discard();
  if (method == "_every/fail" && held != 0) {
    must(channel.fail(held, "gave up"));
    held = 0;
  }
  if (method == "_every/hurry" && pause != 0) must(channel.cancel(pause));
  if (method == "_every/withdraw" && asked != 0) must(channel.cancel(asked));
  if (method == "_every/head") return Action.edit([set("/head", headOf(told.head)), set("/params", parse(told.params))]);
  return forward();
}

export function onResponse(response: Response): Action {
  const id = response.head.id, error = response.outcome.error;
  if (id == asked && held != 0) {
    const asked = object().set("asked", true);
    settle(held, error == null ? respond(asked) : reject(-32050, "the client said no"));
    held = 0;
  } else if (id == pause && sleeper != 0) {
    const isWake = response.head.method == "wake-after" && error == null;
    settle(sleeper, isWake ? respond(object().set("woken", true)) : reject(-32050, "not woken"));
    sleeper = pause = 0;
  } else if (id == value && keeping != 0) {
    const name = response.head.method, isValue = name == "load-value" || name == "store-value";
    settle(keeping, isValue && error == null ? Action.respond(response.outcome.value) : reject(-32050, "no value"));
    keeping = value = 0;
  } else if (id == caller && waiting != 0) {
    settle(waiting, Action.respond(result("answered").done!));
    waiting = caller = 0;
  } else if (response.head.method == "_every/mend" && error != null) {
    return Action.replace('{"mended":true}');
  } else if (response.head.method == "_every/outcome") {
    const made = object().set("head", headOf(response.head));
    if (error == null) return Action.replace(made.set("result", parse(response.outcome.value)).toString());
    return Action.reject(new RpcError(error.code - 1, error.message + "!", made.set("was", error.data).toString()));
  }
  return forward();
}

export function onCancel(id: MessageId): void {
  // The host may have taken it back.
  channel.settle(id, reject(-32800, "cancelled"));
  held = waiting = 0;
}

export function listTools(_session: string | null): ToolsCatalog {
  const tool = '{"name":"every","description":"Does as it is told.","inputSchema":{"type":"object"}}';
  return new ToolsCatalog("Use every tool.", [tool]);
}

export function callTool(call: ToolCall): Outcome {
  const given = args(call);
  if (!given.get("fail").isNone) return fail<Outcome>("not this", -32050, "{}");
  must(channel.reportProgress(call.id, 1, new Some<f64>(2), "half"));
  must(channel.reportProgress(call.id, 1.5, null, null));
  if (channel.callMeta(call.id).value.length == 0) return fail<Outcome>("nothing is known of the call");
  if (!given.get("show").isNone) {
    const made = object().set("session", call.session).set("name", call.name).set("arguments", given);
    return Outcome.done(object().set("content", array()).set("structuredContent", made).toString());
  }
  if (given.get("ask").isNone) return result("done");
  const question = '{"message":"Well?","requestedSchema":{"type":"object","properties":{}}}';
  const id = channel.askCaller(call.id, "elicitation/create", question), error = id.error;
  if (error != null) {
    return Outcome.done(object().set("content", array()).set("structuredContent", shown(error)).toString());
  }
  waiting = call.id;
  caller = id.value;
  return Outcome.pending();
}

export function listResources(_session: string | null): ResourcesCatalog {
  const one = '{"uri":"every:/one","name":"one"}', any = '{"uriTemplate":"every:/{name}","name":"any"}';
  return new ResourcesCatalog(null, [one], [any]);
}

export function readResource(read: ResourceRead): Outcome {
  if (read.uri != "every:/one") return fail<Outcome>("no such resource", -32002);
  const one = object().set("uri", read.uri).set("text", "1");
  return Outcome.done(object().set("contents", [one]).toString());
}

export function listPrompts(_session: string | null): string[] {
  return ['{"name":"ask","arguments":[{"name":"what","required":true}]}'];
}

export function getPrompt(call: PromptCall): Outcome {
  const text = object().set("type", "text").set("text", call.name == "ask" ? "What?" : "");
  const message = object().set("role", "user").set("content", text);
  return Outcome.done(object().set("messages", [message]).toString());
}

export function complete(call: CompletionCall): Outcome {
  const values = [call.value + "-every"];
  return Outcome.done(object().set("completion", object().set("values", values)).toString());
}

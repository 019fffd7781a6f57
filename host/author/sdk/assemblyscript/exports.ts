// @ts-nocheck: editors take this for TypeScript, which it is not quite.
// What the host calls. Made by `cargo xtask types` from wit/proxy.wit; not to be edited.
//
// `acp-chain build` exports those of them that the world of the project has, under the names of the interface.

import * as proxy from "../assembly/proxy";
import * as abi from "./abi";
import * as failure from "./failure";
import * as passing from "./passing";
import * as wit from "./wit";

export function handler$init(a0: usize, a1: usize, a2: usize, a3: usize, a4: usize): usize {
  const config: wit.Json = abi.textAt(a0, a1);
  const saved: string | null = a2 != 0 ? abi.textAt(a3, a4) : null;
  abi.release(0);
  let done: wit.Registration;
  if (isDefined(proxy.init)) done = proxy.init(config, saved);
  else if (isDefined(passing.init)) done = passing.init(config, saved);
  else ERROR("assembly/proxy.ts does not export the function init");
  const why = failure.take();
  const at = abi.take(16);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
    done.put(at + 4);
  }
  return at;
}

export function handler$on_request(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: u64, a8: usize, a9: usize): usize {
  const request: wit.Request = new wit.Request(new wit.Head(a0, <wit.Peer>a1, abi.textAt(a2, a3), a4 != 0 ? abi.textAt(a5, a6) : null, a7), abi.textAt(a8, a9));
  abi.release(0);
  let done: wit.Action;
  if (isDefined(proxy.onRequest)) done = proxy.onRequest(request);
  else if (isDefined(passing.onRequest)) done = passing.onRequest(request);
  else ERROR("assembly/proxy.ts does not export the function onRequest");
  const why = failure.take();
  const at = abi.take(32);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
    done.put(at + 4);
  }
  return at;
}

export function handler$on_notification(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: u64, a8: usize, a9: usize): usize {
  const notification: wit.Notification = new wit.Notification(new wit.Head(a0, <wit.Peer>a1, abi.textAt(a2, a3), a4 != 0 ? abi.textAt(a5, a6) : null, a7), abi.textAt(a8, a9));
  abi.release(0);
  let done: wit.Action;
  if (isDefined(proxy.onNotification)) done = proxy.onNotification(notification);
  else if (isDefined(passing.onNotification)) done = passing.onNotification(notification);
  else ERROR("assembly/proxy.ts does not export the function onNotification");
  const why = failure.take();
  const at = abi.take(32);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
    done.put(at + 4);
  }
  return at;
}

export function handler$on_response(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: u64, a8: usize, a9: usize, a10: usize, a11: usize, a12: usize, a13: usize, a14: usize): usize {
  const response: wit.Response = new wit.Response(new wit.Head(a0, <wit.Peer>a1, abi.textAt(a2, a3), a4 != 0 ? abi.textAt(a5, a6) : null, a7), a8 == 0 ? abi.ok<wit.Json, wit.RpcError>(abi.textAt(a9, a10)) : abi.err<wit.Json, wit.RpcError>(new wit.RpcError(<i32>a9, abi.textAt(a10, a11), a12 != 0 ? abi.textAt(a13, a14) : null)));
  abi.release(0);
  let done: wit.Action;
  if (isDefined(proxy.onResponse)) done = proxy.onResponse(response);
  else if (isDefined(passing.onResponse)) done = passing.onResponse(response);
  else ERROR("assembly/proxy.ts does not export the function onResponse");
  const why = failure.take();
  const at = abi.take(32);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
    done.put(at + 4);
  }
  return at;
}

export function handler$on_cancel(a0: u64): usize {
  const id: wit.MessageId = a0;
  abi.release(0);
  if (isDefined(proxy.onCancel)) proxy.onCancel(id);
  else passing.onCancel(id);
  const why = failure.take();
  const at = abi.take(12);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
  }
  return at;
}

export function tools$list_tools(a0: usize, a1: usize, a2: usize): usize {
  const session: string | null = a0 != 0 ? abi.textAt(a1, a2) : null;
  abi.release(0);
  let done: wit.ToolsCatalog;
  if (isDefined(proxy.listTools)) done = proxy.listTools(session);
  else if (isDefined(passing.listTools)) done = passing.listTools(session);
  else ERROR("assembly/proxy.ts does not export the function listTools");
  const why = failure.take();
  const at = abi.take(24);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
    done.put(at + 4);
  }
  return at;
}

export function tools$call_tool(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: usize): usize {
  const call: wit.ToolCall = new wit.ToolCall(a0, a1 != 0 ? abi.textAt(a2, a3) : null, abi.textAt(a4, a5), abi.textAt(a6, a7));
  abi.release(0);
  let done: wit.Outcome;
  if (isDefined(proxy.callTool)) done = proxy.callTool(call);
  else if (isDefined(passing.callTool)) done = passing.callTool(call);
  else ERROR("assembly/proxy.ts does not export the function callTool");
  const why = failure.take();
  const at = abi.take(28);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    why.put(at + 4);
  } else {
    done.put(at + 4);
  }
  return at;
}

export function resources$list_resources(a0: usize, a1: usize, a2: usize): usize {
  const session: string | null = a0 != 0 ? abi.textAt(a1, a2) : null;
  abi.release(0);
  let done: wit.ResourcesCatalog;
  if (isDefined(proxy.listResources)) done = proxy.listResources(session);
  else if (isDefined(passing.listResources)) done = passing.listResources(session);
  else ERROR("assembly/proxy.ts does not export the function listResources");
  const why = failure.take();
  const at = abi.take(32);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
    done.put(at + 4);
  }
  return at;
}

export function resources$read_resource(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize): usize {
  const read: wit.ResourceRead = new wit.ResourceRead(a0, a1 != 0 ? abi.textAt(a2, a3) : null, abi.textAt(a4, a5));
  abi.release(0);
  let done: wit.Outcome;
  if (isDefined(proxy.readResource)) done = proxy.readResource(read);
  else if (isDefined(passing.readResource)) done = passing.readResource(read);
  else ERROR("assembly/proxy.ts does not export the function readResource");
  const why = failure.take();
  const at = abi.take(28);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    why.put(at + 4);
  } else {
    done.put(at + 4);
  }
  return at;
}

export function prompts$list_prompts(a0: usize, a1: usize, a2: usize): usize {
  const session: string | null = a0 != 0 ? abi.textAt(a1, a2) : null;
  abi.release(0);
  let done: Array<wit.Json>;
  if (isDefined(proxy.listPrompts)) done = proxy.listPrompts(session);
  else if (isDefined(passing.listPrompts)) done = passing.listPrompts(session);
  else ERROR("assembly/proxy.ts does not export the function listPrompts");
  const why = failure.take();
  const at = abi.take(12);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    abi.storeBlock(at + 4, abi.putText(why.message));
  } else {
    abi.storeBlock(at + 4, abi.putList<wit.Json>(done, 8));
  }
  return at;
}

export function prompts$get_prompt(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: usize): usize {
  const call: wit.PromptCall = new wit.PromptCall(a0, a1 != 0 ? abi.textAt(a2, a3) : null, abi.textAt(a4, a5), abi.textAt(a6, a7));
  abi.release(0);
  let done: wit.Outcome;
  if (isDefined(proxy.getPrompt)) done = proxy.getPrompt(call);
  else if (isDefined(passing.getPrompt)) done = passing.getPrompt(call);
  else ERROR("assembly/proxy.ts does not export the function getPrompt");
  const why = failure.take();
  const at = abi.take(28);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    why.put(at + 4);
  } else {
    done.put(at + 4);
  }
  return at;
}

export function completion$complete(a0: u64, a1: usize, a2: usize, a3: usize, a4: usize, a5: usize, a6: usize, a7: usize, a8: usize, a9: usize, a10: usize, a11: usize): usize {
  const call: wit.CompletionCall = new wit.CompletionCall(a0, a1 != 0 ? abi.textAt(a2, a3) : null, abi.textAt(a4, a5), abi.textAt(a6, a7), abi.textAt(a8, a9), abi.textAt(a10, a11));
  abi.release(0);
  let done: wit.Outcome;
  if (isDefined(proxy.complete)) done = proxy.complete(call);
  else if (isDefined(passing.complete)) done = passing.complete(call);
  else ERROR("assembly/proxy.ts does not export the function complete");
  const why = failure.take();
  const at = abi.take(28);
  store<u8>(at, <u8>(why != null));
  if (why != null) {
    why.put(at + 4);
  } else {
    done.put(at + 4);
  }
  return at;
}

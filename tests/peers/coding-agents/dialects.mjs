// What agents speak with models. Each dialect says at which paths it is spoken (`at`), reads a request as
// the tools on offer and the conversation (`read`), and writes what the model does as one answer (`whole`) or
// as a stream (`events`, each a `line`; `ends` knows the first that is part of the end).
let calls = 0;
const parts = (content) => (Array.isArray(content) ? content : [{ type: "text", text: content ?? "" }]);
const texts = (content) => parts(content).map(({ text }) => text ?? "").join("\n");
const sse = ({ event, ...data }) =>
  `${event ? `event: ${event}\n` : ""}data: ${data.done ?? JSON.stringify(data.data ?? data)}\n\n`;
const named = (data) => ({ event: data.type, data });

// OpenAI's chat completions.
const chat = {
  at: /\/chat\/completions$/,
  streams: ({ stream }) => stream === true,
  read: ({ tools = [], messages = [] }) => ({
    tools: tools.map(({ function: { name, parameters } }) => ({ name, schema: parameters })),
    items: messages.map(({ role, content }) =>
      role === "tool" ? { result: texts(content) } : { user: role === "user" ? texts(content) : "" },
    ),
  }),
  message({ text, call, input }) {
    if (!call) return { role: "assistant", content: text };
    const named = { name: call.name, arguments: JSON.stringify(input) };
    const one = { index: 0, id: `call_${++calls}`, type: "function", function: named };
    return { role: "assistant", content: null, tool_calls: [one] };
  },
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  whole(deed, { model }) {
    const finish_reason = deed.call ? "tool_calls" : "stop";
    const choices = [{ index: 0, message: this.message(deed), finish_reason }];
    return { id: "c1", object: "chat.completion", created: 1, model, choices, usage: this.usage };
  },
  events(deed, { model }) {
    const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model };
    const choice = (delta, finish_reason = null) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason }],
    });
    return [
      choice(this.message(deed)),
      choice({}, deed.call ? "tool_calls" : "stop"),
      { ...chunk, choices: [], usage: this.usage },
      { done: "[DONE]" },
    ];
  },
  ends: ({ choices }) => choices?.[0]?.finish_reason !== null,
  line: sse,
};

// OpenAI's responses.
const responses = {
  at: /\/responses$/,
  streams: ({ stream }) => stream === true,
  read({ tools = [], input = [], text }) {
    const items = Array.isArray(input) ? input : [{ role: "user", content: input }];
    const all = [...tools, ...items.flatMap((item) => (item.type === "additional_tools" ? item.tools : []))];
    const flat = all.flatMap((tool) =>
      tool.type === "namespace"
        ? tool.tools.map((one) => ({ ...one, namespace: tool.name }))
        : [{ ...tool, name: tool.name ?? tool.type }],
    );
    const tool = ({ name, namespace, type, parameters }) => ({
      name: namespace && namespace !== "functions" ? `${namespace}__${name}` : name,
      plain: name,
      namespace,
      custom: type === "custom",
      schema: parameters,
    });
    return {
      // What has to have a form is for the agent itself.
      tools: text?.format?.type === "json_schema" ? [] : flat.map(tool),
      items: items.map((item) => {
        const { type = "", role, content, output } = item;
        if (type.endsWith("_output")) {
          return { result: typeof output === "string" ? output : JSON.stringify(output) };
        }
        // The task of a subagent, after the conversation that it continues.
        if (type === "agent_message") return { user: JSON.stringify(item) };
        return { user: role === "user" ? texts(content) : "" };
      }),
    };
  },
  item({ text, call, input }) {
    if (!call) {
      const content = [{ type: "output_text", text, annotations: [] }];
      return { type: "message", id: "msg_1", role: "assistant", status: "completed", content };
    }
    const id = `call_${++calls}`;
    const of = { id: `item_${calls}`, call_id: id, name: call.plain, status: "completed" };
    if (call.custom) return { type: "custom_tool_call", ...of, input };
    const { namespace } = call;
    const rest = namespace && namespace !== "functions" ? { namespace } : {};
    return { type: "function_call", ...of, arguments: JSON.stringify(input), ...rest };
  },
  response: (model, status, output) => ({
    ...{ id: "resp_1", object: "response", created_at: 1, model, status, output },
    usage: {
      ...{ input_tokens: 10, output_tokens: 5, total_tokens: 15 },
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  }),
  whole(deed, { model }) {
    return this.response(model, "completed", [this.item(deed)]);
  },
  events(deed, { model }) {
    const item = this.item(deed);
    const at = { output_index: 0, content_index: 0, item_id: item.id };
    const part = { type: "output_text", text: "", annotations: [] };
    const begun = deed.call ? item : { ...item, status: "in_progress", content: [] };
    const streamed = [
      { type: "response.content_part.added", ...at, part },
      { type: "response.output_text.delta", ...at, delta: deed.text },
    ];
    const response = this.response(model, "completed", [item]);
    return [
      { type: "response.created", response: this.response(model, "in_progress", []) },
      { type: "response.output_item.added", output_index: 0, item: begun },
      ...(deed.call ? [] : streamed),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response },
    ].map((event, sequence_number) => named({ ...event, sequence_number }));
  },
  ends: ({ event }) => event === "response.output_item.done",
  line: sse,
};

// Anthropic's messages.
const messages = {
  at: /\/messages$/,
  streams: ({ stream }) => stream === true,
  read: ({ tools = [], messages = [] }) => ({
    tools: tools.map(({ name, input_schema }) => ({ name, schema: input_schema })),
    items: messages.flatMap(({ role, content }) =>
      parts(content).map((part) =>
        part.type === "tool_result"
          ? { result: texts(part.content) }
          : { user: role === "user" ? (part.text ?? "") : "" },
      ),
    ),
  }),
  block: ({ text, call, input }) =>
    call
      ? { type: "tool_use", id: `toolu_${++calls}`, name: call.name, input }
      : { type: "text", text },
  message: (model) => ({
    ...{ id: `msg_${++calls}`, type: "message", role: "assistant", model, content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } },
  }),
  whole(deed, { model }) {
    const stop_reason = deed.call ? "tool_use" : "end_turn";
    return { ...this.message(model), content: [this.block(deed)], stop_reason };
  },
  events(deed, { model }) {
    const block = this.block(deed);
    const [empty, delta] = deed.call
      ? [{ input: {} }, { type: "input_json_delta", partial_json: JSON.stringify(deed.input) }]
      : [{ text: "" }, { type: "text_delta", text: deed.text }];
    const reason = { stop_reason: deed.call ? "tool_use" : "end_turn", stop_sequence: null };
    return [
      { type: "message_start", message: this.message(model) },
      { type: "content_block_start", index: 0, content_block: { ...block, ...empty } },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: reason, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ].map(named);
  },
  ends: ({ event }) => event === "content_block_stop",
  line: sse,
};

// Gemini's contents.
const gemini = {
  at: /:(streamG|g)enerateContent$/,
  streams: (_, path) => path.includes(":stream"),
  read: ({ tools = [], contents = [] }) => ({
    tools: tools
      .flatMap(({ functionDeclarations = [] }) => functionDeclarations)
      .map(({ name, parametersJsonSchema, parameters }) => ({
        name,
        schema: parametersJsonSchema ?? parameters,
      })),
    items: contents.flatMap(({ role, parts = [] }) =>
      parts.map(({ text, functionResponse }) =>
        functionResponse
          ? { result: JSON.stringify(functionResponse.response) }
          : { user: role === "user" ? (text ?? "") : "" },
      ),
    ),
  }),
  whole({ text, call, input }, { generationConfig }) {
    // What has to have a form is for the agent itself: which model, and who speaks next.
    const formed = { next_speaker: "user", model_choice: "flash", complexity_score: 1 };
    const reasoned = { reasoning: "none", complexity_reasoning: "none", ...formed };
    const form = generationConfig?.responseMimeType === "application/json";
    const part = call
      ? { functionCall: { name: call.name, args: input } }
      : { text: form ? JSON.stringify(reasoned) : text };
    const content = { role: "model", parts: [part] };
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };
    return { candidates: [{ content, index: 0, finishReason: "STOP" }], usageMetadata };
  },
  events(deed, body) {
    const { candidates, ...rest } = this.whole(deed, body);
    const { finishReason, ...begun } = candidates[0];
    const end = { content: { role: "model", parts: [{ text: "" }] }, index: 0, finishReason };
    return [{ candidates: [begun] }, { candidates: [deed.call ? candidates[0] : end], ...rest }].slice(
      deed.call ? 1 : 0,
    );
  },
  ends: ({ candidates }) => "finishReason" in candidates[0],
  line: sse,
};

// Augment's stream: lines of JSON.
const augment = {
  at: /\/chat-stream$/,
  streams: () => true,
  type: "application/json",
  read({ tool_definitions = [], chat_history = [], nodes = [] }) {
    const all = [...chat_history.flatMap(({ request_nodes = [] }) => request_nodes), ...nodes];
    return {
      tools: tool_definitions.map(({ name, input_schema_json }) => ({
        name,
        schema: JSON.parse(input_schema_json || "{}"),
      })),
      items: all.map(({ text_node, tool_result_node }) =>
        tool_result_node ? { result: JSON.stringify(tool_result_node) } : { user: text_node?.content ?? "" },
      ),
    };
  },
  events({ text = "", call, input }) {
    const use = { tool_use_id: `call_${++calls}`, tool_name: call?.name, input_json: JSON.stringify(input) };
    const node = call
      ? { id: 1, type: 5, content: "", tool_use: use }
      : { id: 1, type: 0, content: text };
    const rest = { unknown_blob_names: [], checkpoint_not_found: false, workspace_file_chunks: [] };
    return [
      { text, nodes: [node], ...rest },
      { text: "", nodes: [], ...rest, stop_reason: call ? 3 : 1 },
    ];
  },
  ends: (line) => "stop_reason" in line,
  line: (line) => `${JSON.stringify(line)}\n`,
};

export const dialects = [chat, responses, messages, gemini, augment];

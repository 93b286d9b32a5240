extension Requirements {
    /// The requirements on what goes beyond one question and one answer.
    static let conversations = #"""
        # SUB Subscriptions
        SUB-01 [MUST · client · E] params.notifications selects toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions (addresses), and what extensions add, such as taskIds.
        SUB-02 [MUST NOT · server · E] Send no type that was not requested; omitted or false means no.
        SUB-03 [MUST · server · E] First message with that subscription id is notifications/subscriptions/acknowledged, its `notifications` being the honored subset (unsupported ones left out).
        SUB-04 [MUST NOT · server · E] No notification of the subscription before the acknowledgment; on stdio other subscriptions may interleave.
        SUB-05 [MUST · server · E] Every notification on the stream has subscriptionId = the listen request's id (type preserved).
        SUB-06 [SHOULD · client · E] Compare the acknowledged filter with the wish.
        SUB-07 [MAY · client · E] Several concurrent subscriptions, demultiplexed by id.
        SUB-08 [NOTE · server · E] Deliver an event once per matching subscription (the one-stream rule of A-D does not apply).
        SUB-09 [SHOULD · server · E] On own shutdown of the stream send the listen result {resultType:"complete", _meta:{subscriptionId}} then close.
        SUB-10 [MAY · client · E] Stream end without that result = unexpected drop: reconnect.
        SUB-11 [MUST · client · E] End it by closing the stream (HTTP) or notifications/cancelled (stdio); after stdio reconnect re-send.
        SUB-12 [MUST NOT · server · E] No progress, log or other request-scoped notifications on it.
        SUB-13 [MUST · server · E] taskIds asked without the tasks extension declared -> -32021.
        SUB-14 [NOTE · both · E] Reads race with the subscription: after the acknowledgment refetch what you watch, since events before it are not replayed.
        SUB-15 [NOTE · server · E] When nothing of the filter can be honored: acknowledge with `{}` and complete at once; with no selector supported at all, -32601.
        SUB-16 [NOTE · server · E] Exempt the listen request from idle/response timeouts and count it against a per-client limit.
        # MRTR Multi round-trip requests
        MRTR-01 [MAY · server · E] Answer tools/call, prompts/get, resources/read with resultType "input_required".
        MRTR-02 [MUST NOT · server · E] On no other method.
        MRTR-03 [MUST · server · E] At least one of inputRequests (map) and requestState (string) is present.
        MRTR-04 [MUST · server · E] inputRequests: keys unique within the request; values {method, params} of elicitation/create, sampling/createMessage or roots/list, without jsonrpc and id.
        MRTR-05 [MUST NOT · server · E] Ask only for what clientCapabilities of this request declare (including elicitation modes, sampling.tools).
        MRTR-06 [MUST · server · E] If the input is indispensable and the capability is missing -> -32021 (HTTP 400).
        MRTR-07 [MUST NOT · server · E] Assume no retry will ever come; keep nothing that leaks if it does not.
        MRTR-08 [MAY · server · E] Ask again on the retry, as often as needed.
        MRTR-09 [MUST · server · E] A received requestState is hostile: where it matters, protect its integrity and reject what fails the check.
        MRTR-10 [SHOULD · server · E] Bind inside the protected state: principal, short expiry, originating method plus digest of salient params; check each on return.
        MRTR-11 [MUST · server · E] Single-use semantics, if needed, are enforced server-side (the state alone cannot).
        MRTR-12 [SHOULD · server · E] Missing but necessary answers -> new input_required, not an error; unknown extra answers are ignored; malformed inputResponses -> JSON-RPC error.
        MRTR-13 [MUST · client · E] Fulfil all inputRequests before retrying; without inputRequests MAY retry at once.
        MRTR-14 [MUST · client · E] A retry has the same method and params, plus inputResponses of the same keys and the exact requestState, if one was given, and a new id.
        MRTR-15 [MUST NOT · client · E] Never look into requestState; never use inputRequests or requestState for another request.
        MRTR-16 [NOTE · client · E] Each round carries only the newest round's inputResponses and requestState; answers of earlier rounds live in requestState.
        MRTR-17 [NOTE · client · E] The retry needs a fresh `_meta`, Mcp-* headers recomputed from the same params, and a round limit.
        MRTR-18 [NOTE · client · E] User declined sampling or roots, or an error: no need to retry at all; for elicitation the retry carries decline or cancel.
        MRTR-19 [NOTE · server · E] An input_required answer may be the JSON body or the last SSE event; nothing may follow it.
        MRTR-20 [NOTE · server · E] requestState without inputRequests can serve load shedding: the client retries immediately, any instance continues.
        MRTR-21 [MUST NOT · server · A-D] Do not send input_required to legacy clients; use server-initiated requests there.
        # ELIC Elicitation
        ELIC-01 [MUST · client · C-E] Declare `elicitation`; E: in clientCapabilities of each request; D-E: sub-keys form and url, `{}` means form only; C: only form exists.
        ELIC-02 [MUST · client · D-E] A declaring client supports at least one mode.
        ELIC-03 [MUST NOT · server · D-E] No request in a mode the client did not declare.
        ELIC-04 [MUST · client · D-E] A request without `mode` is form.
        ELIC-05 [MUST · server · C-E] Form: message + requestedSchema (flat object: `type:"object"`, properties, required?); url: mode "url", message, url (valid URL).
        ELIC-06 [MUST · server · D] URL mode also needs elicitationId; removed in E.
        ELIC-07 [MUST · server · C-E] Property schemas only: string (minLength, maxLength, format email/uri/date/date-time), number/integer (minimum, maximum), boolean, enums.
        ELIC-08 [MUST · server · D-E] Choices: one or several, with or without titles (`enum`, `oneOf`, `items.enum`, `items.anyOf`), minItems, maxItems; enum with enumNames in C.
        ELIC-09 [SHOULD · client · D-E] Prefill defaults (all primitive kinds; C only boolean).
        ELIC-10 [MUST · client · C-E] Result {action: accept, decline or cancel; content only for accept in form mode; values string, number, boolean, string[] (D+)}.
        ELIC-11 [MUST · server · C-E] Handle accept, decline, cancel and failure; never assume success.
        ELIC-12 [NOTE · server · E] URL accept means consent to open, not completion; find out completion from own state when the retry comes, may ask again or block.
        ELIC-13 [MAY · server · D] Send notifications/elicitation/complete {elicitationId} to the initiating client only; clients ignore unknown ids. Gone in E.
        ELIC-14 [SHOULD · client · D-E] Offer manual retry/cancel for URL flows.
        ELIC-15 [MUST NOT · server · C-E] Never ask secrets, passwords, keys, payment data in form mode; MUST use url mode for them.
        ELIC-16 [MUST · client · C-E] Show which server asks; offer decline and cancel; form: review and edit before sending; url: show the target and get consent.
        ELIC-17 [MUST NOT · client · D-E] Do not prefetch the URL or its metadata; do not open without consent.
        ELIC-18 [MUST · client · D-E] Show the full URL, open it where neither client nor model can read content or input (system browser).
        ELIC-19 [SHOULD · client · D-E] Highlight the domain, warn about Punycode and the like; render no other URLs clickable.
        ELIC-20 [MUST NOT · server · D-E] URL contains no user data and no pre-authenticated access; SHOULD be HTTPS; no clickable URLs in form fields.
        ELIC-21 [MUST · server · D-E] Bind an elicitation to client and user; verify that who opens the URL is who started it.
        ELIC-22 [MUST NOT · server · D-E] Do not use URL mode to authorize the MCP client itself; third-party tokens never pass through the client; client tokens never go to the third party.
        ELIC-23 [MUST · server · C-E] Stored state is tied to the verified user (remote: from authorization), access-protected; D: never to a session id alone.
        ELIC-24 [SHOULD · both · C-E] Client validates input against the schema, server validates again.
        # SAMP Sampling
        SAMP-01 [MUST · client · A-E] Declare `sampling` (E: per request); `sampling.tools` for tool use, `sampling.context` for includeContext (D-E).
        SAMP-02 [MUST NOT · server · D-E] No tools/toolChoice without sampling.tools; thisServer/allServers SHOULD NOT be used without sampling.context (both deprecated).
        SAMP-03 [MUST · client · D-E] Return an error if tools or toolChoice arrive though sampling.tools was not declared.
        SAMP-04 [MUST · server · A-E] params: messages and maxTokens; optionally modelPreferences, systemPrompt, includeContext, temperature, stopSequences, metadata, tools, toolChoice.
        SAMP-05 [MUST · client · A-E] Respect maxTokens; MAY alter or ignore systemPrompt, includeContext, temperature, stopSequences, metadata.
        SAMP-06 [MUST · client · A-E] Evaluate hints in order, first match wins; treat them as substrings (SHOULD).
        SAMP-07 [MUST · client · A-E] Result {role, content, model, stopReason?}; content single block or (D+) array; stopReason open set (endTurn, stopSequence, maxTokens, toolUse).
        SAMP-08 [MUST · server · D-E] A user message with tool_result blocks contains only tool_result blocks.
        SAMP-09 [MUST · server · D-E] Each assistant tool_use is answered by a tool_result with the same id in the directly following user message, all of them.
        SAMP-10 [SHOULD · both · D-E] Limit iterations of tool loops.
        SAMP-11 [SHOULD · client · A-E] Human approval of prompt and completion, rate limiting.
        SAMP-12 [NOTE · client · E] In E the sampling result inside inputResponses is the bare result; declining needs no reply.
        SAMP-13 [SHOULD · client · D-E] Keep `_meta` of tool_use/tool_result when replaying history.
        SAMP-14 [SHOULD NOT · both · E] New implementations do not adopt sampling; removal not before 2027-07-28.
        SAMP-15 [SHOULD · client · A-D] User rejection -> JSON-RPC error (examples use code -1); tool-balance violations -> -32602.
        # ROOT Roots
        ROOT-01 [MUST · client · A-E] Declare `roots` (A-D: {listChanged?}; E: {} per request).
        ROOT-02 [MUST · client · A-E] roots/list result {roots:[{uri file://..., name?, _meta?}]}.
        ROOT-03 [MUST · client · A-D] With listChanged send notifications/roots/list_changed on change; the notification does not exist in E.
        ROOT-04 [SHOULD · client · A-D] Unsupported -> -32601.
        ROOT-05 [MUST · client · A-E] Expose only permitted roots, validate URIs against traversal, control and monitor access.
        ROOT-06 [SHOULD · server · A-E] Respect roots, cope with vanished ones; they are guidance, not access control.
        ROOT-07 [SHOULD NOT · both · E] New implementations do not adopt it.
        # TASK Tasks extension
        TASK-01 [MUST · both · E] Negotiated by capabilities.extensions on each request and in discover; settings object empty.
        TASK-02 [MAY · server · E] Answer tools/call (only method so far) with CreateTaskResult instead of the result, at its own discretion per request.
        TASK-03 [MUST NOT · server · E] Never to a request that did not declare the extension.
        TASK-04 [MUST · server · E] Task indispensable but undeclared -> -32021 with requiredCapabilities.extensions.
        TASK-05 [MUST · client · E] Declaring clients handle both result kinds; a task result for an unsupported method is an invalid response.
        TASK-06 [MUST · server · E] A created task is resultType "task" and, flat, taskId, status, createdAt, lastUpdatedAt, ttlMs, optionally statusMessage and pollIntervalMs.
        TASK-07 [MUST NOT · server · E] Return it only once tasks/get would resolve the id (durable creation first).
        TASK-08 [SHOULD · server · E] Finish MRTR rounds before creating the task.
        TASK-09 [MUST · server · E] tasks/get -> resultType "complete" + task fields + per status: inputRequests (all outstanding), result (completed), error (failed).
        TASK-10 [MUST · server · E] Tool errors (isError) complete the task; `failed` only for JSON-RPC errors, with `error`.
        TASK-11 [MUST NOT · server · E] Terminal states (completed, failed, cancelled) never change.
        TASK-12 [SHOULD · client · E] Honor pollIntervalMs (may change), poll until terminal or cancel, persist task ids; server MAY rate limit.
        TASK-13 [MAY · client · E] Treat createdAt+ttlMs passed as unusable; the server MAY fail and delete after it.
        TASK-14 [MUST · client · E] Treat task inputRequests like direct ones; SHOULD answer by tasks/update {taskId,inputResponses} and deduplicate keys over polls.
        TASK-15 [MUST NOT · server · E] Input keys are unique for the task's whole life, never reused.
        TASK-16 [MUST · server · E] tasks/update and tasks/cancel are answered with an empty complete result; an unknown task should be an error; keys that are not outstanding are ignored.
        TASK-17 [MUST NOT · client · E] notifications/cancelled is not for tasks.
        TASK-18 [NOTE · server · E] Cancellation is cooperative: the ack is obligatory, the stop is not.
        TASK-19 [MAY · server · E] Push notifications/tasks (full task as tasks/get, plus subscriptionId in _meta) to listen streams that asked taskIds.
        TASK-20 [MUST · server · E] tasks/get, update, cancel or taskIds without declared extension -> -32021.
        TASK-21 [MUST · server · E] Unknown taskId -> -32602 for tasks/get (SHOULD for update, cancel).
        TASK-22 [MUST · client · E] Mcp-Name = taskId on these three methods.
        TASK-23 [MUST · server · E] Unguessable ids; authenticate and authorize each task request.
        TASK-24 [MUST · server · E] `tasks/result` -> -32601; ignore a `task` param on tools/call; never advertise legacy tasks capabilities in E.
        TASK-25 [MUST NOT · server · D] The extension key in a 2025-11-25 session enables nothing.
        TASK-26 [NOTE · server · E] Two examples in the text show resultType "task" on failed/completed tasks/get answers; the normative text and schema say "complete".
        # TASKL Experimental tasks of 2025-11-25
        TASKL-01 [MUST · both · D] Capability tree: tasks.list, tasks.cancel, tasks.requests.tools.call (server); tasks.requests.sampling.createMessage, tasks.requests.elicitation.create (client).
        TASKL-02 [MUST · client · D] Opt in per request by `task:{ttl?}` in params; tool level execution.taskSupport forbidden (default), optional, required.
        TASKL-03 [MUST · server · D] required but not task-augmented -> -32601; forbidden but augmented SHOULD -> -32601.
        TASKL-04 [MUST · server · D] CreateTaskResult {task:{taskId,status,createdAt,lastUpdatedAt,ttl,pollInterval?}}; start status working.
        TASKL-05 [MUST · server · D] tasks/result blocks until the end and returns the underlying result; tasks/get and tasks/cancel return the task.
        TASKL-06 [MUST · both · D] Related messages carry _meta["io.modelcontextprotocol/related-task"]={taskId} (not in tasks/get, list, cancel).
        TASKL-07 [MUST · server · D] isError tool results move the task to failed (opposite of E).
        TASKL-08 [MAY · server · D] notifications/tasks/status; tasks/list with cursor, scoped to the caller.
        TASKL-09 [MUST · both · D] Receivers without the capability ignore `task` and process normally.
        # EXT Other extensions
        EXT-01 [MUST · server · E] MCP Apps `io.modelcontextprotocol/ui`: UI resource uri starts with ui://, mimeType `text/html;profile=mcp-app`, content text or blob; host fetches by resources/read.
        EXT-02 [MUST · client · E] Apps: client capability {"mimeTypes":["text/html;profile=mcp-app"]}; a tool points to its UI by `_meta.ui.resourceUri` (flat `ui/resourceUri` deprecated).
        EXT-03 [MUST · client · E] Apps: `_meta.ui.visibility` default [model, app]; hosts hide tools without "model" from the agent and refuse app calls to tools without "app".
        EXT-04 [MUST · client · E] Apps: hosts sandbox, build CSP from `_meta.ui.csp`, restrictive default, never looser.
        EXT-05 [NOTE · server · E] Apps: a server core only needs to pass `_meta` and resources through; text fallback for clients without it.
        EXT-06 [MUST · server · E] Skills (`io.modelcontextprotocol/skills`): skills/list, skills/get, and resources/directory/read where it is declared.
        EXT-07 [MUST · server · E] Skills: entry {uri of SKILL.md, frontmatter verbatim, resources: complete [{uri,digest sha256:hex,size}] or "dynamic"}; last path segment equals frontmatter.name.
        EXT-08 [MUST · client · E] Skills: verify digest and size on read, compare frontmatter, fetch lazily, identity is (server, uri), consent per skill; support up to 512 files and 16 MiB.
        EXT-09 [NOTE · both · E] Server cards (experimental): JSON at `GET <endpoint>/server-card` and a catalog; advisory only.
        EXT-10 [NOTE · both · E] DPoP and Workload Identity Federation are proposals that are still open.
        """#
}

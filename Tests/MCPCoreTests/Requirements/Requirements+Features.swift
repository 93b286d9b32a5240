extension Requirements {
    /// The requirements on what servers offer, and security.
    static let features = #"""
        # TOOL Tools
        TOOL-01 [MUST · server · A-E] Declare capability `tools` ({} or {listChanged:true}).
        TOOL-02 [MUST · server · E] With the capability, answer tools/list (set may be empty).
        TOOL-03 [MUST NOT · server · E] The set does not depend on the connection or on earlier requests; it MAY depend on the authorization of the request and on time.
        TOOL-04 [SHOULD · server · E] Deterministic order while the set is unchanged.
        TOOL-05 [MUST · server · A-E] A tool has name and inputSchema (an object schema), and optionally title (C+), description, outputSchema (C+), annotations (B+), icons (D+), _meta (C+), execution.taskSupport (D).
        TOOL-06 [MUST · server · A-D] A to D know object schemas of type, properties and required; E allows every keyword of 2020-12, and any root in an outputSchema.
        TOOL-07 [SHOULD · server · D-E] No-parameter tool: `{"type":"object","additionalProperties":false}` (recommended) or `{"type":"object"}`.
        TOOL-08 [SHOULD · server · D-E] Names: 1-128 chars from A-Z a-z 0-9 _ - . , case-sensitive, unique per server.
        TOOL-09 [SHOULD · client · E] Disambiguate equal tool names of different servers by own means, not by serverInfo.name.
        TOOL-10 [MUST · client · A-E] tools/call params: name, optional arguments object.
        TOOL-11 [MUST · server · A-E] Result: `content` array of content blocks (required, may be empty); optional `isError`, `structuredContent` (C+), `_meta`.
        TOOL-12 [MUST · server · C-D] structuredContent is a JSON object.
        TOOL-13 [MAY · server · E] structuredContent is any JSON value including null, so "absent" and "null" must be distinguishable.
        TOOL-14 [MUST · server · C-E] With an outputSchema, the structured result conforms to it.
        TOOL-15 [SHOULD · client · C-E] Validate structuredContent against outputSchema.
        TOOL-16 [SHOULD · server · C-E] Also give structured content as serialized JSON in a text block; required in practice when it is an array or primitive (older clients).
        TOOL-17 [MUST · server · A-E] Unknown tool or malformed call -> JSON-RPC error (-32602 for unknown tool).
        TOOL-18 [SHOULD · server · D-E] Argument validation failures, API and business errors -> result with isError:true and text the model can act on, not a JSON-RPC error.
        TOOL-19 [SHOULD · client · D-E] Give execution errors to the model; MAY give protocol errors.
        TOOL-20 [MUST · client · B-E] Treat annotations (title, readOnlyHint=false, destructiveHint=true, idempotentHint=false, openWorldHint=true by default) as untrusted hints.
        TOOL-21 [SHOULD · server · E] With listChanged, notify list changes on listen streams that asked toolsListChanged; A-D: on the session (notifications/tools/list_changed).
        TOOL-22 [MUST · server · A-E] Validate inputs, control access, rate limit calls, sanitize outputs.
        TOOL-23 [SHOULD · client · A-E] Confirm sensitive operations, show inputs before sending, validate results, use timeouts, log usage.
        TOOL-24 [SHOULD · client · A-E] Keep a human in the loop able to deny calls; show exposed tools and invocations.
        TOOL-25 [MAY · server · E] Answer tools/call with InputRequiredResult; retry has a new id.
        TOOL-26 [MAY · server · C-E] Content block kinds: text, image, audio (B+), resource_link (C+), resource (embedded).
        TOOL-27 [SHOULD · server · A-E] Servers that embed resources also implement the resources capability.
        TOOL-28 [NOTE · server · E] Stateful tools: mint opaque high-entropy handles, check the caller on each use, bound their life, say the life in the description, report expiry as isError.
        TOOL-29 [MUST · server · A-E] Image and audio blocks: base64 `data` + `mimeType`; embedded resource: uri plus text or blob.
        TOOL-30 [MAY · both · A-E] annotations on content/resources: audience (user, assistant), priority 0..1, lastModified ISO 8601 (C+).
        # RES Resources
        RES-01 [MUST · server · A-E] Declare `resources` with optional subscribe and listChanged.
        RES-02 [MUST · server · E] Answer resources/list (may be empty); same independence rule as tools.
        RES-03 [MUST · server · A-E] Resource = uri, name; optional title (C+), description, mimeType, size (bytes), annotations, icons (D+), _meta (C+).
        RES-04 [MUST · server · A-E] resources/read result: `contents` array; each item uri, optional mimeType, and text or base64 blob.
        RES-05 [MAY · server · A-E] Return several contents for one uri (e.g. directory).
        RES-06 [MUST NOT · server · E] Never answer a missing resource with an empty contents array.
        RES-07 [MUST · server · E] Missing resource -> -32602 (SHOULD include data.uri as in the example); internal -> -32603 (SHOULD).
        RES-08 [MUST · server · E] ttlMs and cacheScope on read, list, templates/list results.
        RES-09 [MAY · server · E] Answer resources/read with InputRequiredResult.
        RES-10 [MUST · server · A-E] Template = uriTemplate (RFC 6570), name; optional title, description, mimeType (only if common to all), annotations, icons, _meta.
        RES-11 [MAY · client · A-E] Complete template arguments with completion/complete.
        RES-12 [MAY · client · A-D] resources/subscribe {uri} / resources/unsubscribe {uri} (empty results) when capability subscribe is present.
        RES-13 [MUST NOT · client · E] Use subscriptions/listen with resourceSubscriptions instead.
        RES-14 [MUST · server · E] notifications/resources/updated only for URIs opted in; params.uri may be a sub-resource of the watched one.
        RES-15 [SHOULD · server · A-E] Use https:// URIs only if the client can fetch them itself.
        RES-16 [MAY · server · A-E] file:// need not be real files; directories can use inode/directory.
        RES-17 [MUST · both · A-E] Custom URI schemes follow RFC 3986.
        RES-18 [MUST · server · A-E] Validate all URIs; encode binary properly; sanitize file paths against traversal.
        RES-19 [SHOULD · server · A-E] Access control and permission checks per resource.
        RES-20 [NOTE · client · A-E] Resource links in tool results may be absent from resources/list; reading them must still be tried.
        # PROM Prompts
        PROM-01 [MUST · server · A-E] Declare `prompts` (optional listChanged); E: in DiscoverResult.
        PROM-02 [MUST · server · E] Answer prompts/list; independence rule as for tools.
        PROM-03 [MUST · server · A-E] Prompt = name; optional title (C+), description, arguments[{name, title?, description?, required?}], icons (D+), _meta (C+).
        PROM-04 [MUST · client · A-E] prompts/get {name, arguments?: map of string to string}.
        PROM-05 [MUST · server · A-E] Result: messages[{role: user or assistant, content: one content block}], optional description.
        PROM-06 [SHOULD · server · A-E] Unknown prompt or missing required argument -> -32602; internal -> -32603.
        PROM-07 [MAY · server · E] Answer prompts/get with InputRequiredResult.
        PROM-08 [SHOULD · server · A-E] Validate arguments; notify list changes (E: on listen streams with promptsListChanged).
        PROM-09 [MUST · both · A-E] Validate prompt inputs and outputs against injection and unauthorized access.
        PROM-10 [MUST · server · A-E] Image/audio data base64 with a valid MIME type; embedded resource has uri, MIME type and text or blob.
        PROM-11 [NOTE · server · E] prompts/get results carry no ttlMs/cacheScope obligation (not in the cacheable list).
        # COMP Completion
        COMP-01 [MUST · server · B-E] Declare `completions: {}` (A had no capability; method just exists).
        COMP-02 [MUST · client · A-E] completion/complete {ref, argument:{name,value}, context?:{arguments}} ; ref is {type:"ref/prompt",name} or {type:"ref/resource",uri}; context exists from C on.
        COMP-03 [SHOULD · client · C-E] Give already resolved arguments in context.arguments.
        COMP-04 [MUST · server · A-E] Result completion.values has at most 100 strings, optional total, optional hasMore.
        COMP-05 [SHOULD · server · A-E] Rank by relevance, fuzzy-match, rate limit, validate; -32601 if unsupported, -32602 for bad ref or missing arguments.
        COMP-06 [SHOULD · client · A-E] Debounce, cache, cope with partial results.
        COMP-07 [MUST · both · A-E] Validate inputs, rate limit, control access to sensitive suggestions, avoid disclosure.
        # PAGE Pagination
        PAGE-01 [MUST · both · A-E] Cursor is an opaque string; page size is the server's choice and never assumed.
        PAGE-02 [MUST · both · A-E] Applies to tools/list, prompts/list, resources/list, resources/templates/list (D: tasks/list).
        PAGE-03 [SHOULD · client · A-E] A missing nextCursor ends the list; support both paged and unpaged.
        PAGE-04 [MUST NOT · client · E] An empty-string cursor is a valid cursor: only presence (non-null) decides.
        PAGE-05 [MUST NOT · client · A-E] Do not parse or modify cursors; A-D: do not persist them across sessions.
        PAGE-06 [SHOULD · server · A-E] Stable cursors; invalid cursor -> -32602.
        PAGE-07 [NOTE · server · E] Cursors must work on any server instance (stateless): encode position, do not keep them in connection state.
        # CACHE Caching
        CACHE-01 [MUST · server · E] `ttlMs` (0 or more milliseconds) and `cacheScope` on complete results of discover, the four lists and resources/read.
        CACHE-02 [MUST NOT · server · E] input_required results carry no caching hints and are not cacheable.
        CACHE-03 [MUST NOT · client · E] A cached answer serves only the same method with the same affecting params (uri, cursor, ...).
        CACHE-04 [MUST NOT · client · E] Never cache results of requests that carried inputResponses or requestState.
        CACHE-05 [SHOULD · client · E] ttl 0 (or absent, or negative) = stale at once; positive = fresh until receipt time + ttlMs.
        CACHE-06 [SHOULD NOT · client · E] TTL is no polling interval; whoever polls MUST use jitter and backoff.
        CACHE-07 [MAY · client · E] Serve stale on refetch errors; refetch early when evidence of change shows up.
        CACHE-08 [MUST NOT · both · E] `private` entries are never shared across authorization contexts (another access token is another cache).
        CACHE-09 [MAY · both · E] `public` entries may be shared by anybody, even when fetched with a token.
        CACHE-10 [SHOULD · client · E] A relevant list_changed/updated notification invalidates the cached answer immediately.
        CACHE-11 [MUST · server · E] Same cacheScope on all pages of one list; ttlMs may differ per page.
        CACHE-12 [SHOULD · client · E] Refetch an expired page by its cursor; on an invalid cursor drop all pages and start over; for a snapshot start without cursor.
        CACHE-13 [MUST NOT · server · E] cacheScope is not access control; enforce per-primitive checks.
        CACHE-14 [NOTE · client · E] A missing cacheScope of an older server is private.
        # LOG Logging
        LOG-01 [MUST · server · A-E] Declare `logging: {}` when emitting notifications/message.
        LOG-02 [MUST NOT · server · E] No notifications/message for a request without `io.modelcontextprotocol/logLevel`.
        LOG-03 [MAY · server · E] With it, send messages at or above the level, only before the final response and only on that request's stream.
        LOG-04 [MUST NOT · server · E] Never on a listen stream or another request's stream.
        LOG-05 [SHOULD · server · E] Unknown level -> reject the whole request with -32602.
        LOG-06 [MUST · both · A-E] Levels ascending: debug, info, notice, warning, error, critical, alert, emergency; params {level, logger?, data: any JSON}.
        LOG-07 [MAY · client · A-D] logging/setLevel {level} once per session; empty result; invalid level -> -32602. Without it the server decides what to send.
        LOG-08 [MUST NOT · server · A-E] No secrets, PII or attack-helping internals in logs; SHOULD rate limit.
        LOG-09 [SHOULD NOT · both · E] New implementations do not adopt it; stderr or OpenTelemetry instead (removal not before a revision released on/after 2027-07-28).
        # PROG Progress
        PROG-01 [MUST · client · A-E] progressToken: string or integer, unique among active requests.
        PROG-02 [MAY · server · A-E] Send notifications/progress {progressToken, progress, total?, message? (B+)} for it, or none at all.
        PROG-03 [MUST · server · A-E] progress strictly increases; progress and total may be fractional.
        PROG-04 [MUST · server · A-E] Only tokens of requests in progress; stop at completion.
        PROG-05 [SHOULD · both · A-E] Track active tokens and rate limit.
        PROG-06 [MUST NOT · server · E] Never on a listen stream, never for tasks of the tasks extension.
        PROG-07 [MUST · both · D] For legacy task-augmented requests the token stays valid for the task's whole life.
        PROG-08 [MAY · both · A-D] Progress also flows client to server for server-initiated requests.
        PROG-09 [NOTE · server · E] A modern HTTP server that wants to send progress must answer with SSE; decide before the response head is written (token present and handler streaming -> SSE).
        # CANC Cancellation and time-outs
        CANC-01 [MUST · client · E] stdio: notifications/cancelled {requestId, reason?}; HTTP: close the response stream.
        CANC-02 [MUST · client · A-E] Cancel only own requests believed in progress.
        CANC-03 [SHOULD · server · A-E] Stop work, free resources, send no response.
        CANC-04 [MAY · server · A-E] Ignore unknown, finished or uncancellable ones; malformed notifications are ignored (SHOULD).
        CANC-05 [SHOULD · client · A-E] Ignore a late response to a cancelled request.
        CANC-06 [MUST · both · A-E] Survive the races gracefully.
        CANC-07 [MUST · server · E] A torn down subscription stream is announced with notifications/cancelled, or, as another page has it, with the result of listen; a server cancels nothing else.
        CANC-08 [SHOULD · both · A-E] Timeout on every request, configurable per request; on expiry cancel and stop waiting.
        CANC-09 [MAY · both · A-E] Progress resets the timer, but a hard maximum SHOULD always hold.
        CANC-10 [SHOULD · both · A-E] Log reasons; show cancellation in UIs.
        CANC-11 [MAY · both · A-D] Either side cancels its own requests by notification.
        CANC-12 [MUST · client · D] Legacy tasks are cancelled with tasks/cancel, not by notification.
        # SEC Security
        SEC-01 [MUST · server · A-E] Loopback HTTP servers defend against DNS rebinding (Origin, better Host too).
        SEC-02 [MUST NOT · server · E] Possession of a state handle is not authentication; check the caller on every use.
        SEC-03 [SHOULD · server · E] Handles: random, bound server-side to the user (`<user>:<handle>`), expiring.
        SEC-04 [MUST · client · D-E] One-click local install: show the exact untruncated command, mark it dangerous, require approval, allow cancel; SHOULD sandbox and warn.
        SEC-05 [SHOULD · server · A-E] Local servers prefer stdio; local HTTP needs a token or a Unix socket.
        SEC-06 [SHOULD · both · E] Proxies spawning stdio children: sandbox, log, extra authorization.
        SEC-07 [MUST · both · A-E] Hosts get user consent before exposing data or invoking tools (principle).
        SEC-08 [SHOULD · server · E] Minimal scopes; precise challenges; log elevation with correlation ids.
        SEC-09 [MUST · both · E] Tool results, resource contents, schemas, icons, URLs, _meta and extension data from the peer are untrusted input.
        SEC-10 [NOTE · both · E] Bound everything received: line length, body size, header size, nesting depth, number of in-flight requests and subscriptions.
        SEC-11 [SHOULD · server · E] Log levels and error messages leak no internals.
        """#
}

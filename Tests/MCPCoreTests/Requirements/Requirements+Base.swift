extension Requirements {
    /// The requirements on the messages, versions and eras.
    static let base = #"""
        # JRPC JSON-RPC
        JRPC-01 [MUST · both · A-E] Encode every JSON-RPC message as UTF-8 JSON with `"jsonrpc":"2.0"`.
        JRPC-02 [MUST · both · A-E] A request carries an `id` that is a string or an integer; `null` is not a legal request id (stricter than plain JSON-RPC).
        JRPC-03 [MUST · both · E] An id may be reused only after its earlier request got a response: uniqueness is over the sender's outstanding requests, not over a session.
        JRPC-04 [MUST · both · A-D] An id may never be reused by the same requestor within a session.
        JRPC-05 [MUST · both · A-E] A response repeats the id of its request with the same JSON type (number stays number, string stays string).
        JRPC-06 [MUST · server · E] Every result is a JSON object containing a string `resultType`.
        JRPC-07 [MUST · client · E] Treat a result without `resultType` as `"complete"` (older servers never send it).
        JRPC-08 [MUST · client · E] Treat a result whose `resultType` is not core (`complete`, `input_required`) nor contributed by an extension that was advertised as an invalid response.
        JRPC-09 [MAY · both · E] Extensions can add `resultType` values (e.g. `task`); the accepted set is core plus the values of supported, advertised extensions.
        JRPC-10 [MUST · both · A-E] An error response holds `error.code` (integer) and `error.message` (string); `error.data` is optional and of any type.
        JRPC-11 [MUST · both · D-E] An error response repeats the request id; only where it could not be read may the `id` be missing. It is never null.
        JRPC-12 [NOTE · both · A-C] In A to C `id` is required in error responses by the schema; use JSON-RPC's `null` when the id is unknown.
        JRPC-13 [MUST NOT · both · A-D] A response never carries both `result` and `error`.
        JRPC-14 [MUST NOT · both · A-E] A notification has no `id`.
        JRPC-15 [MUST NOT · both · A-E] Never answer a notification, not even with an error.
        JRPC-16 [MUST NOT · server · E] Never originate a JSON-RPC request, on any transport or stream.
        JRPC-17 [MUST NOT · client · E] Never send a JSON-RPC response object; a client has nothing to respond to.
        JRPC-18 [MAY · both · A-D] Both sides can originate requests (server: sampling, elicitation, roots, ping; client: everything else).
        JRPC-19 [MUST · both · B] Accept JSON-RPC batch arrays on receipt; sending them is optional.
        JRPC-20 [MUST · both · C-E] One JSON-RPC object per message; batch arrays were removed in C (A says nothing about them). Answer an array with -32600.
        JRPC-21 [SHOULD · both · A-E] Answer unparsable JSON with -32700 and a structurally invalid message (wrong `jsonrpc`, missing `method`, wrong types) with -32600.
        JRPC-22 [MUST · server · A-E] Answer a request for an unimplemented method, or one gated behind a capability not advertised, with -32601.
        JRPC-23 [NOTE · both · E] Ignore unknown members of params and results rather than failing (schema types are open).
        JRPC-24 [MUST · server · E] Keep no context between requests: version, capabilities, identity and conversation come from the request itself, never from the connection or process.
        JRPC-25 [SHOULD · server · E] Expect interleaved requests of unrelated tasks, threads or conversations on one connection.
        JRPC-26 [SHOULD NOT · server · E] Do not demand that related operations arrive over the same connection or process.
        JRPC-27 [SHOULD NOT · client · E] Do not tie the life of a stdio server process to one task, thread or conversation.
        JRPC-28 [MUST · both · E] State spanning several requests is named by an explicit identifier (handle, task id, requestState) which the client passes each time.
        JRPC-29 [MUST · both · A-E] Support the base protocol plus versioning/lifecycle (and in E all message patterns); every other feature is optional.
        JRPC-30 [MUST · both · E] Order inside one request: scoped notifications first, then exactly one final response, nothing afterwards.
        # META _meta, icons, common fields
        META-01 [MUST · both · C-E] A `_meta` key is an optional prefix of dot-separated labels, ended by `/`, and a name; labels start with a letter and end with a letter or digit.
        META-02 [MUST · both · C-E] The name part, unless empty, begins and ends alphanumeric; `-`, `_`, `.` allowed inside.
        META-03 [MUST NOT · both · D-E] Do not mint keys under a prefix whose second label is `modelcontextprotocol` or `mcp`; `com.example.mcp/` is free.
        META-04 [SHOULD · both · D-E] Use reverse-DNS prefixes for own keys.
        META-05 [MUST · client · E] Every request has `params._meta` with `io.modelcontextprotocol/protocolVersion` (string).
        META-06 [MUST · client · E] Every request has `params._meta["io.modelcontextprotocol/clientCapabilities"]` (object; `{}` when nothing is supported).
        META-07 [SHOULD · client · E] Send `io.modelcontextprotocol/clientInfo` ({name, version, ...}) on every request unless configured off.
        META-08 [MUST · server · E] Serve a request that lacks clientInfo (it is optional); never use its presence as era marker.
        META-09 [MAY · client · E] Send `io.modelcontextprotocol/logLevel` to opt in to log notifications for this one request (deprecated).
        META-10 [MUST · server · E] Reject a request missing a required _meta field with -32602; on HTTP with status 400.
        META-11 [SHOULD · server · E] Put `io.modelcontextprotocol/serverInfo` ({name, version, ...}) in every result's `_meta` unless configured off.
        META-12 [SHOULD NOT · both · E] Never base behavior or security decisions on clientInfo/serverInfo: display, logging, debugging only.
        META-13 [MUST · server · E] Put `io.modelcontextprotocol/subscriptionId` (the listen request's JSON-RPC id, same type) in `params._meta` of every notification delivered on a listen stream.
        META-14 [MUST NOT · server · E] Leave subscriptionId out of notifications that do not belong to a listen stream (progress, message).
        META-15 [MUST · both · E] `traceparent`, `tracestate`, `baggage` are the only unprefixed foreign keys reserved; when present they follow W3C Trace Context / W3C Baggage.
        META-16 [MAY · both · E] Propagate trace context through `_meta` in either direction.
        META-17 [MUST · both · A-E] `progressToken` in request `_meta` (string or integer) opts in to progress.
        META-18 [MAY · both · C-E] `_meta` is also allowed on Tool, Resource, ResourceTemplate, Prompt, contents, content blocks, Root, results and notifications; preserve it when relaying.
        META-19 [MUST NOT · both · D-E] Make no assumption about the value at a reserved key you do not know.
        META-20 [MAY · server · D-E] `icons` is an array of {src, mimeType?, sizes?: string[], theme?: light or dark} on Implementation, Tool, Prompt, Resource, ResourceTemplate.
        META-21 [MUST · client · D-E] A client that renders icons supports at least image/png and image/jpeg (image/jpg); SHOULD also support image/svg+xml and image/webp.
        META-22 [MUST · client · D-E] Accept only https: and data: icon sources; reject javascript:, file:, ftp:, ws: and app schemes, and cross-origin or scheme-changing redirects.
        META-23 [MUST · client · D-E] Fetch icons without credentials, verify same origin as the server, sniff the type by magic bytes against an allowlist, bound size/dimensions/frames.
        META-24 [SHOULD · client · C-E] Display name: `title`; for tools `title`, then `annotations.title`, then `name`.
        # SCH JSON Schema
        SCH-01 [MUST · both · D-E] A schema without `$schema` is JSON Schema 2020-12; support at least 2020-12.
        SCH-02 [MUST · both · D-E] Validate by the declared (or default) dialect and answer an unsupported dialect with a clear error instead of guessing.
        SCH-03 [SHOULD · both · D-E] Document which extra dialects are supported (draft-07 is the common one).
        SCH-04 [MUST · both · D-E] Published schemas are valid under their dialect.
        SCH-05 [MUST NOT · both · E] Never fetch a `$ref` that resolves to a network URI during normal processing.
        SCH-06 [MAY · both · E] Fetching a remote `$ref` may be an explicit option, off by default, with allowed hosts, time-outs and limits.
        SCH-07 [SHOULD · both · E] Reject a schema whose external `$ref` stays unresolved instead of treating that part as always valid.
        SCH-08 [SHOULD · both · E] Bound validation work: depth, number of subschemas, time budget (anyOf/oneOf/allOf/if/$defs are a DoS surface).
        # VER Versions and discovery
        VER-01 [MUST · client · E] Declare the version on every request (`_meta`), and on HTTP also in `MCP-Protocol-Version` with the identical value.
        VER-02 [MUST · server · E] Judge each request's version on its own; there is no handshake.
        VER-03 [MUST · server · E] Version unknown or not enabled: error -32022 with `data.supported` (array of all versions served) and `data.requested`; on HTTP status 400.
        VER-04 [SHOULD · client · E] On -32022 pick a mutual version from `data.supported` and retry; otherwise report to the user. Guard against looping.
        VER-05 [MUST · server · E] Implement `server/discover`.
        VER-06 [MAY · client · E] Skip discover and call any method directly, handling -32022.
        VER-07 [MUST · server · E] The result of discover holds `supportedVersions`, `capabilities`, `ttlMs`, `cacheScope`, `resultType`; optional `instructions`; who the server is stands in `_meta` alone.
        VER-08 [MAY · server · E] `supportedVersions` of a server of both eras may list legacy versions too.
        VER-09 [MUST · client · E] Send `server/discover` with the normal required `_meta`; it has no other params.
        VER-10 [MUST · both · A-E] Version identifiers are date strings YYYY-MM-DD; compare them as known enum values, keep unknown ones as strings.
        VER-11 [MAY · both · A-E] Support several versions at once.
        VER-12 [SHOULD · server · E] A modern-only server names its supported versions in whatever error it returns to `initialize`, on any transport.
        VER-13 [SHOULD · server · E] Advertise in `capabilities` exactly what is implemented; unimplemented features answer -32601.
        # LIFE Handshake and ping
        LIFE-01 [MUST · client · A-D] First message is `initialize` with protocolVersion, capabilities, clientInfo; SHOULD offer the newest version it has.
        LIFE-02 [MUST · server · A-D] Answer `initialize` with protocolVersion, capabilities, serverInfo, optional instructions.
        LIFE-03 [MUST · server · A-D] Echo the requested version if supported; otherwise answer with another version it supports (SHOULD be its newest legacy one), not with an error.
        LIFE-04 [SHOULD · client · A-D] Disconnect if the server's version is not supported.
        LIFE-05 [MUST · client · A-D] Send `notifications/initialized` after the initialize result.
        LIFE-06 [SHOULD NOT · client · A-D] Send no request except ping before the initialize response.
        LIFE-07 [SHOULD NOT · server · A-D] Send no request except ping (and logging notifications) before `notifications/initialized`.
        LIFE-08 [MUST · both · C-D] Respect the negotiated version and use only negotiated capabilities during operation (SHOULD in A and B).
        LIFE-09 [MUST NOT · client · A-D] `initialize` is not part of a batch (B) and is never cancelled.
        LIFE-10 [MUST · both · A-D] Answer `ping` promptly with an empty result object.
        LIFE-11 [MAY · both · A-D] Treat an unanswered ping as a stale connection; ping frequency SHOULD be configurable.
        LIFE-12 [MUST NOT · client · E] `ping`, `initialize`, `logging/setLevel`, `resources/subscribe`, `resources/unsubscribe` do not exist; a modern request naming one gets -32601 (HTTP 404).
        LIFE-13 [SHOULD · client · A-D] Shutdown on stdio: close the child's stdin, wait, SIGTERM, wait, SIGKILL. HTTP: close connections (plus DELETE for sessions).
        # DUAL Both eras
        DUAL-01 [MAY · server · E] Serve modern and legacy clients on the same endpoint or in the same process, even concurrently.
        DUAL-02 [MUST · server · E] A request with modern per-request `_meta` is served statelessly under E, regardless of any legacy session or handshake on the same connection.
        DUAL-03 [MUST · server · A-E] `initialize` selects legacy semantics for the stdio process, or for the created HTTP session only; other requests keep being judged one by one.
        DUAL-04 [NOTE · server · E] The body decides the era: a version in `params._meta` claims the modern one; `initialize`, and a request without the claim, are legacy; headers are only compared.
        DUAL-05 [NOTE · server · E] A claim in `_meta` that names a legacy version is not modern: -32022 with the versions that may be used so.
        DUAL-06 [NOTE · server · E] Header names a modern version but the body has no `_meta` version: answer -32602 with 400 (missing required field), not -32020.
        DUAL-07 [NOTE · server · E] `_meta` claims modern but the MCP-Protocol-Version header is absent: -32020 with 400.
        DUAL-08 [NOTE · server · E] `initialize` that does carry a modern `_meta` claim is an unknown method: 404 with -32601.
        DUAL-09 [MAY · server · A-E] A missing MCP-Protocol-Version header can be read as 2025-03-26 only if clients older than 2025-06-18 are supported; otherwise reject it.
        DUAL-10 [SHOULD · client · E] stdio: a dual-era client probes with `server/discover` (preferred modern version in `_meta`) before anything else.
        DUAL-11 [SHOULD · client · E] What a probe on stdio means: a result of discover or a modern error is a modern server; any other error, and silence, a legacy one.
        DUAL-12 [MUST NOT · client · E] The stdio fallback is not keyed to one error code; legacy servers answer -32601, -32602, anything, or stay silent.
        DUAL-13 [SHOULD · client · E] A modern-only stdio client still probes first, to fail cleanly against a legacy server that would run e.g. `tools/call` without a handshake.
        DUAL-14 [MAY · client · E] HTTP: detect by sending the intended modern request; on 400 inspect the body before falling back.
        DUAL-15 [SHOULD · client · E] HTTP: a body holding a recognized modern JSON-RPC error (-32020, -32021, -32022) means a modern server: fix the request or version, do not fall back.
        DUAL-16 [SHOULD · client · E] HTTP: empty or unrecognized body on 400 -> fall back to `initialize` and stay legacy.
        DUAL-17 [SHOULD · client · E] HTTP+SSE (A) fallback: POST fails with 400, 404 or 405 and no recognized modern error body (includes -32601 on 404) -> GET the URL and expect an `endpoint` event.
        DUAL-18 [NOTE · client · E] 401/403 and network errors are not era evidence; run authorization or report, never fall back because of them.
        DUAL-19 [SHOULD · client · E] Cache the era for the life of the process (stdio) or per origin (HTTP); MAY persist it; re-probe when a cached verdict fails.
        DUAL-20 [NOTE · client · E] A cached "legacy" verdict never fails by itself (an upgraded server still answers initialize): give it an expiry.
        DUAL-21 [MUST · server · A-D] Under legacy semantics results have what they used to have and no `resultType`, `ttlMs`, `cacheScope`; each type is written as its revision has it.
        DUAL-22 [MUST NOT · server · E] Never emit `-32002` or `-32042` to modern requests; do emit `-32002` for missing resources to legacy sessions.
        DUAL-23 [NOTE · server · A-E] Elicitation/sampling/roots: one handler API, two wire bindings: server request on the session stream (A-D) or MRTR result plus retry (E).
        DUAL-24 [NOTE · server · A-E] Subscriptions: one change bus, three sinks: session GET stream or stdio (A-D, `resources/subscribe` set per session), listen streams (E).
        # ERR Error codes
        ERR-01 [MUST · both · A-E] Standard codes: -32700 parse, -32600 invalid request, -32601 method not found, -32602 invalid params, -32603 internal.
        ERR-02 [MUST · server · E] -32020 HeaderMismatch, -32021 MissingRequiredClientCapability with data.requiredCapabilities, -32022 UnsupportedProtocolVersion with data.supported and data.requested; all with HTTP 400.
        ERR-03 [MUST NOT · both · E] Emit no other code in -32020..-32099 and use these only with the defined meaning.
        ERR-04 [MUST NOT · both · E] Allocate no new code in -32000..-32019; new implementations SHOULD NOT use that range at all.
        ERR-05 [MUST NOT · both · E] Read no fixed meaning into received -32000..-32019, except -32002 from older servers.
        ERR-06 [SHOULD · both · E] Own codes lie outside -32768..-32000.
        ERR-07 [MUST NOT · server · E] Never emit -32002 or -32042 under E.
        ERR-08 [SHOULD · client · E] Accept -32002 as "resource not found" (from older servers).
        ERR-09 [SHOULD · server · A-D] Resource not found is -32002.
        ERR-10 [MAY · server · D] -32042 with data.elicitations[] (URL mode, each with elicitationId) when a URL elicitation must precede; only then.
        ERR-11 [SHOULD · both · E] Locally raised errors (timeouts etc.) surfaced in JSON-RPC shape are not mistakable for peer errors (the text says "should" in lower case).
        ERR-12 [SHOULD · both · E] Error messages are one concise sentence.
        ERR-13 [MUST · server · E] Unknown tool, unknown prompt, missing required prompt argument, invalid cursor, unknown log level, resource not found -> -32602.
        ERR-14 [SHOULD · client · E] Requested elicitation mode not declared -> -32602 (legacy servers ask by request); in E the server simply must not ask.
        ERR-15 [NOTE · both · E] Early implementations used -32001, -32003 and -32004 for the three modern codes: neither emit them nor rely on them.
        # CAP Capabilities
        CAP-01 [MUST · client · E] Declare capabilities per request; the server infers nothing from earlier ones.
        CAP-02 [MUST NOT · server · E] Do not rely on undeclared client capabilities; if needed -> -32021.
        CAP-03 [MAY · both · A-E] Capability objects are open: unknown keys are kept and ignored; `experimental` holds non-standard ones.
        CAP-04 [MUST · both · E] `extensions`: map of identifier (with mandatory prefix, _meta key rules) to settings object; {} = no settings.
        CAP-05 [MUST · both · E] If only one side has an extension: fall back to core behavior, or reject with an appropriate error if it is indispensable.
        CAP-06 [MUST · both · E] Extensions are off by default and opted in explicitly by the developer.
        CAP-07 [MUST · both · E] A breaking extension change takes a new identifier; document supported extensions (SHOULD).
        CAP-08 [SHOULD · server · E] Check client capabilities before offering extension features; treat extension data as untrusted.
        CAP-09 [NOTE · both · E] Keys of the client: experimental, roots, sampling, elicitation, extensions; of the server: experimental, logging, completions, prompts, resources, tools, extensions.
        CAP-10 [NOTE · both · D] 2025-11-25 only: `tasks` capability tree on both sides; no `extensions` field yet.
        CAP-11 [NOTE · both · A] 2024-11-05: no completions capability, no elicitation.
        """#
}

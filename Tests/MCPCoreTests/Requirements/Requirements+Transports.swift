extension Requirements {
    /// The requirements on the transports.
    static let transports = #"""
        # STDIO stdio
        STDIO-01 [MUST · client · A-E] Launch the server as a subprocess; messages flow client->stdin, server->stdout.
        STDIO-02 [MUST · both · A-E] One message per line, newline-terminated, and no raw newline inside a message (escape it in JSON strings).
        STDIO-03 [MUST NOT · server · A-E] Write nothing to stdout that is not an MCP message (no banners, no prints).
        STDIO-04 [MUST NOT · client · A-E] Write nothing to the server's stdin that is not an MCP message.
        STDIO-05 [MAY · server · A-E] Use stderr for UTF-8 logging of any severity.
        STDIO-06 [SHOULD NOT · client · D-E] Do not read stderr output as a sign of failure; MAY capture, forward or drop it.
        STDIO-07 [MUST NOT · server · E] No JSON-RPC requests on stdout.
        STDIO-08 [MUST NOT · client · E] No JSON-RPC responses on stdin.
        STDIO-09 [MUST · client · E] Route incoming messages by `id`, progress by `progressToken`, subscription notifications by `_meta` subscriptionId (single shared channel).
        STDIO-10 [NOTE · server · E] `notifications/message` on stdio cannot be attributed to a request: send it only while the request that asked for it is in flight.
        STDIO-11 [MUST · client · E] Cancel with `notifications/cancelled` naming the request id.
        STDIO-12 [MUST NOT · server · E] After a cancel was honored send nothing more for that request (no response either).
        STDIO-13 [SHOULD · client · A-E] Shut down: close stdin, wait, then terminate (POSIX SIGTERM, later SIGKILL).
        STDIO-14 [SHOULD · server · E] Exit promptly on stdin EOF; this is the one portable shutdown signal.
        STDIO-15 [MAY · server · A-E] Shut down by closing stdout and exiting.
        STDIO-16 [SHOULD · client · E] Restart a server that died unexpectedly; in-flight requests are lost and may be retried with new ids.
        STDIO-17 [MUST · client · E] Re-send `subscriptions/listen` after a restart; the server keeps nothing.
        STDIO-18 [SHOULD · both · E] Reuse this line framing for Unix sockets, TCP and similar byte streams.
        STDIO-19 [MUST · both · E] Custom transports keep the JSON-RPC format, the message patterns and the per-request metadata; SHOULD document connection, framing, cancellation.
        STDIO-20 [SHOULD · client · A-D] Support stdio whenever possible.
        STDIO-21 [SHOULD NOT · both · B-E] Do not run the OAuth flow on stdio; take credentials from the environment.
        STDIO-22 [MAY · both · B] A line can hold a batch array.
        # HTTP Streamable HTTP: server
        HTTP-01 [MUST · server · E] Offer one endpoint path (MCP endpoint) accepting POST.
        HTTP-02 [MUST · server · A-E] Validate `Origin` on every incoming connection.
        HTTP-03 [MUST · server · D-E] `Origin` present but not allowed -> 403; the body MAY be a JSON-RPC error without id. An absent Origin is not a failure.
        HTTP-04 [SHOULD · server · A-E] When local, bind to 127.0.0.1 only.
        HTTP-05 [SHOULD · server · A-E] Authenticate all connections.
        HTTP-06 [NOTE · server · A-E] Check `Host` against an allowlist too when bound to loopback.
        HTTP-07 [MUST · server · E] POST body is exactly one request or notification object; refuse responses and arrays.
        HTTP-08 [MUST · server · E] Accepted notification -> 202 with empty body; refused -> 4xx, body MAY be a JSON-RPC error without id.
        HTTP-09 [MUST · server · E] Request -> answer with `application/json` (one object) or `text/event-stream`, at the server's choice per request.
        HTTP-10 [MUST · server · E] Unimplemented method -> HTTP 404 plus JSON-RPC -32601 with the request id in the body.
        HTTP-11 [MUST · server · E] Unsupported version -> 400 plus -32022.
        HTTP-12 [MUST · server · E] Header problem -> 400 plus -32020 with a JSON-RPC error body.
        HTTP-13 [MUST · server · E] Missing client capability -> 400 plus -32021 with data.requiredCapabilities.
        HTTP-14 [MUST · server · E] Missing required _meta -> 400 plus -32602.
        HTTP-15 [NOTE · server · E] All other JSON-RPC errors have no prescribed status: 200 with the error, so that nobody takes them for failures of the transport.
        HTTP-16 [SHOULD · server · E] GET or DELETE on the endpoint of a modern-only server -> 405 (send `Allow: POST`).
        HTTP-17 [SHOULD · server · E] Ignore `Mcp-Session-Id` and `Last-Event-ID` on modern requests; never mint or echo a session id.
        HTTP-18 [MUST · server · E] SSE response: only notifications that relate to the originating request, then the final response.
        HTTP-19 [MUST NOT · server · E] No JSON-RPC requests on any SSE stream.
        HTTP-20 [SHOULD · server · E] End the SSE stream after the final response.
        HTTP-21 [SHOULD · server · E] Send `X-Accel-Buffering: no` with SSE responses.
        HTTP-22 [SHOULD · server · E] Emit an SSE comment line (leading colon) now and then on long quiet streams (encouraged).
        HTTP-23 [MUST NOT · server · E] No resumption: `Last-Event-ID` unsupported, event ids have no meaning.
        HTTP-24 [MUST · server · E] Treat the closing of the response stream by the client as cancellation of that request.
        HTTP-25 [MUST NOT · server · E] Send nothing further for a cancelled request; SHOULD stop the work soon.
        HTTP-26 [NOTE · server · E] While a JSON (non-SSE) answer is pending, a client disconnect is equally a cancellation ("client disconnect"): watch the socket for EOF during handler execution.
        HTTP-27 [SHOULD · server · E] Refuse oversized or too many headers early (431/413) before Base64 decoding or body parsing; document the limits.
        HTTP-28 [MUST · server · E] Authenticate and authorize each request on its own; nothing carries over from an earlier one.
        HTTP-29 [NOTE · server · E] Result of `subscriptions/listen` is always SSE on HTTP and stays open.
        HTTP-30 [NOTE · server · B-E] Statuses for a wrong Content-Type, Accept, an unparsable or too large body are those of HTTP: 415, 406, 400 with -32700, 413.
        # HTTPC Streamable HTTP: client
        HTTPC-01 [MUST · client · B-E] Each message is its own POST to the endpoint.
        HTTPC-02 [MUST · client · B-E] `Accept` lists both application/json and text/event-stream.
        HTTPC-03 [NOTE · client · B-E] `Content-Type: application/json` on the POST.
        HTTPC-04 [MUST · client · E] Send MCP-Protocol-Version, Mcp-Method and (where required) Mcp-Name on every request POST.
        HTTPC-05 [MUST · client · B-E] Handle both answer types: a JSON object or an SSE stream.
        HTTPC-06 [MUST · client · E] Ignore SSE comment lines.
        HTTPC-07 [MUST · client · E] A broken response stream means that the request is lost: a new request with a new id, never Last-Event-ID.
        HTTPC-08 [MUST NOT · client · E] Do not POST `notifications/cancelled`; closing the response stream is the cancel signal.
        HTTPC-09 [NOTE · client · E] The rules for headers on POSTs of notifications are open: send Mcp-Method and MCP-Protocol-Version anyway.
        HTTPC-10 [NOTE · client · E] Expect no progress or log notifications on the listen stream; they come on their own request's stream.
        HTTPC-11 [SHOULD · client · E] Handle 413 and 431 gracefully.
        HTTPC-12 [MUST · client · B-E] Send `Authorization: Bearer` on every request when authorized, never in the query string.
        # HDR Request headers
        HDR-01 [MUST · client · E] `MCP-Protocol-Version` equals `_meta` protocolVersion byte for byte.
        HDR-02 [MUST · client · C-D] `MCP-Protocol-Version: <negotiated>` on every request after initialize.
        HDR-03 [MUST · server · C-D] Invalid or unsupported header value -> 400; missing header and nothing else known -> assume 2025-03-26 (SHOULD).
        HDR-04 [MUST · client · E] `Mcp-Method` = body `method` on all requests.
        HDR-05 [MUST · client · E] `Mcp-Name` = `params.name` for tools/call and prompts/get, `params.uri` for resources/read; for tasks/get, tasks/update, tasks/cancel = `params.taskId`.
        HDR-06 [MUST · both · E] Header names compare case-insensitively, header values case-sensitively (`Mcp-Method: TOOLS/CALL` is a mismatch).
        HDR-07 [MUST · server · E] Trim optional whitespace around header values before comparing.
        HDR-08 [MUST · server · E] Required header missing, value different from the body, or illegal characters -> 400 / -32020.
        HDR-09 [MUST · both · E] A value that is not plain ASCII, or has blanks at its ends, is sent as `=?base64?…?=`; applies to Mcp-Name and Mcp-Param-*.
        HDR-10 [MUST · client · E] Also Base64-encode a plain value that itself starts with `=?base64?` and ends with `?=`.
        HDR-11 [MUST · server · E] Decode sentinel values before comparing; markers are lowercase and exact. Missing prefix or suffix, or `=?BASE64?`, means a literal value.
        HDR-12 [MUST · server · E] Bad padding or alphabet inside the sentinel -> 400 / -32020.
        HDR-13 [MUST NOT · server · E] Mcp-Method and MCP-Protocol-Version do not use the sentinel encoding.
        HDR-14 [MAY · server · E] Mark a tool parameter with `x-mcp-header: "<Name>"` inside its property schema to have it mirrored as `Mcp-Param-<Name>`.
        HDR-15 [MUST · client · E] Support x-mcp-header on Streamable HTTP: mirror the designated argument values on tools/call.
        HDR-16 [MUST · both · E] x-mcp-header value: non-empty RFC 9110 token, case-insensitively unique in the inputSchema.
        HDR-17 [MUST · both · E] Only on properties of type string, integer, boolean (not number, object, array, null); integers within +-(2^53-1).
        HDR-18 [MUST · both · E] Only on properties reachable from the root through `properties` keys alone; anywhere under items, composition, conditional or `$ref` makes the whole tool invalid.
        HDR-19 [MUST · client · E] HTTP client drops an invalid tool from the tools/list result it hands out, keeps the others; SHOULD log name and reason. Other transports MAY ignore the annotation.
        HDR-20 [MUST · client · E] Stringify: string as is, integer decimal, boolean true/false; then encode.
        HDR-21 [MUST · client · E] Omit the header when the argument is absent or null.
        HDR-22 [MUST NOT · server · E] Do not expect the header when the argument is absent or null.
        HDR-23 [MUST · server · E] Reject (400 / -32020) when a designated argument is in the body but its header is missing or differs.
        HDR-24 [SHOULD · server · E] Compare integers numerically (42.0 equals 42).
        HDR-25 [MUST · both · E] Empty string argument -> header present with empty value; treat present-but-empty as a value.
        HDR-26 [SHOULD · client · E] On -32020 for a tools/call refresh tools/list and retry with the right headers.
        HDR-27 [MUST · server · E] Unknown Mcp-Param-* headers are ignored (and forwarded by intermediaries).
        HDR-28 [SHOULD NOT · server · E] Do not mark secrets or PII with x-mcp-header; Base64 hides nothing.
        HDR-29 [MUST NOT · server · E] Do not grant access from mirrored header values alone; they come from an untrusted client or model.
        HDR-30 [SHOULD · both · E] Intermediaries trust mirrored headers only if MCP-Protocol-Version names a revision that requires validation; else reject.
        HDR-31 [MUST · both · E] Intermediaries answer validation failures with a fitting HTTP error; a JSON-RPC body is optional for them.
        HDR-32 [NOTE · both · E] A client accepts a mirrored parameter of type `number`, which some servers have; a server never emits one.
        # LEG HTTP of the handshake revisions
        LEG-01 [MUST · server · B-D] One endpoint path that supports POST and GET.
        LEG-02 [MUST · both · B-D] POST body may be one request, notification or response (B: also arrays of requests/notifications or of responses).
        LEG-03 [MUST · server · B-D] Only responses/notifications in the POST -> 202 empty, else 4xx (body MAY be an id-less error).
        LEG-04 [MUST · server · B-D] Any request in the POST -> JSON or SSE.
        LEG-05 [MAY · server · B-D] Send requests and notifications related to the client request on that request's SSE stream before the response (D: SHOULD relate).
        LEG-06 [SHOULD · server · D] Prime a new SSE stream with an event that has an `id` and empty data.
        LEG-07 [MAY · server · D] Close the connection early after an event id was sent, SHOULD first send `retry:`; client reconnects (polling).
        LEG-08 [MUST · client · D] Honor `retry` milliseconds before reconnecting.
        LEG-09 [SHOULD NOT · both · B-D] A disconnect is not a cancellation; cancel explicitly with notifications/cancelled (opposite of E).
        LEG-10 [SHOULD NOT · server · B-C] Do not close the SSE stream before the response unless the session expires.
        LEG-11 [SHOULD · server · B-D] End the SSE stream after the response(s).
        LEG-12 [MAY · client · B-D] Open a GET stream (Accept: text/event-stream) for server messages.
        LEG-13 [MUST · server · B-D] GET -> text/event-stream or 405.
        LEG-14 [MUST NOT · server · B-D] No responses on the GET stream, except when resuming a POST stream.
        LEG-15 [SHOULD · server · B-D] Messages on the GET stream are unrelated to running client requests.
        LEG-16 [MUST NOT · server · B-D] Each message goes to exactly one of the client's streams; never broadcast.
        LEG-17 [MAY · client · B-D] Hold several SSE streams at once.
        LEG-18 [MAY · server · B-D] Tag SSE events with ids, globally unique over all streams of the session; D: SHOULD encode the stream identity.
        LEG-19 [SHOULD · client · B-D] Resume by GET with Last-Event-ID, whatever method opened the stream.
        LEG-20 [MAY · server · B-D] Replay events after that id from that one stream; MUST NOT replay another stream's events.
        LEG-21 [MAY · server · B-D] Assign a session id in `Mcp-Session-Id` on the initialize response; SHOULD be unguessable; MUST be visible ASCII 0x21-0x7E.
        LEG-22 [MUST · client · B-D] Repeat the session id on all later requests.
        LEG-23 [SHOULD · server · B-D] A required session id missing -> 400.
        LEG-24 [MUST · server · B-D] Terminated or unknown session id -> 404.
        LEG-25 [MUST · client · B-D] 404 with a session id -> start over with initialize without the id.
        LEG-26 [SHOULD · client · B-D] DELETE with the session id when done; the server MAY answer 405.
        LEG-27 [MUST · client · D] Handle the session id securely.
        LEG-28 [MUST NOT · server · B-D] A session is never authentication; verify every inbound request; bind session data to the user (`<user>:<session>`).
        LEG-29 [SHOULD · client · B] Send MCP-Protocol-Version during authorization server metadata discovery.
        LEG-30 [MUST · server · A] HTTP+SSE: a GET SSE endpoint that first sends an `endpoint` event with the POST URI, and a POST endpoint; server messages are `message` events.
        LEG-31 [MUST · client · A] All client messages go to the announced URI.
        LEG-32 [SHOULD NOT · both · E] New implementations do not adopt HTTP+SSE (deprecated; eligible for removal).
        """#
}

extension Requirements {
    /// Why a requirement has no test: it does not concern what this package is or offers.
    struct Reason: Sendable {
        let id: String
        let text: String
        /// Tests name the rest of the requirement.
        let isPartial: Bool
    }

    static let reasons: [Reason] = reasonText.split(separator: "\n").map { line in
        let parts = line.split(separator: ":", maxSplits: 1)
        let words = parts[0].split(separator: " ")
        return Reason(
            id: String(words[0]), text: parts.count > 1 ? String(parts[1].dropFirst()) : "",
            isPartial: words.count > 1 && words[1] == "partly")
    }
    static let reasonByID = Dictionary(reasons.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })

    /// `ID: reason`, or `ID partly: reason` beside tests.
    private static let reasonText = #"""
        JRPC-27: How long a program keeps its client, and so the server's process, is the program's choice; a client lives until it is closed.
        META-04: The library mints no keys of its own; keys of programs are passed on as they are.
        META-21: Nothing here draws icons; they are handed to the program as data.
        META-22: Nothing here loads icons; what their addresses may be is decided where they are loaded.
        META-23: Nothing here fetches icons; they are handed to the program as data.
        SCH-03: Documented at `CompiledSchema` and nothing that a test could prove: 2020-12 and draft-07.
        SCH-06: Optional and not offered: a schema that is not there is an error.
        VER-06: Optional and not used: the client always opens with discover, and remembers the answer.
        VER-12: The server is never modern only: it serves the handshake revisions too.
        LIFE-11: Optional: `ping` is there, and how often to call it, and what silence means, is the program's choice.
        DUAL-09: Optional and not needed: a session's id says which revision it has, and without a session there is no older request to serve.
        CAP-07: A rule for whoever writes an extension; this package defines none.
        STDIO-05: Optional: what a program writes to standard error is its own; the daemon logs there.
        STDIO-15: Optional and not used: the server ends when its input does.
        STDIO-18: The library has no byte streams but stdio: Unix sockets carry HTTP, other transports bring their own framing.
        STDIO-21: There is no OAuth on stdio: a server's process gets its credentials from the environment that it is started with.
        HTTPC-09: A note on extensions whose clients send notifications over HTTP; this client has none.
        HDR-28: Which parameters are mirrored is decided by who writes a tool.
        HDR-29: The library grants nothing by a header; headers are compared with the body and then forgotten.
        HDR-30: A rule for intermediaries, and this package is none.
        HDR-31: A rule for intermediaries, and this package is none.
        LEG-32: The server has no HTTP+SSE; the client falls back to it only for servers that have nothing else.
        TOOL-09: A client talks to one server; who brings tools of several together names them apart.
        TOOL-19: The result, `isError` included, is handed to the program; what a model gets to see is the program's choice.
        TOOL-20: Annotations are handed to the program as hints; here they decide only whether a call that was lost may be sent again.
        TOOL-22 partly: Inputs are checked; who may call what, and how often, is decided by the program, which knows its users.
        TOOL-23: Confirmations and displays belong to programs with a user; time-outs and the check of results are there.
        TOOL-24: A rule for programs that let a model call tools; the library calls only what its program calls.
        TOOL-27: Which resources a server offers beside those that its results embed is its author's choice.
        TOOL-28: Advice for tools with a state of their own; the library keeps no handles for them.
        RES-15: Which addresses a server gives its resources is its author's choice.
        RES-16: Optional: the library does not look into the addresses that a server registers.
        RES-19: Who may read what is decided by the program, which knows its users.
        CACHE-13: Nothing here decides anything by cacheScope; who may read what is decided by the program.
        LOG-09: Logging is offered for clients that ask for it; what it costs to leave it out is nothing, and programs may.
        PROG-05 partly: Tokens are tracked; how often to report is the handler's choice.
        PROG-07: Tasks of 2025-11-25 are experimental and optional, and not offered.
        CANC-10: The reason is handed to the log and the program; displays belong to programs with a user.
        CANC-12: Tasks of 2025-11-25 are experimental and optional, and not offered, so there are none to cancel.
        SEC-04: A rule for programs that install servers; nothing here installs any.
        SEC-05: How a server is reached is its operator's choice; stdio and Unix sockets are there, and HTTP binds loopback by default.
        SEC-06: A rule for proxies that start servers, and this package is none.
        SEC-07: A rule for programs that have a user; the library exposes data and calls tools only when its program does.
        ELIC-22: URL elicitation is handed to the program; nothing here authorizes a client by it.
        SAMP-14: Advice to new implementations; sampling is offered for the servers that need it.
        ROOT-07: Advice to new implementations; roots are offered for the servers that need them.
        CACHE-07: Optional and not used: an answer that has run out is fetched anew, and a refusal is told; changes that are announced end an answer's time early.
        CACHE-09: Optional and not used: every client keeps answers for itself.
        CAP-08 partly: Capabilities are checked; what comes through an extension is checked as everything else is.
        COMP-06: How often to ask while somebody types is the program's choice.
        COMP-07 partly: Inputs are checked and bounded; which values somebody may see is decided by the program's code, which knows its users.
        ELIC-15: What a form asks is its author's choice; the documentation says that everything secret belongs on a page.
        ELIC-20: Which page is opened is its author's choice; forms have no field for links.
        ELIC-21 partly: The state of a question is bound to who asked; who opens a page is checked by the page.
        ELIC-23 partly: The state that the library keeps is bound to the principal; what a program stores besides is its own.
        LIFE-07: The server asks only while it serves a request, and a client sends none before it is initialized.
        AUTH-01: Logins and tokens exist over HTTP only; a program gets its credentials from the environment that it is started with.
        AUTH-47: Nothing here issues tokens or forwards a login to a third party, so there is no consent to ask for.
        AUTH-58: Optional and not offered by the server: a token that is bound to a key is refused, because no proof is checked.
        PROG-08: Optional and not used: the client reports no progress on questions.
        ROOT-05 partly: Nothing but what the program's handler returns is told; what that is, is the program's choice.
        ROOT-06: Roots are handed to the handler, which treats them as guidance.
        SAMP-05 partly: The limit reaches the handler; the model that keeps to it is the program's.
        SAMP-06 partly: Hints reach the handler in their order; the choice of the model is the program's.
        SAMP-11: The handler stands between the request and the model, so that a program with a user can ask; how often a model is used is its choice.
        TASKL-01: Tasks of 2025-11-25 are experimental and optional; the capability is declared by neither side here.
        TASKL-02: Tasks of 2025-11-25 are experimental and optional; the client never asks for one.
        TASKL-03: Tasks of 2025-11-25 are experimental and optional; no tool here needs or forbids one.
        TASKL-04: Tasks of 2025-11-25 are experimental and optional; the server creates none.
        TASKL-05: Tasks of 2025-11-25 are experimental and optional; their methods do not exist here.
        TASKL-06: Tasks of 2025-11-25 are experimental and optional; there are no messages that belong to one.
        TASKL-07: Tasks of 2025-11-25 are experimental and optional; the server creates none.
        TASKL-08: Tasks of 2025-11-25 are experimental and optional; the server announces and lists none.
        EXT-06: Skills is an optional extension that is not declared here.
        EXT-07: Skills is an optional extension that is not declared here.
        EXT-08: Skills is an optional extension that is not declared here.
        EXT-09: Server cards are experimental and not offered here.
        EXT-10: Both are proposals that are not part of the specification yet.
        """#
}

/// A page that checks its host (MCP Apps 2026-01-26). It works without a network.
///
/// Each requirement that a view can observe is a row with `data-id` and `data-state`: `pending`, `pass`,
/// `fail` or `skip`. `#summary` has the state `running` and then `done`. Checks that need the user's consent
/// are behind buttons. Results of earlier runs count, since no single run can show everything.
enum ConformanceView {
    /// The address of the page that declares an origin for `connect-src`.
    static let uri = "ui://demo/conformance"
    /// The address of the same page without metadata, which may reach nothing.
    static let defaultURI = "ui://demo/conformance/default"
    /// The declared origin: any port of this machine. A second local server is the positive control,
    /// everything else the negative one.
    static let declared = "http://127.0.0.1:*"

    /// The requirements, named as in the public catalogue.
    static let ids = [
        "security/sandbox-proxy-required",
        "security/sandbox-distinct-origin",
        "security/sandbox-permissions",
        "security/csp-construct-from-domains",
        "security/csp-default-deny",
        "security/csp-allow-declared",
        "security/csp-no-loosening",
        "lifecycle/initialize-capabilities",
        "lifecycle/tool-input",
        "lifecycle/tool-input-partial",
        "lifecycle/tool-input-partial-stop",
        "lifecycle/tool-result",
        "lifecycle/tool-cancelled",
        "lifecycle/teardown-notify",
        "lifecycle/teardown-await",
        "tools/proxy-call",
        "visibility/app-tool-call-guard",
        "context/initialize-hostcontext",
        "context/context-changed",
        "dimensions/listen-size-changed",
        "display/no-undeclared-mode",
        "display/return-resulting-mode",
        "display/unavailable-returns-current",
        "display/decline-undeclared",
        "links/open-external",
        "messages/add-to-conversation",
        "model-context/last-wins",
        "capabilities/mimetypes-required",
        "capabilities/server-passthrough",
    ]

    static let html = DemoViewScript.page(
        title: "Conformance",
        style: """
            ul { list-style: none; padding: 0; margin: 0.75rem 0; }
            li { display: flex; gap: 0.5rem; padding: 0.15rem 0; }
            li::before { flex: 0 0 3.2rem; font-weight: 600; content: attr(data-state); }
            li[data-state=pass]::before { color: var(--color-text-success, light-dark(#060, #8d8)); }
            li[data-state=fail]::before { color: var(--color-text-danger, light-dark(#a00, #f99)); }
            li code { white-space: nowrap; }
            li span { color: var(--color-text-secondary, light-dark(#555, #bbb)); overflow-wrap: anywhere; }
            """,
        body: """
            <p id="summary" data-state="running" role="status">Running…</p>
            <p>
            <button id="open-link">Open a link</button>
            <button id="message">Say something</button>
            <button id="context">Tell the model</button>
            <button id="download">Save a file</button>
            <button id="teardown">Close me</button>
            </p>
            <ul id="rows"></ul>
            """, script: ConformanceScript.text)
}

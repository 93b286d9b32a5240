/// Flags of `host`.
enum HostFlag: Sendable, CaseIterable {
    case port, sandboxPort, opens, staysClosed, csp, allowDomains, blockDomains, allowHosts, approve, grant
    case theme, history, scan, config

    var row: FlagRow {
        switch self {
        case .port: FlagRow("--port", value: "PORT", summary: "port of the page (0: any)")
        case .sandboxPort: FlagRow("--sandbox-port", value: "PORT", summary: "port of the views (0: any)")
        case .opens: FlagRow("--open", summary: "open the page in the browser")
        case .staysClosed: FlagRow("--no-open", summary: "do not open the page (default)")
        case .csp:
            FlagRow(
                "--csp", value: "strict|compat|allow-wildcards",
                summary: "what views may load (strict; repeatable)")
        case .allowDomains:
            FlagRow("--allow-domains", value: "A,B", summary: "views may reach only these hosts")
        case .blockDomains: FlagRow("--block-domains", value: "A,B", summary: "views never reach these hosts")
        case .allowHosts:
            FlagRow("--allow-hosts", value: "A,B", summary: "servers may be on these hosts only")
        case .approve:
            FlagRow(
                "--approve", value: "auto|ask|deny", summary: "one policy for all calls, whatever tools claim"
            )
        case .grant:
            FlagRow(
                "--grant", value: "A,B",
                summary: "views may use: camera, microphone, geolocation, clipboardWrite")
        case .theme: FlagRow("--theme", value: "auto|light|dark", summary: "colours of the page (auto)")
        case .history:
            FlagRow(
                "--history", value: "FILE", reads: .whole,
                summary: "save the calls in FILE, and show those of earlier runs")
        case .scan:
            FlagRow("--scan", value: "A-B", summary: "look for servers on these ports of this machine")
        case .config:
            FlagRow(
                "--config", value: "FILE", reads: .whole, summary: "servers from a file with \"mcpServers\"")
        }
    }
}

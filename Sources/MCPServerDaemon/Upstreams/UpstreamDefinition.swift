import MCPCore

/// A server behind this one, as configured.
struct UpstreamDefinition: Sendable, Hashable {
    /// The way to reach a server.
    enum Place: Sendable, Hashable {
        case program(String, arguments: [String], environment: [String: String], directory: String?)
        case http(String)
        case unix(path: String, endpoint: String)
    }

    var name: String
    var place: Place
    var headers: [String: String] = [:]
    var prefix: String?
    var tools: [String] = []
    var resources: [String] = []
    var prompts: [String] = []
    var rename: [String: String] = [:]
    var annotations: [String: ToolAnnotations] = [:]
    /// Whether this server does not start without it.
    var isRequired = false
    var idle: Duration?
    var restarts = true
    var timeout = Self.defaultTimeout
    var connectTimeout = Self.defaultTimeout
    var concurrency = 64
    var isPerPrincipal = false
    /// The revision of the protocol to use; `nil` for the newest one that the server supports.
    var revision: ProtocolVersion?
    /// What its tools, prompts and templates must be to be offered; `nil` accepts any.
    var pins: UpstreamPins?
    /// What confines the program; `nil` if nothing does.
    var sandbox: SandboxDefinition?
    /// The texts that logs and errors must not contain.
    var secrets: [String] = []

    static let defaultTimeout = Duration.seconds(60)

    /// Returns the server, which is not connected yet.
    func makeUpstream(supervisor: ProcessSupervisor?, log: Log) -> Upstream {
        var options = UpstreamOptions()
        options.prefix = prefix
        options.tools = tools
        options.resources = resources
        options.prompts = prompts
        options.rename = rename
        options.annotations = annotations
        options.idle = idle
        options.restarts = restarts
        options.timeout = timeout
        options.connectTimeout = connectTimeout
        options.concurrency = concurrency
        options.isPerPrincipal = isPerPrincipal
        options.protocol = revision.map { .exactly($0) } ?? .auto
        options.headers = headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        options.secrets = secrets
        options.pins = pins
        options.onStderr = { [name] line in log.debug("upstream output", ["mcpServer": name, "text": line]) }
        return Upstream(name, target(supervisor), options: options)
    }

    private func target(_ supervisor: ProcessSupervisor?) -> ClientTarget {
        switch place {
        case .program(let program, let arguments, let environment, let directory):
            var launch = ProcessLaunch(program, arguments, environment: environment, directory: directory)
            if let sandbox { launch.restriction = sandbox.restriction() }
            return .command(launch, supervisor: supervisor)
        case .http(let url): return .http(url)
        case .unix(let path, let endpoint): return .unix(path: path, endpoint: endpoint)
        }
    }
}

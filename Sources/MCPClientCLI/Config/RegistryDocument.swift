import MCPCore

/// The `server.json` of a server in the registry, as the source of a target: an address, or a package and
/// what runs it.
struct RegistryDocument {
    /// The largest size of a document.
    static let maxBytes = 1 << 20

    private let json: JSONValue
    private let shown: String
    private let variable: (String) -> String?
    private let given: Given

    /// What the command line gives to the server; a document need not be asked for it.
    struct Given {
        var variables: Set<String> = []
        /// In lower case.
        var headers: Set<String> = []

        init(_ options: Options) {
            variables = Set(options.environment.map(\.name))
            headers = Set(options.headers.map { $0.name.lowercased() })
            if options.bearerEnv != nil || options.bearerFile != nil { headers.insert("authorization") }
        }
    }

    init(
        _ bytes: [UInt8], name: String, given: Given, variable: @escaping (String) -> String?
    ) throws(Failure) {
        shown = name
        self.variable = variable
        self.given = given
        guard bytes.count <= Self.maxBytes else { throw .usage("\(name) is larger than 1 MiB") }
        do throws(JSONError) { json = try JSONValue(parsing: bytes) } catch {
            throw .usage("\(name) is not JSON", details: [inlineText("\(error)")])
        }
        guard json["name"]?.stringValue != nil, json["remotes"] != nil || json["packages"] != nil else {
            throw .usage(
                "\(name) is not a server.json of the registry",
                details: ["it has no name, or neither remotes nor packages"])
        }
    }

    /// Returns the first Streamable HTTP address, or else the first package that runs over stdio.
    func server() throws(Failure) -> ResolvedServer {
        let name = json["name"]?.stringValue ?? ""
        for remote in json["remotes"]?.arrayValue ?? [] where remote["type"]?.stringValue == "streamable-http"
        {
            guard let url = remote["url"]?.stringValue else { continue }
            var missing: [String] = []
            let address = filled(url, remote["variables"], &missing)
            var headers: [(name: String, value: String)] = []
            for header in remote["headers"]?.arrayValue ?? [] {
                guard let key = header["name"]?.stringValue, !given.headers.contains(key.lowercased())
                else { continue }
                guard let value = value(of: header, named: key, &missing) else { continue }
                headers.append((key, value))
            }
            try check(missing)
            return ResolvedServer(
                name: name, target: .http(address), headers: headers, secrets: headers.map(\.value))
        }
        for package in json["packages"]?.arrayValue ?? [] {
            guard package["transport"]?["type"]?.stringValue ?? "stdio" == "stdio",
                let words = try words(package)
            else { continue }
            var missing: [String] = []
            var environment: [(name: String, value: String)] = []
            for entry in package["environmentVariables"]?.arrayValue ?? [] {
                guard let key = entry["name"]?.stringValue, !given.variables.contains(key) else { continue }
                // One with = in it would set the variable in front of that.
                guard LauncherVariables.isName(key) else {
                    throw .usage(
                        "\(shown) has a variable that cannot be set: \(quoted(key))",
                        details: ["nothing was started or sent"])
                }
                let before = missing.count
                let value = value(of: entry, named: key, &missing)
                guard value != nil || missing.count > before else { continue }
                if LauncherVariables.contains(key) {
                    throw .usage(
                        "\(shown) sets the variable \(inlineText(key)), which may change what "
                            + "\(words[0]) runs",
                        details: ["nothing was started or sent"],
                        hint: "if it is needed, set it yourself: -e \(inlineText(ShellWord.quote(key)))=…")
                }
                guard let value else { continue }
                environment.append((key, value))
            }
            try check(missing)
            return ResolvedServer(
                name: name, target: .program(words), environment: environment,
                secrets: environment.map(\.value))
        }
        throw .usage(
            "\(shown) has neither a streamable-http address nor a package that can be run",
            details: ["packages of npm, pypi and oci are run with npx, uvx and docker"])
    }

    private func words(_ package: JSONValue) throws(Failure) -> [String]? {
        guard let identifier = package["identifier"]?.stringValue, !identifier.isEmpty,
            !identifier.hasPrefix("-")
        else { return nil }
        let version = package["version"]?.stringValue
        var words: [String]
        switch package["registryType"]?.stringValue {
        case "npm": words = ["npx", "-y", identifier + (version.map { "@\($0)" } ?? "")]
        case "pypi": words = ["uvx", identifier + (version.map { "==\($0)" } ?? "")]
        case "oci": words = ["docker", "run", "-i", "--rm", identifier + (version.map { ":\($0)" } ?? "")]
        default: return nil
        }
        var missing: [String] = []
        for argument in package["packageArguments"]?.arrayValue ?? [] {
            let name = argument["name"]?.stringValue
            let label = name ?? argument["valueHint"]?.stringValue ?? "argument"
            guard let value = value(of: argument, named: label, &missing) else { continue }
            if let name, argument["type"]?.stringValue == "named" { words.append(name) }
            words.append(value)
        }
        try check(missing)
        return words
    }

    /// Returns the value of an input: given in the document, from its variable `MCP_INPUT_…`, or its default;
    /// nil if it has none. No other variable is read: the document could name any of them, and an address.
    private func value(of input: JSONValue, named name: String, _ missing: inout [String]) -> String? {
        if let value = input["value"]?.stringValue { return filled(value, input["variables"], &missing) }
        if let value = variable(ServerResolver.variable(ofInput: name)) { return value }
        if let value = input["default"]?.stringValue { return value }
        if input["isRequired"]?.boolValue == true { missing.append(name) }
        return nil
    }

    /// Replaces `{name}` by the values of variables.
    private func filled(_ text: String, _ variables: JSONValue?, _ missing: inout [String]) -> String {
        var text = text
        for (name, input) in variables?.objectValue ?? [:] {
            guard let value = value(of: input, named: name, &missing) else { continue }
            text = text.split(separator: "{\(name)}", omittingEmptySubsequences: false).joined(
                separator: value)
        }
        return text
    }

    private func check(_ missing: [String]) throws(Failure) {
        guard let first = missing.first else { return }
        throw .usage(
            "\(shown) needs values for: " + missing.map { inlineText($0) }.joined(separator: ", "),
            details: ["nothing was started or sent"],
            hint: "set the variable \(ServerResolver.variable(ofInput: first))")
    }
}

/// Variables that decide what a launcher such as `npx` runs, where it gets that from, or what is loaded.
enum LauncherVariables {
    private static let names: Set<String> = [
        "PATH", "HOME", "SHELL", "TMPDIR", "IFS", "ENV", "BASH_ENV", "SHELLOPTS", "BASHOPTS", "PS4",
        "CLASSPATH",
        "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "PERL5OPT", "PERL5LIB", "PERL5DB",
        "RUBYOPT",
        "RUBYLIB", "GCONV_PATH", "LOCPATH", "GLIBC_TUNABLES", "OPENSSL_CONF", "OPENSSL_MODULES",
        "OPENSSL_ENGINES", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
        "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS",
        "NODE_TLS_REJECT_UNAUTHORIZED", "NODE_REPL_EXTERNAL_MODULE", "PYTHONSTARTUP", "PYTHONPATH",
        "PYTHONHOME", "PYTHONINSPECT", "PYTHONUSERBASE", "PYTHONBREAKPOINT", "PYTHONWARNINGS",
        "PYTHONPYCACHEPREFIX", "PYTHONPLATLIBDIR", "PYTHONEXECUTABLE", "PREFIX", "VIRTUAL_ENV",
        "CONDA_PREFIX", "REGISTRY_AUTH_FILE",
    ]
    private static let beginnings = [
        "LD_", "DYLD_", "NPM_CONFIG_", "PIP_", "UV_", "DOCKER_", "GIT_", "XDG_", "BASH_FUNC_", "CONTAINER_",
        "CONTAINERS_", "PODMAN_", "COREPACK_",
    ]

    /// Whether a text can be the name of a variable: letters, digits, `_`, `-` and `.`.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { ASCII.isWord($0) || "-.".utf8.contains($0) }
    }

    /// Whether a variable, in upper or lower case, is one of them.
    static func contains(_ name: String) -> Bool {
        let name = name.uppercased()
        return names.contains(name) || beginnings.contains { name.hasPrefix($0) }
    }
}

import MCPCore

/// The `server.json` of a server in the registry, as the source of a target: an address, or a package and
/// what runs it.
struct RegistryDocument {
    /// The largest size of a document.
    static let maxBytes = 1 << 20

    private let json: JSONValue
    private let shown: String
    private let variable: (String) -> String?

    init(_ bytes: [UInt8], name: String, variable: @escaping (String) -> String?) throws(Failure) {
        shown = name
        self.variable = variable
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
                guard let key = header["name"]?.stringValue else { continue }
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
                guard let key = entry["name"]?.stringValue, let value = value(of: entry, named: key, &missing)
                else { continue }
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

    /// Returns the value of an input: given, from the variable of its name, or its default; nil if it has
    /// none.
    private func value(of input: JSONValue, named name: String, _ missing: inout [String]) -> String? {
        if let value = input["value"]?.stringValue { return filled(value, input["variables"], &missing) }
        if let value = variable(Self.variableName(name)) { return value }
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
            hint: "set the variable \(Self.variableName(first))")
    }

    private static func variableName(_ name: String) -> String {
        ServerResolver.variable(ofInput: name).dropping(prefix: "MCP_INPUT_") ?? name
    }
}

import MCPCore

extension ConfigurationLoader {
    /// Loads the configuration that `expose` stands for.
    func load(_ exposed: Exposed, _ environment: [String: String]) -> Outcome {
        let name: String
        let entry: JSONObject
        switch exposed {
        case .program(let words):
            name = Self.name(of: words[0])
            entry = [
                "mcpServers": [
                    name: [
                        "command": .string(words[0]), "args": .array(words.dropFirst().map { .string($0) }),
                    ]
                ]
            ]
        case .server(let url):
            name = "server"
            entry = ["mcpServers": [name: ["url": .string(url)]]]
        case .directory(let directory):
            if Paths.directoryProblem(Paths.absolute(directory, relativeTo: Paths.currentDirectory)) != nil {
                let diagnostics = Diagnostics()
                diagnostics.error(
                    "no directory named \(TerminalText.quoted(directory)); for a program, write "
                        + "mcp-server expose -- \(TerminalText.inline(directory))",
                    at: SourcePosition(file: "expose"))
                return Outcome(configuration: Configuration(), diagnostics: diagnostics)
            }
            name = Self.name(of: Paths.absolute(directory, relativeTo: Paths.currentDirectory))
            entry = [
                "files": [
                    name: ["root": .string(directory), "uri": .string("\(name):///{+path}"), "watch": true]
                ]
            ]
        }
        var members = entry
        members["server"] = ["name": .string(name)]
        // Words of the command line are no templates: nothing in them is expanded.
        let text = JSONValue.object(members).serialized().replacing("${", with: "$${")
        var outcome = load(
            SourceText(name: "expose", text: text), directory: Paths.currentDirectory, Diagnostics())
        outcome.configuration.upstreams = outcome.configuration.upstreams.map { definition in
            var definition = definition
            definition.isRequired = true
            guard case .program(let program, let arguments, let own, let directory) = definition.place else {
                return definition
            }
            // Started by a person, as if the program had been started in its place.
            definition.place = .program(
                program, arguments: arguments, environment: environment.merging(own) { $1 },
                directory: directory)
            return definition
        }
        return outcome
    }

    /// Returns the last part of a path as a name.
    private static func name(of path: String) -> String {
        let last = Paths.components(path).last ?? "files"
        let name = last.utf8.map { ASCII.isWord($0) || $0 == UInt8(ascii: "-") ? $0 : UInt8(ascii: "-") }
        return String(decoding: name.prefix(32), as: UTF8.self)
    }
}

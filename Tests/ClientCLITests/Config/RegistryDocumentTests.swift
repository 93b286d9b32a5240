import MCPCore
import Testing

/// A `server.json` comes from a stranger: it gets only what the user gives to it by name.
struct RegistryDocumentTests {
    private func harness(_ document: String, _ variables: [String: String] = [:]) throws -> CommandHarness {
        var harness = CommandHarness(server: try OpsServer.make())
        harness.files["server.json"] = document
        harness.variables = variables
        return harness
    }

    private static let address =
        #"{"name": "x", "remotes": [{"type": "streamable-http", "url": "http://127.0.0.1:1/{AWS_KEY}", "#
        + #""variables": {"AWS_KEY": {"isRequired": true}}, "#
        + #""headers": [{"name": "X-Token", "isRequired": true}]}]}"#

    @Test func noVariableOfTheUserIsTaken() async throws {
        let variables = ["AWS_KEY": "k", "X_TOKEN": "t", "X-Token": "t"]
        let refused = try await harness(Self.address, variables).run("info", "server.json")
        #expect(refused.code == .usage && refused.connections == 0)
        #expect(
            refused.stderr == """
                error: server.json needs values for: AWS_KEY, X-Token
                  nothing was started or sent
                hint: set the variable MCP_INPUT_AWS_KEY

                """)
        let given = ["MCP_INPUT_AWS_KEY": "k"]
        let other = try await harness(Self.address, given).run("info", "server.json")
        #expect(other.stderr.contains("needs values for: X-Token\n"), "\(other.stderr)")
        // What the command line gives need not be asked for.
        let flag = try await harness(Self.address, given).run("-H", "x-token: t", "info", "server.json")
        #expect(flag.code == .ok, "\(flag.stderr)")
        let all = given.merging(["MCP_INPUT_X_TOKEN": "t"]) { $1 }
        #expect(try await harness(Self.address, all).run("info", "server.json").code == .ok)
    }

    @Test(arguments: [
        "PATH", "path", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "PYTHONSTARTUP", "PYTHONPATH",
        "npm_config_registry", "UV_INDEX_URL", "DOCKER_HOST", "BASH_ENV", "PREFIX", "CONTAINER_HOST",
    ])
    func variablesThatChangeWhatRuns(name: String) async throws {
        func document(_ value: String) -> String {
            #"{"name": "x", "packages": [{"registryType": "npm", "identifier": "x", "#
                + #""environmentVariables": [{"name": "\#(name)"\#(value)}]}]}"#
        }
        for value in [#", "value": "/evil""#, #", "default": "/evil""#, #", "isRequired": true"#] {
            let refused = try await harness(document(value)).run("info", "server.json")
            #expect(refused.code == .usage && refused.connections == 0)
            #expect(
                refused.stderr.contains(
                    "server.json sets the variable \(name), which may change what npx runs\n"),
                "\(refused.stderr)")
            let own = try await harness(document(value)).run("-e", "\(name)=/own", "info", "server.json")
            #expect(own.code == .ok, "\(own.stderr)")
        }
        #expect(try await harness(document("")).run("info", "server.json").code == .ok)
    }

    /// What stands behind = in a name would be the beginning of the value.
    @Test(arguments: ["NODE_OPTIONS=--import=x", "A B", "", "LD_PRELOAD\\u0000"])
    func namesThatAreNone(name: String) async throws {
        let document =
            #"{"name": "x", "packages": [{"registryType": "npm", "identifier": "x", "#
            + #""environmentVariables": [{"name": "\#(name)", "value": "x"}]}]}"#
        let refused = try await harness(document).run("info", "server.json")
        #expect(refused.code == .usage && refused.connections == 0)
        #expect(refused.stderr.contains("has a variable that cannot be set"), "\(refused.stderr)")
    }

    @Test func otherVariablesAreSet() async throws {
        let document =
            #"{"name": "x", "packages": [{"registryType": "npm", "identifier": "x", "#
            + #""environmentVariables": [{"name": "API_KEY", "isRequired": true}]}]}"#
        let refused = try await harness(document, ["API_KEY": "k"]).run("info", "server.json")
        #expect(refused.stderr.contains("hint: set the variable MCP_INPUT_API_KEY\n"), "\(refused.stderr)")
        let given = try await harness(document, ["MCP_INPUT_API_KEY": "k"]).run("info", "server.json")
        #expect(given.code == .ok, "\(given.stderr)")
    }
}

import MCPCore
import Testing

@testable import MCPServerDaemon

/// `mcp-server` as a user types it, until it ends.
enum SetupProgram {
    struct Outcome: Sendable {
        var status: ProcessExit
        var output: String
        var errors: String
    }

    static func run(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) async throws -> Outcome {
        let launch = ProcessLaunch(
            try WatchedProgram.path(), arguments,
            environment: WatchedProgram.environment.merging(environment) { $1 })
        let result = try await Offload.run { try ProcessRunner.run(launch, input: []) }
        return Outcome(
            status: result.status, output: String(decoding: result.output, as: UTF8.self),
            errors: String(decoding: result.errors, as: UTF8.self))
    }
}

extension ServiceNeeds {
    /// What the server of a configuration needs.
    static func of(
        _ text: String, _ environment: [String: String] = [:], directory: String = "/etc/mcp-server"
    ) throws -> ServiceNeeds {
        let outcome = ConfigurationLoader(
            environment: environment.merging(["PATH": "/usr/bin:/bin"]) { $1 }, purpose: .inspecting
        ).load(SourceText(name: "c", text: text), directory: directory, Diagnostics())
        try #require(!outcome.diagnostics.hasErrors, "\(outcome.diagnostics.report)")
        return ServiceNeeds(outcome.configuration)
    }
}

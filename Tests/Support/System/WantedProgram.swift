import MCPCore

/// Whether tests that need a program run: it is there, or they fail without it, as they have to in CI.
package func isWanted(_ program: String) -> Bool {
    (try? ProcessLaunch(program).resolvedProgram()) != nil || Environment.value("CI") != nil
}

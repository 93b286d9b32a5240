import MCPCore
import TestSupport
import Testing

/// Several processes with one login, at an authorization server that ends it when a refresh token is used
/// twice.
@Suite(.timeLimit(.minutes(5))) struct LoginProcessTests {
    @Test func eightProcessesRenewOnce() async throws {
        let setting = try LoginSetting()
        #expect(await setting.run("login", setting.server.url).code == .ok)
        let store = FileTokenStore(directory: setting.store)
        let key = try #require(try await store.keys().first)
        for round in 1 ... 5 {
            try await store.update(key) { entry in entry?.tokens?.expiresAt = 1 }
            let (url, place) = (setting.server.url, setting.store)
            let outcomes = try await withThrowingTaskGroup(of: ProgramOutcome.self) { group in
                for _ in 0 ..< 8 {
                    group.addTask {
                        try await ProgramRunner.client(
                            "auth", "token", url, environment: ["MCP_AUTH_STORE": place], limit: 100)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.allSatisfy { $0.code == 0 }, "\(outcomes.map(\.stderr))")
            #expect(Set(outcomes.map(\.stdout)).count == 1)
            #expect(setting.server.grants("refresh_token").count == round)
            let token = String(outcomes[0].stdout.dropLast())
            #expect(setting.server.isActive(token))
        }
        await setting.end()
    }
}

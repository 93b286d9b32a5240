import Testing

@testable import MCPCore

@Suite struct SessionLevelsTests {
    // LOG-07
    @Test func eachScopeForItself() {
        let levels = SessionLevels()
        #expect(levels.level(of: 1) == .info)
        levels.set(.alert, for: 1)
        #expect(levels.level(of: 1) == .alert)
        #expect(levels.level(of: 2) == .info)
        levels.forget(1)
        #expect(levels.level(of: 1) == .info)
    }
}

import MCPCore
import Testing

@testable import MCPServerDaemon

@Suite struct ConfiguredAddressTests {
    /// Beside the running server of another user, that user is named (root replaces a dead socket of anyone).
    @Test func aSocketOfAnotherUser() {
        #expect(Accounts.userName(0) == "root")
        #expect(Accounts.userName(4_000_000_000) == "4000000000")
        let words = ConfiguredAddress.socketOfAnother("root")
        #expect(words.hasPrefix("it is a socket of the user root, whose server may be running"))
        #expect(words.contains("(sudo -u root)") && !words.contains("\n"))
    }

    @Test func readsTheForms() throws {
        #expect(try ConfiguredAddress("127.0.0.1:8808") == .tcp(host: "127.0.0.1", port: 8_808))
        #expect(try ConfiguredAddress("[::1]:80") == .tcp(host: "::1", port: 80))
        #expect(try ConfiguredAddress("localhost:1") == .tcp(host: "localhost", port: 1))
        #expect(
            try ConfiguredAddress("unix:///run/m.sock") == .unix(path: "/run/m.sock", mode: 0o600, group: nil)
        )
        #expect(
            try ConfiguredAddress("unix:/run/m.sock?mode=0660&group=0")
                == .unix(path: "/run/m.sock", mode: 0o660, group: 0))
    }

    // Fault row 94: port 99999; port 0 is a finding in a file (ConfigurationTests).
    @Test(arguments: [
        "127.0.0.1:99999", "127.0.0.1:", "127.0.0.1", ":8808", "::1:8808", "[127.0.0.1]:1",
        "h:+1",
        "h:1x", "http://127.0.0.1:8808", "unix://run/m.sock", "unix:", "unix:///run/", "unix:///m?mode=9",
        "unix:///m?mode=0066", "unix:///m?mode=7777", "unix:///m?group=", "unix:///m?group=no-such-group-x",
        "unix:///m?user=x", "",
    ])
    func refuses(text: String) {
        #expect(throws: ConfiguredAddress.Flaw.self) { try ConfiguredAddress(text) }
    }

    @Test func refusesPathsThatNoSocketHas() {
        #expect(throws: ConfiguredAddress.Flaw.self) {
            try ConfiguredAddress("unix:///" + String(repeating: "x", count: 200))
        }
    }

    @Test(arguments: [
        ("127.0.0.1:1", true), ("127.9.9.9:1", true), ("localhost:1", true), ("[::1]:1", true),
        ("unix:///m", true),
        ("0.0.0.0:1", false), ("[::]:1", false), ("10.0.0.1:1", false), ("127.0.0.1.example:1", false),
        ("127.evil.0.1:1", false), ("127.1:1", false), ("[::ffff:127.0.0.1]:1", true),
    ])
    func knowsTheLoopback(text: String, expected: Bool) throws {
        #expect(try ConfiguredAddress(text).isLoopback == expected)
    }

    @Test func showsWhatAClientTakes() throws {
        #expect(try ConfiguredAddress("[::1]:80").shown == "http://[::1]:80/mcp")
        #expect(try ConfiguredAddress("unix:/run/m.sock").shown == "unix:///run/m.sock")
    }
}

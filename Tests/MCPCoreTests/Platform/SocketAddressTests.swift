import Testing

@testable import MCPCore

@Suite struct SocketAddressTests {
    @Test(arguments: [
        ("127.0.0.1", "127.0.0.1:8080", true), ("127.9.9.9", "127.9.9.9:8080", true),
        ("0.0.0.0", "0.0.0.0:8080", false), ("::1", "[::1]:8080", true), ("[::1]", "[::1]:8080", true),
        ("::", "[::]:8080", false), ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]:8080", true),
        ("2001:db8::1", "[2001:db8::1]:8080", false),
    ]) func numericAddresses(_ host: String, _ description: String, _ isLoopback: Bool) throws {
        let address = try #require(SocketAddress(numeric: host, port: 8_080))
        #expect(address.description == description)
        #expect(address.isLoopback == isLoopback)
        #expect(address.port == 8_080)
    }

    @Test(arguments: ["", "localhost", "127.1", "1.2.3.4.5", "::g", "[::1", "127.0.0.1:80", "127.0.0.1\0x"])
    func notNumeric(_ host: String) { #expect(SocketAddress(numeric: host, port: 1) == nil) }

    @Test func unixPathsHaveALimit() throws {
        let longest = String(repeating: "p", count: SocketAddress.maxUnixPathBytes)
        #expect(SocketAddress(unixPath: longest)?.unixPath == longest)
        #expect(SocketAddress(unixPath: longest + "p") == nil)
        #expect(SocketAddress(unixPath: "") == nil)
        #expect(SocketAddress(unixPath: "a\0b") == nil)
        #expect(SocketAddress(unixPath: "/run/x")?.description == "/run/x")
    }

    @Test func resolvesLocalhostAndExplainsFailures() throws {
        let found = try SocketAddress.resolve(host: "localhost", port: 80)
        #expect(found.contains { $0.isLoopback && $0.port == 80 })
        #expect { try SocketAddress.resolve(host: "no such name", port: 80) } throws: { error in
            "\(error)".hasPrefix("cannot find the address of no such name: ")
        }
    }
}

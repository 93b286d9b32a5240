import TestSupport
import Testing

@testable import MCPApps
@testable import MCPCore

/// The names under which servers are shown.
@Suite(.timeLimit(.minutes(5))) struct ServerNameTests {
    /// A server cannot take a name that looks like that of another one, or like what it is not.
    @Test func aServerKeepsItsNameFromOthers() async throws {
        let fixture = await HostFixture()
        let names = [
            ("files", "files"), ("fіles", "2"), ("Files", "3"), ("mail", "mail"), ("\u{202E}knab", "5"),
            ("bank\u{200B}", "6"), ("a\nb asks", "7"), ("b\u{430}nk", "8"), ("bank ", "9"),
            ("\u{FF42}ank", "10"),
            ("Банк и café", "Банк и café"), ("bank", "bank"), ("shop asks · asked by you", "13"),
            ("shop \u{2022} you", "14"), ("A View of shop", "15"), ("shop ASKS", "16"),
            ("shop·asked by you", "17"), ("task reviews", "task reviews"),
            ("Col·lecció", "Col·lecció"),
        ]
        for (own, shown) in names {
            let number = await fixture.host.hostedServers.count + 1
            let id = try await fixture.host.addServer(
                .inProcess(MCPServer(own, version: "1")), name: "\(number)", takesOwnName: true)
            let name = try await fixture.first { event -> String? in
                guard case .server(let server) = event, server.id == id, server.info != nil else {
                    return nil
                }
                return server.name
            }
            #expect(name == shown)
        }
        await fixture.close()
    }

    /// What stands for somebody else, could be an address, or hides something, is no name of a server.
    @Test(
        arguments: [
            "MCP host", "You", "the model", "User", "The  user", "bank, asking for you",
            "bank \u{16EB} by it",
            "bank \u{2E33} sent", "bank\u{30FB}sent", "bank\u{B7}sent", "bank \u{25CF} sent",
            "127.0.0.1:34306",
            "127.0.0.1", "2130706433", "[::1]", "localhost", "localhost:3001", "a:1/mcp", "http://a",
            "/srv/a",
            "./a", "~/a", "api.bank.example", "bank\u{275E} asks no more", "bank\u{2033} x",
            "bank \u{26AB} x", "bank” asks. The page “x", "\"bank\"", "", " a", "a ",
            String(repeating: "x", count: 65), "e" + String(repeating: "\u{301}", count: 9),
        ])
    func namesThatAreNotTaken(_ name: String) { #expect(!PlainName.isPlain(name)) }

    @Test(
        arguments: [
            "ジョン\u{30FB}スミス", "io.example/files", "Col·lecció", "Women’s shoes", "a: b", "C++ & Co.",
            "user-service", "awslabs.core-mcp-server", "2048", "24/7 Support", "[Beta] Search",
            "Ask Your PDF",
            "MCP host of Ann", "Việt Nam", String(repeating: "y", count: 64),
        ])
    func namesThatAreTaken(_ name: String) { #expect(PlainName.isPlain(name)) }

    /// A name that the user gives to a server is not that of another one, also when that came first.
    @Test func aNameOfTheUserCountsForMore() async throws {
        let fixture = await HostFixture()
        func name(of id: HostedServer.ID) async -> String? {
            await fixture.host.hostedServers.first { $0.id == id }?.name
        }
        let first = try await fixture.host.addServer(
            .inProcess(MCPServer("docs", version: "1")), name: "first", takesOwnName: true)
        _ = try await fixture.first { event in
            if case .server(let server) = event, server.id == first, server.name == "docs" {
                true
            } else {
                nil
            }
        }
        // No server takes a name under which another one was shown.
        let third = try await fixture.host.addServer(
            .inProcess(MCPServer("first", version: "1")), name: "third", takesOwnName: true)
        _ = try await fixture.first { event in
            if case .server(let server) = event, server.id == third, server.info != nil { true } else { nil }
        }
        #expect(await name(of: third) == "third")
        let second = try await fixture.host.addServer(
            .inProcess(MCPServer("other", version: "1")), name: "docs")
        #expect(await name(of: first) == "first")
        #expect(await name(of: second) == "docs")
        await fixture.close()
    }
}

import MCPCore
import Testing

@testable import MCPServerDaemon

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The token and the socket of programs that bring tools.
@Suite struct ProviderTokenTests {
    @Test func isMadeOnceAndKept() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/state/mcpcore/providers.token"
        let first = try ProviderToken(at: path)
        #expect(first.isNew)
        #expect(first.text.utf8.count == 64)
        #expect(try Files.info(path).permissions == 0o600)
        #expect(try Files.info("\(directory.path)/state/mcpcore").permissions == 0o700)
        #expect(try Files.names(in: "\(directory.path)/state/mcpcore").names == ["providers.token"])
        let second = try ProviderToken(at: path)
        #expect(!second.isNew)
        #expect(second.text == first.text)
        #expect(try ProviderToken(at: "\(directory.path)/other").text != first.text)
    }

    @Test func ownTokens() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/t"
        try directory.write("t", "0123456789abcdef\n")
        #expect(try ProviderToken(at: path).text == "0123456789abcdef")
        for text in ["", "short\n", "two words are no token", "0123456789abcdef\nx", "ünïcödé-ünïcödé"] {
            try directory.write("t", text)
            #expect(
                throws: ClientToolSetupError("\(path) does not contain a token; remove it to get a new one")
            ) {
                try ProviderToken(at: path)
            }
        }
    }

    @Test func othersMayNotReadIt() throws {
        let directory = try TemporaryDirectory()
        try directory.write("t", Array("0123456789abcdef".utf8), mode: 0o640)
        let error = #expect(throws: ClientToolSetupError.self) {
            try ProviderToken(at: "\(directory.path)/t")
        }
        #expect(error?.text.contains("chmod 600") == true)
        try directory.makeFIFO("f")
        #expect(throws: ClientToolSetupError.self) { try ProviderToken(at: "\(directory.path)/f") }
    }

    @Test func places() throws {
        let home = ["HOME": "/home/me"]
        #expect(ProviderToken.defaultPath(home) == "/home/me/.local/state/mcpcore/providers.token")
        let state = home.merging(["XDG_STATE_HOME": "/s"]) { $1 }
        #expect(ProviderToken.defaultPath(state) == "/s/mcpcore/providers.token")
        #expect(ProviderToken.defaultPath(["XDG_STATE_HOME": "s"]) == nil)
        let missing = try TemporaryDirectory().path + "/none"
        #expect(ProvidersSocket.defaultPath(["XDG_RUNTIME_DIR": missing]) == nil)
        #expect(ProvidersSocket.defaultPath([:]) == nil)
        #if os(Linux)
        #expect(ProvidersSocket.defaultPath(["XDG_RUNTIME_DIR": "/tmp/"]) == "/tmp/mcpcore/providers.sock")
        #endif
    }

    @Test func theDirectoryOfTheSocketIsPrivate() throws {
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/mcpcore/providers.sock"
        #expect(
            try ProvidersSocket.address(path, isDefault: true)
                == .unix(path: path, mode: 0o600, group: nil))
        #expect(try Files.info("\(directory.path)/mcpcore").permissions == 0o700)
        // A second time is no mistake.
        _ = try ProvidersSocket.address(path, isDefault: true)
        #expect(unsafe chmod("\(directory.path)/mcpcore", 0o755) == 0)
        #expect(
            throws: ClientToolSetupError(
                "other users can access \(directory.path)/mcpcore: chmod 700 it")
        ) { try ProvidersSocket.address(path, isDefault: true) }
        // Whoever names a place has chosen it.
        _ = try ProvidersSocket.address(path, isDefault: false)
        try directory.link("link", to: directory.path)
        #expect(throws: ClientToolSetupError("\(directory.path)/link is not a directory")) {
            try ProvidersSocket.address("\(directory.path)/link/s", isDefault: true)
        }
        try directory.write("file", "")
        #expect(throws: ClientToolSetupError("\(directory.path)/file is not a directory")) {
            try ProvidersSocket.address("\(directory.path)/file/s", isDefault: false)
        }
    }

    @Test func aPathThatDoesNotFit() {
        let path = "/" + String(repeating: "x", count: 110)
        #expect(
            throws: ClientToolSetupError(
                "the providers' socket \(path) has a path of 111 bytes; the maximum is "
                    + "\(ConfiguredAddress.maxPathBytes)")
        ) { try ProvidersSocket.address(path, isDefault: false) }
    }
}

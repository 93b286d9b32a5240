import TestSupport
import Testing

@testable import MCPCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// What is left of a connection to a server behind a socket, whoever has ended it and however.
@Suite(.timeLimit(.minutes(5))) struct SocketClientTransportTests {
    enum Ending: String, CaseIterable, CustomTestStringConvertible {
        /// The other side closes; its half of the conversation is over.
        case peerCloses
        /// The other side closes with bytes unread, which resets the connection.
        case peerResets
        case clientCloses
        case clientIsLetGo
        /// The handshake is refused.
        case refused
        /// Nobody answers the handshake.
        case silent
        /// The transport is shut down before it was used.
        case neverStarted
        /// The transport is dropped before it was used.
        case dropped

        var testDescription: String { rawValue }
    }

    private final class Link {
        private(set) weak var transport: SocketClientTransport?
        private var strong: SocketClientTransport?
        private var other: FileDescriptor?
        let fd: Int32
        /// The kernel's number of our end, which all its descriptors have in common.
        let inode: UInt64

        init(_ options: ClientOptions) throws {
            let (one, end) = try Syscalls.socketPair()
            try Syscalls.setNonBlocking(end)
            fd = end
            other = FileDescriptor(owning: end)
            inode = UInt64(try Syscalls.status(one).st_ino)
            let socket = UpgradedSocket(descriptor: FileDescriptor(owning: one), rest: ByteSlice())
            let made = try SocketClientTransport(socket, name: "peer", options: options)
            strong = made
            transport = made
        }

        /// Gives the transport away: from then on the link does not keep it.
        func take() throws -> SocketClientTransport {
            defer { strong = nil }
            return try #require(strong)
        }

        func close() { other = nil }
    }

    /// Answers the first request with this text, whose `ID` is the request's.
    private static func answer(_ fd: Int32, _ text: String) async {
        var line: [UInt8] = []
        while !line.contains(0x0A) {
            if let piece = try? readOnce(fd), !piece.isEmpty { line += piece } else { await pause() }
        }
        let id = (try? RawJSON(validating: String(decoding: line.prefix { $0 != 0x0A }, as: UTF8.self)))?[
            "id"]
        let bytes = Array(text.replacing("ID", with: id.map { String($0.bytes) } ?? "0").utf8) + [0x0A]
        _ = unsafe bytes.withUnsafeBytes { unsafe try? Syscalls.write(fd, $0) }
    }

    private static let discovered =
        #"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"#
        + #""capabilities":{},"serverInfo":{"name":"peer","version":"1"}}}"#

    private static let refusal =
        #"{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"no","data":{"supported":[]}}}"#

    private static func connect(
        _ link: Link, _ options: ClientOptions, answer text: String
    ) async throws -> MCPClient {
        let fd = link.fd
        async let answered: Void = answer(fd, text)
        do {
            let client = try await MCPClient.connect(over: link.take(), options: options)
            await answered
            return client
        } catch {
            await answered
            throw error
        }
    }

    /// Ends a connection in one way, and returns the conversation that was there.
    private static func end(_ link: Link, _ ending: Ending, _ options: ClientOptions) async throws
        -> () -> ClientConnection?
    {
        switch ending {
        case .dropped: _ = try link.take()
        case .neverStarted: try link.take().shutDown()
        case .silent:
            await #expect(throws: ClientError.self) {
                _ = try await MCPClient.connect(over: link.take(), options: options)
            }
        case .refused:
            await #expect(throws: (any Error).self) {
                _ = try await connect(link, options, answer: refusal)
            }
        case .peerCloses, .peerResets, .clientCloses, .clientIsLetGo:
            let client = try await connect(link, options, answer: discovered)
            weak let conversation = client.connection
            if ending == .peerResets { async let _ = client.request("tools/list") }
            if ending == .peerCloses || ending == .peerResets {
                link.close()
                _ = await client.waitUntilClosed()
            }
            if ending == .clientCloses { await client.close() }
            return { conversation }
        }
        return { nil }
    }

    /// Whether one of our descriptors is this socket.
    private static func isOpen(_ inode: UInt64) -> Bool {
        (3 ..< 4_096).contains { number in
            guard let status = try? Syscalls.status(Int32(number)) else { return false }
            return status.st_mode & S_IFMT == S_IFSOCK && UInt64(status.st_ino) == inode
        }
    }

    @Test(arguments: Ending.allCases) func nothingIsLeft(_ ending: Ending) async throws {
        var options = ClientOptions()
        if ending == .silent {
            options.timeout = .milliseconds(200)
            options.probeTimeout = .milliseconds(100)
            options.connectTimeout = .milliseconds(400)
        }
        let link = try Link(options)
        let conversation = try await Self.end(link, ending, options)
        for _ in 0 ..< 2_000 {
            if link.transport == nil, conversation() == nil, !Self.isOpen(link.inode) { break }
            await pause()
        }
        #expect(link.transport == nil, "the transport is still there")
        #expect(conversation() == nil, "the conversation is still there")
        #expect(!Self.isOpen(link.inode), "the socket is still open")
    }
}

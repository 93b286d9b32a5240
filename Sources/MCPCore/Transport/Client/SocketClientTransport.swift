#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Speaks with a server at the other end of a socket that is open already, one message per line: the framing
/// of stdio over a byte stream.
final class SocketClientTransport: LineClientTransport {
    private let peer: SocketPeer
    let loop: EventLoop
    let line: LoopBound<StdioLine>
    private let channel: LoopBound<StdioChannel>

    init(
        _ socket: consuming UpgradedSocket, name: String, options: ClientOptions
    ) throws(ClientError) {
        SignalWatch.ignoreBrokenPipes()
        let rest = socket.rest
        do throws(IOError) {
            loop = try ClientLoops.next()
            peer = try SocketPeer(FileDescriptor(owning: socket.release()))
        } catch {
            throw ClientError(.cannotStart, "cannot use the connection of \(name): \(error)")
        }
        line = LoopBound(StdioLine(), loop: loop)
        channel = LoopBound(
            StdioChannel(peer, name: name, loop: loop, options: options, rest: rest), loop: loop)
    }

    func start(_ inbox: any ClientInbox) {
        let (line, channel) = (line, channel)
        loop.execute {
            line.value.inbox = inbox
            line.value.connect(channel.value)
        }
    }

    func close() async { shutDown() }

    func shutDown() {
        let (line, peer) = (line, peer)
        loop.execute {
            line.value.close()
            peer.hangUp()
        }
    }
}

/// A socket as both ends of a line of messages.
private final class SocketPeer: LinePeer {
    private let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) throws(IOError) {
        try Syscalls.setNonBlocking(descriptor.rawValue)
        // Whoever has lost its network says nothing more, and nothing need be sent to it for hours.
        if try Syscalls.localAddress(descriptor.rawValue)?.family != .unix {
            try Syscalls.watchPeer(descriptor.rawValue)
        }
        // A copy each for reading and writing; this one ends both.
        self.descriptor = descriptor
    }

    // The channel reports one that cannot be had.
    func takeInput() -> FileDescriptor? { try? descriptor.duplicate() }
    func takeOutput() -> FileDescriptor? { try? descriptor.duplicate() }
    func takeErrors() -> FileDescriptor? { nil }

    /// Nothing follows the end of a socket.
    var status: ProcessExit? { .unknown }

    func hangUp() { shutdown(descriptor.rawValue, Int32(SHUT_RDWR)) }
}

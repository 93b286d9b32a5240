import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A transport to a server at the other end of a socket that is already open, one message per line: the
/// framing of stdio over a byte stream.
final class SocketClientTransport: LineClientTransport {
    private let peer: SocketPeer
    let loop: EventLoop
    let line: LoopBound<CurrentLine>
    private let channel: LoopBound<LineChannel>

    init(
        _ socket: consuming UpgradedSocket, name: String, options: ClientOptions
    ) throws(ClientError) {
        SignalWatch.ignoreBrokenPipes()
        let rest = socket.rest
        do throws(IOError) {
            loop = try SharedLoops.next()
            peer = try SocketPeer(FileDescriptor(owning: socket.release()))
        } catch {
            throw ClientError(.cannotStart, "cannot use the connection to \(name): \(error)")
        }
        line = LoopBound(CurrentLine(), loop: loop)
        channel = LoopBound(
            LineChannel(peer, name: name, loop: loop, options: options, rest: rest), loop: loop)
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
        let (line, peer, channel) = (line, peer, channel)
        loop.execute {
            line.value.close()
            peer.hangUp()
            // No status follows, so there is nothing to wait for.
            channel.value.letGo()
        }
    }
}

/// A socket as both ends of a line-based connection.
private final class SocketPeer: LinePeer {
    private let counted = Counted(.socketPeer)

    /// One copy for reading and one for writing; the third one ends both. Nil: taken, or hung up.
    private struct Copies: ~Copyable {
        var input: FileDescriptor?
        var output: FileDescriptor?
        var whole: FileDescriptor?
    }

    private let copies: Mutex<Copies>

    init(_ descriptor: consuming FileDescriptor) throws(IOError) {
        try Syscalls.setNonBlocking(descriptor.rawValue)
        // A peer that has lost its network sends nothing more, and it may be hours before we
        // send anything to it.
        if try Syscalls.localAddress(descriptor.rawValue)?.family != .unix {
            try Syscalls.watchPeer(descriptor.rawValue)
        }
        let input = try descriptor.duplicate()
        let output = try descriptor.duplicate()
        copies = Mutex(Copies(input: input, output: output, whole: descriptor))
    }

    func takeInput() -> FileDescriptor? { copies.withLock { $0.input.take() } }
    func takeOutput() -> FileDescriptor? { copies.withLock { $0.output.take() } }
    func takeErrors() -> FileDescriptor? { nil }

    /// The exit status; unknown, because nothing follows the end of a socket.
    var status: ProcessExit? { .unknown }

    func hangUp() {
        copies.withLock { copies in
            _ = copies.input.take()
            _ = copies.output.take()
            guard let whole = copies.whole.take() else { return }
            shutdown(whole.rawValue, Int32(SHUT_RDWR))
        }
    }
}

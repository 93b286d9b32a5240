/// Starts a server as a child and speaks with it over its stdin and stdout (basic/transports/stdio).
final class StdioClientTransport: ClientTransport {
    private let loop: EventLoop
    private let child: ChildProcess
    private let channel: LoopBound<StdioChannel>

    init(_ launch: ProcessLaunch, options: ClientOptions) throws(ClientError) {
        do {
            loop = try EventLoop(label: "mcp.client.stdio")
        } catch {
            throw ClientError(.cannotStart, "cannot make an event loop: \(error)")
        }
        do {
            child = try ChildProcess(launch)
        } catch {
            throw ClientError(.cannotStart, "\(error)")
        }
        channel = LoopBound(
            StdioChannel(child, name: launch.program, loop: loop, options: options), loop: loop)
        loop.start()
    }

    var isHTTP: Bool { false }

    func start(_ inbox: any ClientInbox) {
        let channel = channel
        loop.execute { channel.value.start(inbox) }
        child.onExit { [loop] status in loop.execute { channel.value.childExited(status) } }
    }

    func send(_ message: OutboundMessage, id: Int64) { write(message.bytes) }

    func post(_ message: OutboundMessage) async throws(ClientError) { write(message.bytes) }

    func abandon(_ id: Int64, notice: OutboundMessage?) {
        if let notice { write(notice.bytes) }
    }

    private func write(_ bytes: ByteSlice) {
        let channel = channel
        loop.execute { channel.value.write(bytes) }
    }

    /// Closes the child's input, then SIGTERM, then SIGKILL (STDIO-13); returns when it is reaped.
    func close() async {
        shutDown()
        _ = await child.wait()
    }

    func shutDown() {
        let channel = channel
        loop.execute { channel.value.close() }
        child.startTermination()
    }
}

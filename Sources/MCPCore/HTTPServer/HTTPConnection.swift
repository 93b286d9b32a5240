#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// An HTTP connection: reads requests, has them served, and writes the responses in order.
///
/// Confined to its loop. A request is parsed only after the previous response has been queued, so pipelined
/// requests are answered in order. All responses of one turn are sent in one write.
///
/// Its `ConnectionPhase` decides what events and times mean; the connection carries out the actions. Each
/// event, timer or message of a handler schedules a flush, and every flush ends in `settle()`. That is the
/// one place that counts the memory that the connection holds and lets the phase decide whether it reads, so
/// nothing is read beyond the limits of its phase.
final class HTTPConnection: EventHandler, @unchecked Sendable {
    private let counted = Counted(.httpConnection)

    // SAFETY: accessed only on its loop; other threads reach it through `loop.execute`. Some properties are
    // not checked for overlapping accesses at run time, because the check takes a tenth of the time of a
    // call. They are accessed only in single steps, during which nothing is called that would access them
    // too. `output`, which handlers write to, is checked.

    /// The data that belongs to the current phase of the connection.
    enum Work {
        case none
        /// The data of the state `body`.
        case body(RequestHead, BodyReader)
        /// The data of the state `serving`.
        case response(PendingResponse)
        /// The data of the state `leaving`.
        case upgrade(PendingUpgrade)
    }

    let context: ConnectionContext
    let loop: EventLoop
    let identifier: UInt64
    private let descriptor: FileDescriptor
    let siblings: ConnectionSet
    @safe @exclusivity(unchecked) private(set) var registration: Registration?
    @safe @exclusivity(unchecked) var interest: Readiness = .readable
    /// The share of the common memory that it used when it last settled.
    @safe @exclusivity(unchecked) var share: MemoryShare
    /// The maximum that it held beyond its own bytes since memory was last returned to the system; the
    /// allocator still holds as much.
    @safe @exclusivity(unchecked) var mostBytes = 0

    @safe @exclusivity(unchecked) var phase = ConnectionPhase()
    @safe @exclusivity(unchecked) var work = Work.none
    @safe @exclusivity(unchecked) var input = ByteBuffer()
    var output = JSONWriter()
    @safe @exclusivity(unchecked) var parser: RequestParser
    /// Whether the request asks for a head without its body (RFC 9110, section 9.3.2).
    @safe @exclusivity(unchecked) var isHead = false
    @safe @exclusivity(unchecked) private(set) var timer: LoopTimer?
    /// The capacity that the input buffer may keep between two requests: large messages mostly arrive in
    /// succession, and new memory costs a page fault for every 4 KiB.
    @safe @exclusivity(unchecked) private var keptBytes = HTTPConnection.readBytes
    /// The user of the client, once it was looked up.
    @safe @exclusivity(unchecked) private var foundPeer: PeerUser??
    /// What the handler keeps for the next request.
    @safe @exclusivity(unchecked) var memory: ConnectionMemory?
    /// The number of bytes of the queued responses that have been written.
    @safe @exclusivity(unchecked) private var writtenBytes = 0

    /// The maximum number of bytes that are read ahead while a request is being served.
    static let readBytes = 64 * 1024
    /// The input and output of each connection that is not counted, enough for small messages.
    static let ownBytes = 32 * 1024
    /// The least that a client must read of its response within `writeTimeout`; less counts as nothing.
    static let leastTaken = 32 * 1024
    /// The maximum that is read and dropped of a request that was refused. A client that is still writing
    /// would otherwise receive a reset instead of the response; most oversized bodies exceed the limit only
    /// by a small factor.
    static let drainBytes = 16 * 1024 * 1024
    private static let inboxBytes = 16 * 1024
    /// The other end, once somebody has asked for it.
    @safe @exclusivity(unchecked) private var knownPeer: ConnectionPeer?
    /// The client of the current request, whom a trusted proxy names.
    @safe @exclusivity(unchecked) var namedPeer: ConnectionPeer?
    /// The fields that let the page of another origin read the response to the current request.
    @safe @exclusivity(unchecked) var page: HeaderFields?

    /// Whether the connection may serve another request after this one.
    var keepAlive: Bool {
        get { phase.keepAlive }
        set { phase.keepAlive = newValue }
    }

    /// Whether the server is stopping, so that endless streams end.
    var isStopping: Bool { phase.isStopping }

    init(
        _ descriptor: consuming FileDescriptor, loop: EventLoop, context: ConnectionContext,
        identifier: UInt64, siblings: ConnectionSet
    ) {
        self.descriptor = descriptor
        self.loop = loop
        self.context = context
        self.identifier = identifier
        self.siblings = siblings
        share = MemoryShare(of: context.memory)
        parser = RequestParser(limits: context.options.limits)
    }

    /// Begins to serve. Must be called on the loop.
    func start() {
        do {
            registration = try loop.register(descriptor.rawValue, .readable, self)
            // The timer releases the connection when it is cancelled, which `detach` does. A weak reference
            // would make reference counting several times slower for all other references.
            timer = loop.makeTimer { self.timeOut() }
            timer?.arm(at: phase.open(at: loop.now, context.times))
        } catch {
            close()
        }
    }

    // MARK: Readiness

    override func ready(_ events: Readiness) {
        scheduleFlush()
        if events.contains(.writable) { flush() }
        carryOut(phase.ready(events, responseEnds: responseEnds))
    }

    /// Whether the pending response ends when the client has stopped writing.
    private var responseEnds: Bool {
        if case .response(let response) = work { response.endsWithInput } else { false }
    }

    private func timeOut() {
        scheduleFlush()
        carryOut(phase.timeOut(at: loop.now, context.times))
    }

    func carryOut(_ action: ConnectionPhase.Action) {
        switch action {
        case .none: break
        case .read: read()
        case .process: process()
        case .settle: settle()
        case .resume:
            process()
            carryOut(phase.resumed(outputIsEmpty: output.out.isEmpty))
        case .drop: input.removeAll(keeping: Self.readBytes)
        case .failTruncated: fail(status: 400, HTTPError.truncatedBody.reason)
        case .wait(let end): timer?.arm(at: end)
        case .giveBack(let end):
            giveBack()
            timer?.arm(at: end)
        case .sendKeepAlive(let end):
            if case .response(let response) = work { response.keepAlive() }
            timer?.arm(at: end)
        case .closeLate: closeLate()
        case .judgeBody: judgeBody()
        case .tellStop: if case .response(let response) = work { response.serverStops() }
        case .closeWriting:
            closeWriting()
            settle()
        case .handOver: handOver()
        case .vanish: vanish()
        case .close: close()
        }
    }

    override func loopStopped() {
        registration = nil
        close()
    }

    private func read() {
        takeInbox()
        receive()
        returnInbox()
    }

    /// Makes `input` the loop's block to read into, unless it already contains unprocessed bytes.
    private func takeInbox() {
        if input.isEmpty {
            // At this point nothing refers to the last request's bytes any more, so a block for large
            // requests can be reused.
            input.removeAll(keeping: keptBytes)
            if input.capacity < Self.inboxBytes {
                input = ByteBuffer()
                swap(&input, &siblings.inbox)
            }
        }
        if input.isEmpty {
            // `returnInbox` recognizes the loop's block by its length.
            input.reserve(exactly: Self.inboxBytes)
        } else {
            input.reserve(max(1024, min(Self.readBytes, input.count)))
        }
    }

    private func returnInbox() {
        if input.isEmpty {
            if input.capacity <= keptBytes, input.capacity > Self.inboxBytes, !phase.isHandedOn { return }
            // A holder that still refers to bytes that were read keeps the block.
            input.removeAll(keeping: Self.inboxBytes)
            if siblings.inbox.capacity == 0 { swap(&input, &siblings.inbox) } else { input = ByteBuffer() }
        } else if input.capacity == Self.inboxBytes, input.count <= Self.inboxBytes / 4 {
            // The beginning of a message that may take long to arrive.
            var rest = ByteBuffer(capacity: input.count)
            unsafe input.withBytes { unsafe rest.append($0) }
            swap(&input, &rest)
            rest.removeAll(keeping: Self.inboxBytes)
            if siblings.inbox.capacity == 0 { swap(&rest, &siblings.inbox) }
        }
    }

    /// Releases the memory that is not needed for the current bytes.
    func compact() {
        keptBytes = Self.readBytes
        if output.out.isEmpty { output.out.removeAll(keeping: 0) }
        if input.isEmpty { return input.removeAll(keeping: 0) }
        guard input.capacity > 2 * input.count else { return }
        var rest = ByteBuffer(capacity: input.count)
        unsafe input.withBytes { unsafe rest.append($0) }
        swap(&input, &rest)
    }

    private func receive() {
        let outcome: Int?
        do {
            var count: Int?
            // A large block that was kept is not filled with read-ahead data.
            let most = phase.isHandedOn ? max(1024, Self.readBytes - input.count) : Int.max
            _ = unsafe try input.fill { (room) throws(IOError) in
                let room = unsafe UnsafeMutableBufferPointer(rebasing: room[..<min(room.count, most)])
                count = unsafe try Syscalls.receive(
                    descriptor.rawValue, into: UnsafeMutableRawBufferPointer(room))
                return count ?? 0
            }
            outcome = count
        } catch {
            return vanish()
        }
        guard let count = outcome else { return }
        carryOut(
            count > 0
                ? phase.received(count)
                : phase.endOfInput(outputIsEmpty: output.out.isEmpty, responseEnds: responseEnds))
    }

    /// Makes the pending response end with the input, which may have ended already.
    func responseEndsWithInput() { carryOut(phase.responseEndsWithInput()) }

    /// Closes the connection because the client is gone and will not read a response. The handler decides
    /// what that means for the request.
    func vanish() {
        if case .response(let response) = work { response.clientVanished() }
        close()
    }

    /// Prepares for a request with a body of this many bytes; they arrive as fast as its client sends them.
    func expect(_ bytes: Int) { keptBytes = max(Self.readBytes, 2 * bytes) }

    private func judgeBody() {
        guard case .body(let head, var reader) = work else { return }
        if reader.isTooSlow(at: loop.now, memoryIsShort: share.budget.isScarce) {
            return closeLate()
        }
        armBodyTimer(reader)
        work = .body(head, reader)
    }

    func armBodyTimer(_ reader: BodyReader) { timer?.arm(at: min(reader.deadline, loop.now + .seconds(5))) }

    // MARK: Writing

    override func flush() {
        guard !output.out.isEmpty else { return afterFlush() }
        if phase.state == .closed { return }
        do {
            while !output.out.isEmpty {
                let written = unsafe try output.out.withBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.send(descriptor.rawValue, UnsafeRawBufferPointer(bytes))
                }
                guard let written else { break }
                output.out.consume(written)
                writtenBytes += written
                if phase.isStalled { phase.took(written, at: loop.now) }
            }
        } catch {
            return vanish()
        }
        if output.out.isEmpty {
            output.out.removeAll(keeping: max(Self.readBytes, 2 * writtenBytes))
            writtenBytes = 0
            phase.tookAll()
        } else {
            carryOut(phase.tookPart(at: loop.now, context.times))
        }
        afterFlush()
    }

    private func afterFlush() {
        carryOut(phase.flushed(outputIsEmpty: output.out.isEmpty, inputIsEmpty: input.isEmpty))
    }

    /// Schedules the queued output to be sent at the end of this turn.
    func scheduleFlush() { loop.scheduleFlush(self) }

    /// Makes the connection ready for the next request.
    func becomeIdle() {
        scheduleFlush()
        work = .none
        timer?.arm(at: phase.becomeIdle(at: loop.now, context.times))
    }

    /// Releases the buffers of an idle connection.
    private func giveBack() {
        let before = input.capacity + output.out.capacity
        if input.isEmpty { input.removeAll(keeping: 0) }
        if output.out.isEmpty { output.out.removeAll(keeping: 0) }
        siblings.gaveBack(max(before, mostBytes) - input.capacity - output.out.capacity)
        mostBytes = 0
    }

    /// Stops accepting requests: at once if idle, otherwise after the current response.
    func stopServing() {
        scheduleFlush()
        if phase.state == .idle, input.isEmpty {
            // A request that has already arrived is served, like one of which a part was read.
            let isFresh = phase.isFresh
            phase.beginLast()
            carryOut(.read)
            if !isFresh { phase.endLast() }
        }
        carryOut(phase.stop(outputIsEmpty: output.out.isEmpty, inputIsEmpty: input.isEmpty))
    }

    /// Stops waiting for a first request.
    func stopWaiting() {
        scheduleFlush()
        carryOut(phase.stopWaiting(outputIsEmpty: output.out.isEmpty, inputIsEmpty: input.isEmpty))
    }

    /// The time since which it has waited for a request, or for the rest of the head of its first one; nil
    /// when it has more to do.
    var waitsSince: MonotonicInstant? {
        output.out.isEmpty ? phase.waitsSince(inputIsEmpty: input.isEmpty) : nil
    }

    /// Makes room for another connection. A request that has already arrived is served first.
    func makeRoom() {
        stopServing()
        stopWaiting()
        if phase.state == .head { closeLate() }
    }

    /// Closes after the response, leaving the client some time to read it.
    func closeAfterAnswer() {
        let end = phase.drain(at: loop.now)
        work = .none
        keptBytes = Self.readBytes
        input.removeAll(keeping: Self.readBytes)
        timer?.arm(at: end)
        flush()
    }

    func close() {
        if phase.state == .closed { return }
        detach()
        // The descriptor closes with this object, which the loop releases at the end of the turn.
        closeWriting()
    }

    /// Shuts down the direction to the client. Fails if the client is gone, which the next event reports.
    private func closeWriting() { try? Syscalls.shutdownWriting(descriptor.rawValue) }

    /// Ends the connection's use of the socket.
    private func detach() {
        phase.close()
        work = .none
        timer?.cancel()
        timer = nil
        if let registration { loop.deregister(registration) }
        registration = nil
        siblings.remove(self)
        // The memory it held is freed with it at the end of the turn.
        if mostBytes > 0 { siblings.gaveBack(mostBytes) }
    }

    // MARK: Leaving HTTP

    /// Returns a second descriptor for the new owner of the socket; this one closes with the connection.
    func duplicateDescriptor() throws(IOError) -> FileDescriptor { try descriptor.duplicate() }

    /// The address of the client of a request without its port, or its network with IPv6; nil for a unix
    /// socket. A trusted proxy names its client.
    func clientAddress(_ head: RequestHead, in bytes: ByteSlice) -> [UInt8]? {
        guard let address = try? Syscalls.peerAddress(descriptor.rawValue) else { return nil }
        return context.options.proxies.client(of: head, in: bytes, from: address)?.network
    }

    /// The user of the client, if it is a process of this machine.
    var peerUser: PeerUser? {
        if let foundPeer { return foundPeer }
        let found = PeerUser.of(descriptor.rawValue)
        foundPeer = .some(found)
        return found
    }

    /// Returns the client that a trusted proxy names; nil if there is none.
    func peer(namedBy head: RequestHead, in bytes: ByteSlice) -> ConnectionPeer? {
        guard let address = try? Syscalls.peerAddress(descriptor.rawValue),
            let client = context.options.proxies.client(of: head, in: bytes, from: address), client != address
        else { return nil }
        return ConnectionPeer(client.host)
    }

    /// The client of the current request, for logs: the one that a trusted proxy names, or else the other
    /// end; nil if it is not known.
    var peer: ConnectionPeer? {
        if let namedPeer { return namedPeer }
        if let knownPeer { return knownPeer }
        knownPeer = Syscalls.peerText(descriptor.rawValue).map { ConnectionPeer($0) }
        return knownPeer
    }

    /// Whether the process at the other end belongs to our own user. This can be true only for a unix socket,
    /// for which the kernel reports it.
    var isFromOwnUser: Bool {
        // A peer that cannot be identified counts as another user.
        guard let address = try? Syscalls.localAddress(descriptor.rawValue), address.family == .unix,
            let peer = try? Syscalls.peerCredentials(descriptor.rawValue)
        else { return false }
        return peer.user == geteuid()
    }

    /// Responds with 101, and hands the socket over once the client has received it.
    func upgrade(_ headers: HeaderFields, _ upgrade: PendingUpgrade) {
        ResponseWriter.writeHead(
            status: 101, framing: .none, keepAlive: true, extra: headers, to: &output.out)
        phase.leave()
        work = .upgrade(upgrade)
        scheduleFlush()
    }

    private func handOver() {
        guard case .upgrade(let upgrade) = work else { return }
        let rest = input.slice(0 ..< input.count).copy()
        detach()
        upgrade.complete(rest: rest)
    }
}

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One HTTP connection: reads requests, has them served, writes the answers in order.
///
/// Confined to its loop. A request is parsed only after the answer before it is queued, so pipelined requests
/// are answered in order. All answers of one turn leave in one write.
///
/// Whatever happens to a connection, be it an event, a timer or a message of a handler, schedules a flush,
/// and every flush ends in `settle()`. That is the one place that counts what the connection holds and
/// decides whether it reads, so nothing is read beyond the bounds of its phase, whoever was last to touch it.
final class HTTPConnection: EventHandler, @unchecked Sendable {
    private let counted = Counted(.httpConnection)

    // SAFETY: touched on its loop only; other threads reach it through `loop.execute`. What is not checked
    // for overlapping accesses at run time, which takes a tenth of a call, is accessed for single steps only,
    // in which nothing else is called that would reach it. `output`, which handlers write into, is checked.

    /// What the connection waits for.
    enum Phase {
        /// The first byte of a request.
        case idle
        /// The rest of a head.
        case head
        /// The rest of a body.
        case body(RequestHead, BodyReader)
        /// The answer to a request that was handed on.
        case serving(PendingResponse)
        /// The client to take the 101 that ends HTTP here.
        case leaving(PendingUpgrade)
        /// The client to take the answer to what could not be read; then the connection closes.
        case draining(rest: Int)
        case closed
    }

    let context: ConnectionContext
    let loop: EventLoop
    let identifier: UInt64
    private let descriptor: FileDescriptor
    let siblings: ConnectionSet
    @safe @exclusivity(unchecked) private(set) var registration: Registration?
    @safe @exclusivity(unchecked) var interest: Readiness = .readable
    /// What it uses of the memory of all, since it was last settled.
    @safe @exclusivity(unchecked) var share: MemoryShare
    /// The most it held beyond its own since the system got memory back, and where the allocator still is.
    @safe @exclusivity(unchecked) var mostBytes = 0

    @safe @exclusivity(unchecked) var phase = Phase.idle
    @safe @exclusivity(unchecked) var input = ByteBuffer()
    var output = JSONWriter()
    @safe @exclusivity(unchecked) var parser: RequestParser
    /// The request asks for a head without its body (RFC 9110, section 9.3.2).
    @safe @exclusivity(unchecked) var isHead = false
    /// Whether the connection may serve another request after this one.
    @safe @exclusivity(unchecked) var keepAlive = true
    /// The server stops: streams without end come to one.
    @safe @exclusivity(unchecked) private(set) var isStopping = false
    /// The client has stopped writing, and everything it wrote was read.
    @safe @exclusivity(unchecked) private(set) var peerClosed = false
    /// The poller has said so; there may be more to read.
    @safe @exclusivity(unchecked) private(set) var isReadClosed = false
    @safe @exclusivity(unchecked) private var timer: LoopTimer?
    @safe @exclusivity(unchecked) private var stalledSince: MonotonicInstant?
    /// What the client has taken since then.
    @safe @exclusivity(unchecked) private var takenBytes = 0
    @safe @exclusivity(unchecked) private var idleSince: MonotonicInstant
    private var isWriteClosed = false
    /// What the input buffer may keep between two requests: large messages mostly come one after the other,
    /// and new memory costs a page fault for every 4 KiB.
    @safe @exclusivity(unchecked) private var keptBytes = HTTPConnection.readBytes
    /// Written of the answers that are queued.
    @safe @exclusivity(unchecked) private var writtenBytes = 0

    /// What is read ahead of a request that is being served.
    static let readBytes = 64 * 1024
    /// Input and output of each connection that are not counted: what small messages need.
    static let ownBytes = 32 * 1024
    /// A client that takes less than this of its answer within `writeTimeout` takes nothing.
    static let leastTaken = 32 * 1024
    /// What is read and dropped of a request that was refused. A client that is still writing would otherwise
    /// get a reset instead of the answer; most bodies that are too large are a few times too large.
    static let drainBytes = 16 * 1024 * 1024
    private static let inboxBytes = 16 * 1024
    /// Buffers are given back after this time without a request.
    private static let trimAfter: Duration = .seconds(2)
    /// A queue of answers longer than this stops reading until the client has taken some.
    var outputLimit: Int { context.resources.maxOutputBytes }

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
        idleSince = loop.now
        parser = RequestParser(limits: context.options.limits)
    }

    /// Begins to serve. On the loop.
    func start() {
        do {
            registration = try loop.register(descriptor.rawValue, .readable, self)
            // Lets go of the connection when it is cancelled, as `detach` does. A weak reference would make
            // counting the others several times as slow.
            timer = loop.makeTimer { self.timeOut() }
            timer?.arm(after: context.options.idleTimeout)
        } catch {
            close()
        }
    }

    // MARK: Readiness

    override func ready(_ events: Readiness) {
        scheduleFlush()
        if events.contains(.writable) { flush() }
        switch phase {
        case .serving(let exchange):
            if isGone(events, exchange) { return vanish() }
            // Reported for as long as it is watched, so it is watched no longer.
            if events.contains(.readClosed), !events.contains(.readable) { return isReadClosed = true }
        case .leaving:
            if events.contains(.hangup) { return vanish() }
            if events.contains(.readClosed), !events.contains(.readable) { return isReadClosed = true }
        default: break
        }
        if events.contains(.readable) || events.contains(.hangup) { read() }
    }

    /// Both directions are closed; or, where the response ends with the input, it has ended while reading
    /// is switched off (HTTP-26).
    private func isGone(_ events: Readiness, _ exchange: PendingResponse) -> Bool {
        events.contains(.hangup)
            || (events.contains(.readClosed) && !events.contains(.readable) && exchange.endsWithInput)
    }

    override func loopStopped() {
        registration = nil
        close()
    }

    private func read() {
        if case .closed = phase { return }
        takeInbox()
        receive()
        returnInbox()
    }

    /// Reads into the loop's block, unless there is something unread already.
    private func takeInbox() {
        if input.isEmpty {
            // Here nothing refers to the last request's bytes any more: a block for large ones is used again.
            input.removeAll(keeping: keptBytes)
            if input.capacity < Self.inboxBytes {
                input = ByteBuffer()
                swap(&input, &siblings.inbox)
            }
        }
        if input.isEmpty {
            // By its length `returnInbox` knows the loop's block again.
            input.reserve(exactly: Self.inboxBytes)
        } else {
            input.reserve(max(1024, min(Self.readBytes, input.count)))
        }
    }

    private func returnInbox() {
        if input.isEmpty {
            if input.capacity <= keptBytes, input.capacity > Self.inboxBytes, !isServing { return }
            // Whoever still refers to what was read keeps the block.
            input.removeAll(keeping: Self.inboxBytes)
            if siblings.inbox.capacity == 0 { swap(&input, &siblings.inbox) } else { input = ByteBuffer() }
        } else if input.capacity == Self.inboxBytes, input.count <= Self.inboxBytes / 4 {
            // The beginning of a message that may be long in coming.
            var rest = ByteBuffer(capacity: input.count)
            unsafe input.withBytes { unsafe rest.append($0) }
            swap(&input, &rest)
            rest.removeAll(keeping: Self.inboxBytes)
            if siblings.inbox.capacity == 0 { swap(&rest, &siblings.inbox) }
        }
    }

    /// Gives back what is not needed for the bytes that are there.
    func compact() {
        keptBytes = Self.readBytes
        if output.out.isEmpty { output.out.removeAll(keeping: 0) }
        if input.isEmpty { return input.removeAll(keeping: 0) }
        guard input.capacity > 2 * input.count else { return }
        var rest = ByteBuffer(capacity: input.count)
        unsafe input.withBytes { unsafe rest.append($0) }
        swap(&input, &rest)
    }

    /// A request was handed on, or its connection is.
    private var isServing: Bool {
        switch phase {
        case .serving, .leaving: true
        default: false
        }
    }

    private func receive() {
        let outcome: Int?
        do {
            var count: Int?
            // A long block that was kept is not filled with what is only read ahead.
            let most = isServing ? max(1024, Self.readBytes - input.count) : Int.max
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
        if count == 0 { return endOfInput() }
        if case .draining(let rest) = phase { return drain(count, rest) }
        process()
    }

    /// The client has stopped writing.
    private func endOfInput() {
        peerClosed = true
        switch phase {
        case .serving(let exchange) where exchange.endsWithInput:
            // Disconnecting cancels the request (HTTP-24, HTTP-26).
            vanish()
        case .body: fail(status: 400, HTTPError.truncatedBody.reason)
        case .draining: close()
        case .idle, .head:
            // The answers to what was read still leave (fault 65).
            if output.out.isEmpty { close() }
        case .serving, .leaving, .closed: break
        }
    }

    /// The response that is waited for ends from now on with the input, which may have ended already.
    func responseEndsWithInput() { if peerClosed || isReadClosed { vanish() } }

    /// The client is gone: nobody will read a response. What that means for the request is its handler's.
    func vanish() {
        if case .serving(let exchange) = phase { exchange.clientVanished() }
        close()
    }

    /// After an error whose request was not read to its end: lets the client see the answer before the
    /// connection closes, but reads only so much.
    private func drain(_ count: Int, _ rest: Int) {
        input.removeAll(keeping: Self.readBytes)
        if count >= rest { close() } else { phase = .draining(rest: rest - count) }
    }

    // MARK: Deadlines

    /// A request begins that has so many bytes; they come as fast as its client sends them.
    func expect(_ bytes: Int) { keptBytes = max(Self.readBytes, 2 * bytes) }

    func armTimer(after duration: Duration) { timer?.arm(after: duration) }

    private func timeOut() {
        scheduleFlush()
        if let since = stalledSince {
            if loop.now - since >= context.options.writeTimeout { return vanish() }
            timer?.arm(at: since + context.options.writeTimeout)
            return
        }
        switch phase {
        case .idle: rest()
        case .head, .draining: close()
        case .body(let head, var reader):
            if reader.isTooSlow(at: loop.now, memoryIsShort: share.budget.isScarce) {
                return close()
            }
            armBodyTimer(reader)
            phase = .body(head, reader)
        case .serving(let exchange):
            exchange.keepAlive()
            timer?.arm(after: context.options.keepAliveInterval)
        // The time for writing is what ends it.
        case .leaving, .closed: break
        }
    }

    func armBodyTimer(_ reader: BodyReader) { timer?.arm(at: min(reader.deadline, loop.now + .seconds(5))) }

    // MARK: Writing

    override func flush() {
        guard !output.out.isEmpty else { return afterFlush() }
        if case .closed = phase { return }
        do {
            while !output.out.isEmpty {
                let written = unsafe try output.out.withBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.send(descriptor.rawValue, UnsafeRawBufferPointer(bytes))
                }
                guard let written else { break }
                output.out.consume(written)
                writtenBytes += written
                if stalledSince != nil { note(taken: written) }
            }
        } catch {
            return vanish()
        }
        if output.out.isEmpty {
            output.out.removeAll(keeping: max(Self.readBytes, 2 * writtenBytes))
            writtenBytes = 0
            stalledSince = nil
        } else if stalledSince == nil {
            stalledSince = loop.now
            takenBytes = 0
            timer?.arm(after: context.options.writeTimeout)
        }
        afterFlush()
    }

    /// The client goes on taking its answer, unless it does so to hold on to it.
    private func note(taken count: Int) {
        takenBytes += count
        guard takenBytes >= Self.leastTaken else { return }
        takenBytes = 0
        stalledSince = loop.now
    }

    private func afterFlush() {
        guard output.out.isEmpty else { return settle() }
        switch phase {
        case .idle where !keepAlive: return close()
        // Requests that waited for the answers before them.
        case .idle where !input.isEmpty:
            process()
            if peerClosed, output.out.isEmpty, isUnfinished { return close() }
        case .idle where peerClosed, .head where peerClosed, .draining where peerClosed: return close()
        case .draining where !isWriteClosed:
            isWriteClosed = true
            // Fails for a client that is gone, which the next event tells.
            try? Syscalls.shutdownWriting(descriptor.rawValue)
        case .leaving(let upgrade): return complete(upgrade)
        default: break
        }
        settle()
    }

    /// A request has begun whose rest will never come once the client has stopped writing.
    private var isUnfinished: Bool {
        switch phase {
        case .head, .body: true
        default: false
        }
    }

    /// Sends what is queued at the end of this turn.
    func scheduleFlush() { loop.scheduleFlush(self) }

    /// The next request may begin.
    func becomeIdle() {
        scheduleFlush()
        phase = .idle
        idleSince = loop.now
        timer?.arm(after: min(Self.trimAfter, context.options.idleTimeout))
    }

    /// Gives back the buffers of a connection that rests, and closes one that rests too long.
    private func rest() {
        let end = idleSince + context.options.idleTimeout
        if loop.now >= end { return close() }
        let before = input.capacity + output.out.capacity
        if input.isEmpty { input.removeAll(keeping: 0) }
        if output.out.isEmpty { output.out.removeAll(keeping: 0) }
        siblings.gaveBack(max(before, mostBytes) - input.capacity - output.out.capacity)
        mostBytes = 0
        timer?.arm(at: end)
    }

    /// Stops taking requests: at once when idle, after the current answer otherwise.
    func stopServing() {
        scheduleFlush()
        keepAlive = false
        isStopping = true
        if case .serving(let exchange) = phase { exchange.serverStops() }
        if case .idle = phase, output.out.isEmpty, input.isEmpty { close() }
    }

    /// Closes after the answer, leaving the client some time to read it.
    func closeAfterAnswer() {
        keepAlive = false
        phase = .draining(rest: Self.drainBytes)
        keptBytes = Self.readBytes
        input.removeAll(keeping: Self.readBytes)
        timer?.arm(after: .seconds(1))
        flush()
    }

    func close() {
        if case .closed = phase { return }
        detach()
        // The descriptor closes with this object; the loop lets go of it at the end of the turn. Fails for a
        // client that is gone.
        try? Syscalls.shutdownWriting(descriptor.rawValue)
    }

    /// Ends the connection's part of the socket's life.
    private func detach() {
        phase = .closed
        timer?.cancel()
        timer = nil
        if let registration { loop.deregister(registration) }
        registration = nil
        siblings.remove(self)
        // What it held is freed with it at the end of the turn.
        if mostBytes > 0 { siblings.gaveBack(mostBytes) }
    }

    // MARK: Leaving HTTP

    /// A second descriptor for whoever takes the socket over; this one closes with the connection.
    func duplicateDescriptor() throws(IOError) -> FileDescriptor { try descriptor.duplicate() }

    /// Whether the process at the other end is one of our own user: it is when the socket is a unix socket
    /// and the kernel says so.
    var isFromOwnUser: Bool {
        // Whoever cannot be told is somebody else.
        guard let address = try? Syscalls.localAddress(descriptor.rawValue), address.family == .unix,
            let peer = try? Syscalls.peerCredentials(descriptor.rawValue)
        else { return false }
        return peer.user == geteuid()
    }

    /// Answers 101, and gives the socket away once the client has taken that.
    func upgrade(_ headers: HeaderFields, _ upgrade: PendingUpgrade) {
        ResponseWriter.writeHead(
            status: 101, framing: .none, keepAlive: true, extra: headers, to: &output.out)
        phase = .leaving(upgrade)
        scheduleFlush()
    }

    private func complete(_ upgrade: PendingUpgrade) {
        let rest = input.slice(0 ..< input.count).copy()
        detach()
        upgrade.complete(rest: rest)
    }
}

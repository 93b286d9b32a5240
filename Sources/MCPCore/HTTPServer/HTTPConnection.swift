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
/// What events and times mean is decided by its `ConnectionPhase`; the connection carries out the actions.
/// Each event, timer or message of a handler schedules a flush, and every flush ends in `settle()`. That is
/// the one place that counts what the connection holds and has the phase decide whether it reads, so nothing
/// is read beyond the bounds of its phase.
final class HTTPConnection: EventHandler, @unchecked Sendable {
    private let counted = Counted(.httpConnection)

    // SAFETY: touched on its loop only; other threads reach it through `loop.execute`. What is not checked
    // for overlapping accesses at run time, which takes a tenth of a call, is accessed for single steps only,
    // in which nothing else is called that would reach it. `output`, which handlers write into, is checked.

    /// What belongs to the phase that the connection is in.
    enum Work {
        case none
        /// Of the state `body`.
        case body(RequestHead, BodyReader)
        /// Of the state `serving`.
        case response(PendingResponse)
        /// Of the state `leaving`.
        case upgrade(PendingUpgrade)
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

    @safe @exclusivity(unchecked) var phase = ConnectionPhase()
    @safe @exclusivity(unchecked) var work = Work.none
    @safe @exclusivity(unchecked) var input = ByteBuffer()
    var output = JSONWriter()
    @safe @exclusivity(unchecked) var parser: RequestParser
    /// The request asks for a head without its body (RFC 9110, section 9.3.2).
    @safe @exclusivity(unchecked) var isHead = false
    @safe @exclusivity(unchecked) private(set) var timer: LoopTimer?
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

    /// Whether the connection may serve another request after this one.
    var keepAlive: Bool {
        get { phase.keepAlive }
        set { phase.keepAlive = newValue }
    }

    /// The server stops: streams without end come to one.
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

    /// Begins to serve. On the loop.
    func start() {
        do {
            registration = try loop.register(descriptor.rawValue, .readable, self)
            // Lets go of the connection when it is cancelled, as `detach` does. A weak reference would make
            // counting the others several times as slow.
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

    /// Whether a client that has stopped writing does not wait for the response.
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
            if input.capacity <= keptBytes, input.capacity > Self.inboxBytes, !phase.isHandedOn { return }
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

    private func receive() {
        let outcome: Int?
        do {
            var count: Int?
            // A long block that was kept is not filled with what is only read ahead.
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

    /// The response that is waited for ends from now on with the input, which may have ended already.
    func responseEndsWithInput() { carryOut(phase.responseEndsWithInput()) }

    /// The client is gone: nobody will read a response. What that means for the request is its handler's.
    func vanish() {
        if case .response(let response) = work { response.clientVanished() }
        close()
    }

    /// A request begins that has so many bytes; they come as fast as its client sends them.
    func expect(_ bytes: Int) { keptBytes = max(Self.readBytes, 2 * bytes) }

    private func judgeBody() {
        guard case .body(let head, var reader) = work else { return }
        if reader.isTooSlow(at: loop.now, memoryIsShort: share.budget.isScarce) { return close() }
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

    /// Sends what is queued at the end of this turn.
    func scheduleFlush() { loop.scheduleFlush(self) }

    /// The next request may begin.
    func becomeIdle() {
        scheduleFlush()
        work = .none
        timer?.arm(at: phase.becomeIdle(at: loop.now, context.times))
    }

    /// Gives back the buffers of a connection that rests.
    private func giveBack() {
        let before = input.capacity + output.out.capacity
        if input.isEmpty { input.removeAll(keeping: 0) }
        if output.out.isEmpty { output.out.removeAll(keeping: 0) }
        siblings.gaveBack(max(before, mostBytes) - input.capacity - output.out.capacity)
        mostBytes = 0
    }

    /// Stops taking requests: at once when idle, after the current answer otherwise.
    func stopServing() {
        scheduleFlush()
        carryOut(phase.stop(outputIsEmpty: output.out.isEmpty, inputIsEmpty: input.isEmpty))
    }

    /// Closes after the answer, leaving the client some time to read it.
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
        // The descriptor closes with this object; the loop lets go of it at the end of the turn.
        closeWriting()
    }

    /// Fails for a client that is gone, which the next event tells.
    private func closeWriting() { try? Syscalls.shutdownWriting(descriptor.rawValue) }

    /// Ends the connection's part of the socket's life.
    private func detach() {
        phase.close()
        work = .none
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

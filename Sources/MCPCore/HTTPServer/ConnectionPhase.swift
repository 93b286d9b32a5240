/// The life of one HTTP connection, as a value: events and time in, actions out.
///
/// What time-outs, half-closes, a stop of the server and a client that does not take its answer mean in each
/// state is decided here. `HTTPConnection` reports what happened, carries the action out, and holds what goes
/// with a state: a body, a response, a socket to hand over. A closed connection stays closed.
///
/// The methods of every request are inlined: called by reference, they would cost more than they do.
struct ConnectionPhase {
    /// What the connection waits for.
    enum State: Sendable, CaseIterable {
        /// The first byte of a request.
        case idle
        /// The rest of a head.
        case head
        /// The rest of a body.
        case body
        /// The response to a request that was handed on.
        case serving
        /// The client to take the 101 that ends HTTP here.
        case leaving
        /// The client to take the answer to what could not be read; then the connection closes.
        case draining
        case closed
    }

    /// What is to be done about an event.
    enum Action: Sendable, Hashable {
        case none
        /// Read what has come.
        case read
        /// Serve what was read.
        case process
        /// Drop what was read.
        case drop
        /// Respond that the body is not complete, and drain.
        case failTruncated
        /// Call `timeOut` at this time.
        case wait(until: MonotonicInstant)
        /// Give buffers back that a connection at rest does not need, and wait.
        case giveBack(until: MonotonicInstant)
        /// Send a comment on a quiet event stream, and wait.
        case sendKeepAlive(until: MonotonicInstant)
        /// Close when the body comes too slowly, otherwise look again later.
        case judgeBody
        /// Tell the response that the server stops.
        case tellStop
        /// Decide what to watch for, which may be to read.
        case settle
        /// Serve requests that waited for the answers before them; then ask `resumed`.
        case resume
        /// Close the direction to the client, and settle.
        case closeWriting
        /// Give the socket away.
        case handOver
        /// Close; the client is gone, which a response hears of.
        case vanish
        case close
    }

    /// What comes next of what was read.
    enum Step: Sendable, Hashable {
        case parseHead
        case readBody
        /// Nothing before the queued answers have left.
        case flush
        /// Nothing before the response.
        case wait
    }

    private(set) var state = State.idle
    /// Whether the connection may serve another request after this one.
    var keepAlive = true
    /// The server stops: streams without end come to one.
    private(set) var isStopping = false
    /// The client has stopped writing, and everything it wrote was read.
    private(set) var peerClosed = false
    /// The poller has said so; there may be more to read.
    private(set) var isReadClosed = false
    private var isWriteClosed = false
    /// When the client began to leave its answer, or last took enough of it; nil when all of it was sent.
    private var stalledSince: MonotonicInstant?
    /// What the client has taken since then.
    private var takenBytes = 0
    private var idleSince = MonotonicInstant(nanoseconds: 0)
    /// What is still read and dropped while draining.
    private var dropBytes = HTTPConnection.drainBytes

    /// A request was handed on, or its connection is.
    var isHandedOn: Bool { state == .serving || state == .leaving }

    // MARK: From state to state

    /// The connection begins; when it ends if nothing comes.
    mutating func open(at now: MonotonicInstant, _ times: ConnectionTimes) -> MonotonicInstant {
        idleSince = now
        return now.advanced(byNanoseconds: times.idle)
    }

    /// A head has begun and is not complete. Its time counts from the first byte.
    mutating func headIsIncomplete(at now: MonotonicInstant, _ times: ConnectionTimes) -> Action {
        guard state == .idle else { return .none }
        state = .head
        return .wait(until: now.advanced(byNanoseconds: times.head))
    }

    /// The head is complete, and its body is not.
    mutating func beginBody() { become(.body) }

    /// The body is complete; its request is served next.
    mutating func endBody() { become(.idle) }

    /// A request was handed on; when to send the first keep-alive comment.
    mutating func serve(at now: MonotonicInstant, _ times: ConnectionTimes) -> MonotonicInstant {
        become(.serving)
        return now.advanced(byNanoseconds: times.keepAlive)
    }

    /// The next request may begin; when to look whether the connection rests.
    @inline(__always)
    mutating func becomeIdle(at now: MonotonicInstant, _ times: ConnectionTimes) -> MonotonicInstant {
        become(.idle)
        idleSince = now
        return now.advanced(byNanoseconds: times.rest)
    }

    /// A 101 is queued; the time for writing limits how long it may take.
    mutating func leave() { become(.leaving) }

    /// The last answer is queued; when its client has had enough time to read it.
    mutating func drain(at now: MonotonicInstant) -> MonotonicInstant {
        keepAlive = false
        become(.draining)
        dropBytes = HTTPConnection.drainBytes
        return now.advanced(byNanoseconds: ConnectionTimes.drain)
    }

    mutating func close() { state = .closed }

    @inline(__always)
    private mutating func become(_ next: State) { if state != .closed { state = next } }

    // MARK: Readiness

    /// The poller reports the socket.
    ///
    /// - Parameter responseEnds: whether the response that is waited for ends with the input.
    @inline(__always)
    mutating func ready(_ events: Readiness, responseEnds: @autoclosure () -> Bool) -> Action {
        if state == .closed { return .none }
        if isHandedOn, events.contains(.hangup) { return .vanish }
        if events.contains(.readable) || events.contains(.hangup) { return .read }
        guard events.contains(.readClosed) else { return .none }
        // Reading is switched off, so the end is not read (HTTP-26).
        if state == .serving, responseEnds() { return .vanish }
        // Reported for as long as it is watched, so it is watched no longer: the loop would not come to rest.
        isReadClosed = true
        return .none
    }

    /// So many bytes were read.
    @inline(__always)
    mutating func received(_ count: Int) -> Action {
        guard state == .draining else { return .process }
        // What stands behind a request that was refused, but only so much.
        guard count < dropBytes else { return .close }
        dropBytes -= count
        return .drop
    }

    /// The client has stopped writing, and everything was read.
    mutating func endOfInput(outputIsEmpty: Bool, responseEnds: Bool) -> Action {
        peerClosed = true
        switch state {
        // Disconnecting cancels the request (HTTP-24, HTTP-26).
        case .serving: return responseEnds ? .vanish : .none
        case .body: return .failTruncated
        case .draining: return .close
        // The answers to what was read still leave (fault 65).
        case .idle, .head: return outputIsEmpty ? .close : .none
        case .leaving, .closed: return .none
        }
    }

    /// From now on the response that is waited for ends with the input, which may have ended already.
    func responseEndsWithInput() -> Action {
        state == .serving && (peerClosed || isReadClosed) ? .vanish : .none
    }

    /// What to do with the input; `hasRoom` says whether more answers may be queued.
    @inline(__always)
    func next(hasRoom: Bool) -> Step {
        guard hasRoom else { return .flush }
        switch state {
        // What stands behind a request that ends the connection is not served (RFC 9112, section 9.6).
        case .idle: return keepAlive ? .parseHead : .flush
        case .head: return .parseHead
        case .body: return .readBody
        case .serving, .leaving, .draining, .closed: return .wait
        }
    }

    /// What to watch for. What the connection may hold of its input depends on its state, and what is over
    /// the bound stays in the socket:
    ///
    /// - idle, head, body: one message with what is read behind it, while its queue of answers has room. The
    ///   parser bounds a head and the body's own limits the rest.
    /// - serving: `readBytes`; less while memory is short.
    /// - leaving: nothing, the rest is for the next owner of the socket.
    /// - draining: nothing, what comes is dropped.
    ///
    /// - Parameters:
    ///   - input: bytes that were read and not served.
    ///   - outputIsEmpty: whether everything that was written was sent.
    ///   - hasRoom: whether more answers may be queued.
    ///   - isScarce: whether memory is short.
    @inline(__always)
    func interest(
        input: Int, outputIsEmpty: Bool, hasRoom: Bool, isScarce: @autoclosure () -> Bool
    ) -> Readiness {
        var wanted: Readiness = outputIsEmpty ? [] : .writable
        if peerClosed { return wanted }
        let mayRead =
            switch state {
            case .idle, .head, .body, .draining: hasRoom
            case .serving: input < (isScarce() ? HTTPConnection.ownBytes / 2 : HTTPConnection.readBytes)
            case .leaving, .closed: false
            }
        if mayRead {
            wanted.insert(.readable)
        } else if !isReadClosed {
            wanted.insert(.readClosed)
        }
        return wanted
    }

    // MARK: Time

    /// The time has come that the connection waited for.
    func timeOut(at now: MonotonicInstant, _ times: ConnectionTimes) -> Action {
        // A client that has answers to take is not judged by what it sends.
        if let since = stalledSince {
            let end = since.advanced(byNanoseconds: times.write)
            return now >= end ? .vanish : .wait(until: end)
        }
        switch state {
        case .idle:
            let end = idleSince.advanced(byNanoseconds: times.idle)
            return now >= end ? .close : .giveBack(until: end)
        case .head, .draining: return .close
        case .body: return .judgeBody
        case .serving: return .sendKeepAlive(until: now.advanced(byNanoseconds: times.keepAlive))
        // The time for writing is what ends it.
        case .leaving, .closed: return .none
        }
    }

    // MARK: Writing

    /// The system took everything that was to be sent.
    @inline(__always)
    mutating func tookAll() { stalledSince = nil }

    /// The system takes no more of what is to be sent.
    mutating func tookPart(at now: MonotonicInstant, _ times: ConnectionTimes) -> Action {
        if isStalled { return .none }
        stalledSince = now
        takenBytes = 0
        return .wait(until: now.advanced(byNanoseconds: times.write))
    }

    /// A client that left a part of its answer goes on taking it, unless it does so to hold on to it.
    mutating func took(_ count: Int, at now: MonotonicInstant) {
        guard isStalled else { return }
        takenBytes += count
        guard takenBytes >= HTTPConnection.leastTaken else { return }
        takenBytes = 0
        stalledSince = now
    }

    /// Whether the client has left a part of its answer.
    var isStalled: Bool { stalledSince != nil }

    /// What could be sent was sent.
    @inline(__always)
    mutating func flushed(outputIsEmpty: Bool, inputIsEmpty: Bool) -> Action {
        guard outputIsEmpty else { return .settle }
        switch state {
        case .idle:
            if !keepAlive { return .close }
            if !inputIsEmpty { return .resume }
            return peerClosed ? .close : .settle
        case .head: return peerClosed ? .close : .settle
        case .draining:
            if peerClosed { return .close }
            if isWriteClosed { return .settle }
            isWriteClosed = true
            return .closeWriting
        case .leaving: return .handOver
        case .body, .serving, .closed: return .settle
        }
    }

    /// What waited for the answers before it was served. A request whose rest will never come ends the
    /// connection.
    func resumed(outputIsEmpty: Bool) -> Action {
        peerClosed && outputIsEmpty && (state == .head || state == .body) ? .close : .settle
    }

    // MARK: The end

    /// The server takes no more requests: closes at once when idle, after the current answer otherwise.
    mutating func stop(outputIsEmpty: Bool, inputIsEmpty: Bool) -> Action {
        keepAlive = false
        isStopping = true
        switch state {
        case .serving: return .tellStop
        case .idle: return outputIsEmpty && inputIsEmpty ? .close : .none
        case .head, .body, .leaving, .draining, .closed: return .none
        }
    }
}

/// The times of a connection, in nanoseconds: converting a `Duration` costs more than what is done with it.
struct ConnectionTimes: Sendable {
    let head: Int64
    let idle: Int64
    let write: Int64
    let keepAlive: Int64
    /// Buffers are given back after this time without a request.
    let rest: Int64

    /// For the client to read the last answer.
    static let drain: Int64 = 1_000_000_000

    init(_ options: HTTPServerOptions) {
        head = options.headTimeout.wholeNanoseconds
        idle = options.idleTimeout.wholeNanoseconds
        write = options.writeTimeout.wholeNanoseconds
        keepAlive = options.keepAliveInterval.wholeNanoseconds
        rest = min(2_000_000_000, idle)
    }
}

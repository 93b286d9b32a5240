/// The state machine of one HTTP connection, as a value: events and time in, actions out.
///
/// It decides what time-outs, half-closes, a stop of the server and a client that does not read its response
/// mean in each state. `HTTPConnection` reports events, carries out the actions, and holds the data of a
/// state: a body, a response, a socket to hand over. A closed connection stays closed.
///
/// The methods used for every request are inlined: calling them by reference would cost more than their work.
struct ConnectionPhase {
    /// The event that the connection waits for.
    enum State: Sendable, CaseIterable {
        /// The first byte of a request.
        case idle
        /// The rest of a head.
        case head
        /// The rest of a body.
        case body
        /// The response to a request that was handed on.
        case serving
        /// The client receiving the 101 that ends HTTP on this connection.
        case leaving
        /// The client receiving the response to a request that could not be read; then the connection closes.
        case draining
        case closed
    }

    /// The action to take on an event.
    enum Action: Sendable, Hashable {
        case none
        /// Read what has arrived.
        case read
        /// Serve what was read.
        case process
        /// Drop what was read.
        case drop
        /// Respond that the body is not complete, and drain.
        case failTruncated
        /// Call `timeOut` at the given time.
        case wait(until: MonotonicInstant)
        /// Release the buffers that an idle connection does not need, and wait.
        case giveBack(until: MonotonicInstant)
        /// Send a comment on a quiet event stream, and wait.
        case sendKeepAlive(until: MonotonicInstant)
        /// Close because the head of a request did not arrive in time.
        case closeLate
        /// Close if the body arrives too slowly; otherwise check again later.
        case judgeBody
        /// Notify the response that the server is stopping.
        case tellStop
        /// Decide which events to watch for, and thus whether to read.
        case settle
        /// Serve requests that waited for earlier responses, then call `resumed`.
        case resume
        /// Close the direction to the client, and settle.
        case closeWriting
        /// Hand the socket over.
        case handOver
        /// Close because the client is gone, and notify the response.
        case vanish
        case close
    }

    /// The next step with the input that was read.
    enum Step: Sendable, Hashable {
        case parseHead
        case readBody
        /// Nothing until the queued responses have been sent.
        case flush
        /// Nothing until the response is complete.
        case wait
    }

    private(set) var state = State.idle
    /// Whether the connection may serve another request after this one.
    var keepAlive = true
    /// Whether the server is stopping, so that endless streams end.
    private(set) var isStopping = false
    /// Whether the client has stopped writing and everything it wrote was read.
    private(set) var peerClosed = false
    /// Whether the poller has reported that the client stopped writing; there may be more to read.
    private(set) var isReadClosed = false
    private var isWriteClosed = false
    /// The time at which the client stopped reading its response, or last read enough of it; nil when all of
    /// it was sent.
    private var stalledSince: MonotonicInstant?
    /// The number of bytes that the client has read since then.
    private var takenBytes = 0
    private var idleSince = MonotonicInstant(nanoseconds: 0)
    /// Whether no request was served yet, so that one may begin even while the server stops.
    private(set) var isFresh = true
    /// The number of bytes that may still be read and dropped while draining.
    private var dropBytes = HTTPConnection.drainBytes

    /// Whether a request was handed on, or its connection is being handed over.
    var isHandedOn: Bool { state == .serving || state == .leaving }

    // MARK: State transitions

    /// Starts the connection; returns the time at which it ends if nothing arrives.
    mutating func open(at now: MonotonicInstant, _ times: ConnectionTimes) -> MonotonicInstant {
        idleSince = now
        return now.advanced(byNanoseconds: times.idle)
    }

    /// Records that a head has begun and is not complete. Its time counts from the first byte.
    mutating func headIsIncomplete(at now: MonotonicInstant, _ times: ConnectionTimes) -> Action {
        guard state == .idle else { return .none }
        state = .head
        return .wait(until: now.advanced(byNanoseconds: times.head))
    }

    /// Records that only an empty line has arrived: no head has begun.
    mutating func headIsEmpty(_ times: ConnectionTimes) -> Action {
        guard state == .head else { return .none }
        state = .idle
        return .wait(until: idleSince.advanced(byNanoseconds: times.idle))
    }

    /// Records that the head is complete and its body is not.
    mutating func beginBody() { become(.body) }

    /// Records that the body is complete; its request is served next.
    mutating func endBody() { become(.idle) }

    /// Records that a request was handed on; returns the time for the first keep-alive comment.
    mutating func serve(at now: MonotonicInstant, _ times: ConnectionTimes) -> MonotonicInstant {
        become(.serving)
        return now.advanced(byNanoseconds: times.keepAlive)
    }

    /// Records that the next request may begin; returns the time to check whether the connection is at rest.
    @inline(__always)
    mutating func becomeIdle(at now: MonotonicInstant, _ times: ConnectionTimes) -> MonotonicInstant {
        become(.idle)
        isFresh = false
        idleSince = now
        return now.advanced(byNanoseconds: times.rest)
    }

    /// Records that a 101 is queued; the write time-out limits how long it may take.
    mutating func leave() { become(.leaving) }

    /// Records that the last response is queued; returns the time by which its client has had long enough to
    /// read it.
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

    /// Handles the events that the poller reports for the socket.
    ///
    /// - Parameter responseEnds: whether the pending response ends with the input.
    @inline(__always)
    mutating func ready(_ events: Readiness, responseEnds: @autoclosure () -> Bool) -> Action {
        if state == .closed { return .none }
        if isHandedOn, events.contains(.hangup) { return .vanish }
        if events.contains(.readable) || events.contains(.hangup) { return .read }
        guard events.contains(.readClosed) else { return .none }
        // Reading is switched off, so the end is not read (HTTP-26).
        if state == .serving, responseEnds() { return .vanish }
        // Reported for as long as it is watched, so it is no longer watched: otherwise the loop would never
        // rest.
        isReadClosed = true
        return .none
    }

    /// Handles the given number of bytes that were read.
    @inline(__always)
    mutating func received(_ count: Int) -> Action {
        guard state == .draining else { return .process }
        // The rest of a request that was refused is dropped, but only up to a limit.
        guard count < dropBytes else { return .close }
        dropBytes -= count
        return .drop
    }

    /// Handles the end of the input: the client has stopped writing, and everything was read.
    mutating func endOfInput(outputIsEmpty: Bool, responseEnds: Bool) -> Action {
        peerClosed = true
        switch state {
        // Disconnecting cancels the request (HTTP-24, HTTP-26).
        case .serving: return responseEnds ? .vanish : .none
        case .body: return .failTruncated
        case .draining: return .close
        // The responses to what was read are still sent (fault 65).
        case .idle, .head: return outputIsEmpty ? .close : .none
        case .leaving, .closed: return .none
        }
    }

    /// Handles a pending response that from now on ends with the input, which may have ended already.
    func responseEndsWithInput() -> Action {
        state == .serving && (peerClosed || isReadClosed) ? .vanish : .none
    }

    /// Returns the next step for the input; `hasRoom` specifies whether more responses may be queued.
    @inline(__always)
    func next(hasRoom: Bool) -> Step {
        guard hasRoom else { return .flush }
        switch state {
        // Data after a request that ends the connection is not served (RFC 9112, section 9.6).
        case .idle: return keepAlive || isStopping && isFresh ? .parseHead : .flush
        case .head: return .parseHead
        case .body: return .readBody
        case .serving, .leaving, .draining, .closed: return .wait
        }
    }

    /// Returns the events to watch for.
    ///
    /// The amount of input that the connection may hold depends on its state. Anything beyond the limit stays
    /// in the socket:
    ///
    /// - idle, head, body: one message and any bytes read after it, while the response queue has room. The
    ///   parser limits a head, and the body's own limits bound the rest.
    /// - serving: `readBytes`; less while memory is short.
    /// - leaving: nothing; the rest is for the next owner of the socket.
    /// - draining: nothing; the input is dropped.
    ///
    /// - Parameters:
    ///   - input: the number of bytes that were read but not served.
    ///   - outputIsEmpty: whether everything that was written was sent.
    ///   - hasRoom: whether more responses may be queued.
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

    /// Handles the time that the connection waited for.
    func timeOut(at now: MonotonicInstant, _ times: ConnectionTimes) -> Action {
        // A client that still has responses to read is not judged by what it sends.
        if let since = stalledSince {
            let end = since.advanced(byNanoseconds: times.write)
            return now >= end ? .vanish : .wait(until: end)
        }
        switch state {
        case .idle:
            let end = idleSince.advanced(byNanoseconds: times.idle)
            return now >= end ? .close : .giveBack(until: end)
        case .head: return .closeLate
        case .draining: return .close
        case .body: return .judgeBody
        case .serving: return .sendKeepAlive(until: now.advanced(byNanoseconds: times.keepAlive))
        // The write time-out ends this state.
        case .leaving, .closed: return .none
        }
    }

    // MARK: Writing

    /// Records that the system accepted everything that was to be sent.
    @inline(__always)
    mutating func tookAll() { stalledSince = nil }

    /// Records that the system currently accepts no more of the output.
    mutating func tookPart(at now: MonotonicInstant, _ times: ConnectionTimes) -> Action {
        if isStalled { return .none }
        stalledSince = now
        takenBytes = 0
        return .wait(until: now.advanced(byNanoseconds: times.write))
    }

    /// Records that a stalled client has read more of its response; it must read enough, so that it cannot
    /// hold the connection by reading a little at a time.
    mutating func took(_ count: Int, at now: MonotonicInstant) {
        guard isStalled else { return }
        takenBytes += count
        guard takenBytes >= HTTPConnection.leastTaken else { return }
        takenBytes = 0
        stalledSince = now
    }

    /// Whether the client has left part of its response unread.
    var isStalled: Bool { stalledSince != nil }

    /// Handles the end of a flush: everything that could be sent was sent.
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

    /// Handles the state after requests that waited for earlier responses were served. A request whose
    /// remainder will never arrive ends the connection.
    func resumed(outputIsEmpty: Bool) -> Action {
        peerClosed && outputIsEmpty && (state == .head || state == .body) ? .close : .settle
    }

    // MARK: Stopping

    /// Stops accepting requests: the connection closes at once if idle, otherwise after the current response.
    /// A client that has only connected so far is about to send its request: `stopWaiting` ends that.
    mutating func stop(outputIsEmpty: Bool, inputIsEmpty: Bool) -> Action {
        keepAlive = false
        isStopping = true
        switch state {
        case .serving: return .tellStop
        case .idle: return outputIsEmpty && inputIsEmpty && !isFresh ? .close : .none
        case .head, .body, .leaving, .draining, .closed: return .none
        }
    }

    /// Returns the time since which the client has owed a request, or the rest of its first head; nil if it
    /// does not owe any.
    func waitsSince(inputIsEmpty: Bool) -> MonotonicInstant? {
        switch state {
        case .idle: inputIsEmpty ? idleSince : nil
        case .head: isFresh ? idleSince : nil
        case .body, .serving, .leaving, .draining, .closed: nil
        }
    }

    /// Lets a last request begin although the server stops, until `endLast`.
    mutating func beginLast() {
        keepAlive = false
        isStopping = true
        isFresh = true
    }

    mutating func endLast() { isFresh = false }

    /// Closes a connection that has had enough time to send its first request.
    mutating func stopWaiting(outputIsEmpty: Bool, inputIsEmpty: Bool) -> Action {
        endLast()
        return stop(outputIsEmpty: outputIsEmpty, inputIsEmpty: inputIsEmpty)
    }
}

/// The time limits of a connection, in nanoseconds: converting a `Duration` costs more than using it.
struct ConnectionTimes: Sendable {
    let head: Int64
    let idle: Int64
    let write: Int64
    let keepAlive: Int64
    /// The time without a request after which buffers are released.
    let rest: Int64

    /// The time that the client has to read the last response.
    static let drain: Int64 = 1_000_000_000

    init(_ options: HTTPServerOptions) {
        head = options.headTimeout.wholeNanoseconds
        idle = options.idleTimeout.wholeNanoseconds
        write = options.writeTimeout.wholeNanoseconds
        keepAlive = options.keepAliveInterval.wholeNanoseconds
        rest = min(2_000_000_000, idle)
    }
}

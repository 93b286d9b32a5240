import Testing

@testable import MCPCore

/// The life of an HTTP connection, without one: what each event means in each state.
@Suite struct ConnectionPhaseTests {
    typealias State = ConnectionPhase.State
    typealias Action = ConnectionPhase.Action

    /// What a method of the phase returned.
    enum Outcome: Equatable, Sendable {
        case action(Action)
        case step(ConnectionPhase.Step)
        case watch(Readiness)

        static func wait(_ seconds: Int64) -> Outcome {
            .action(.wait(until: start.advanced(byNanoseconds: seconds * second)))
        }
    }

    /// What comes of an event in one state.
    struct Result: Sendable {
        let outcome: Outcome
        /// Nil where the state stays.
        let next: State?

        init(_ outcome: Outcome, _ next: State? = nil) {
            self.outcome = outcome
            self.next = next
        }

        init(_ action: Action, _ next: State? = nil) { self.init(.action(action), next) }
    }

    /// One event, and what comes of it in idle, head, body, serving, leaving, draining and closed.
    struct Row: Sendable, CustomTestStringConvertible {
        let title: String
        let results: [Result]
        let event: @Sendable (inout ConnectionPhase) -> Outcome
        var testDescription: String { title }

        init(
            _ title: String, _ results: [Result],
            _ event: @escaping @Sendable (inout ConnectionPhase) -> Outcome
        ) {
            self.title = title
            self.results = results
            self.event = event
        }

        init(
            _ title: String, all result: Result, except: [State: Result] = [:],
            _ event: @escaping @Sendable (inout ConnectionPhase) -> Outcome
        ) { self.init(title, State.allCases.map { except[$0] ?? result }, event) }
    }

    static let second: Int64 = 1_000_000_000
    static let start = MonotonicInstant(nanoseconds: 1_000 * second)
    /// 10 s for a head, 60 s idle, 30 s for writing, 15 s between comments.
    static let times = ConnectionTimes(HTTPServerOptions())

    static func after(_ nanoseconds: Int64) -> MonotonicInstant { start.advanced(byNanoseconds: nanoseconds) }

    /// A connection that is in this state since `start`.
    static func phase(_ state: State) -> ConnectionPhase {
        var phase = ConnectionPhase()
        _ = phase.open(at: start, times)
        switch state {
        case .idle: break
        case .head: _ = phase.headIsIncomplete(at: start, times)
        case .body: phase.beginBody()
        case .serving: _ = phase.serve(at: start, times)
        case .leaving: phase.leave()
        case .draining: _ = phase.drain(at: start)
        case .closed: phase.close()
        }
        return phase
    }

    // MARK: The table

    static let transitions = [
        Row(
            "the head is incomplete", all: Result(.none),
            except: [.idle: Result(.wait(10), .head)]
        ) { .action($0.headIsIncomplete(at: start, times)) },
        Row(
            "the head is an empty line so far", all: Result(.none),
            except: [.head: Result(.wait(60), .idle)]
        ) { .action($0.headIsEmpty(times)) },
        Row("a body begins", all: Result(.none, .body), except: [.closed: Result(.none)]) {
            $0.beginBody()
            return .action(.none)
        },
        Row("a body ends", all: Result(.none, .idle), except: [.closed: Result(.none)]) {
            $0.endBody()
            return .action(.none)
        },
        Row("a request is handed on", all: Result(.wait(15), .serving), except: [.closed: Result(.wait(15))])
        {
            .action(.wait(until: $0.serve(at: start, times)))
        },
        Row("a response is complete", all: Result(.wait(2), .idle), except: [.closed: Result(.wait(2))]) {
            .action(.wait(until: $0.becomeIdle(at: start, times)))
        },
        Row("a 101 is queued", all: Result(.none, .leaving), except: [.closed: Result(.none)]) {
            $0.leave()
            return .action(.none)
        },
        Row("a last answer is queued", all: Result(.wait(1), .draining), except: [.closed: Result(.wait(1))])
        {
            .action(.wait(until: $0.drain(at: start)))
        },
        Row("it is closed", all: Result(.none, .closed)) {
            $0.close()
            return .action(.none)
        },
    ]

    static let readiness = [
        Row("bytes", all: Result(.read), except: [.closed: Result(.none)]) {
            .action($0.ready(.readable, responseEnds: true))
        },
        Row("bytes, and no more will come", all: Result(.read), except: [.closed: Result(.none)]) {
            .action($0.ready([.readable, .readClosed], responseEnds: true))
        },
        Row(
            "no more will come", all: Result(.none), except: [.serving: Result(.vanish)]
        ) { .action($0.ready(.readClosed, responseEnds: true)) },
        Row("no more will come, which does not end the response", all: Result(.none)) {
            .action($0.ready(.readClosed, responseEnds: false))
        },
        Row(
            "hangup", all: Result(.read),
            except: [.serving: Result(.vanish), .leaving: Result(.vanish), .closed: Result(.none)]
        ) { .action($0.ready([.readable, .hangup], responseEnds: false)) },
        Row("room to write", all: Result(.none)) { .action($0.ready(.writable, responseEnds: true)) },
        Row("bytes were read", all: Result(.process), except: [.draining: Result(.drop)]) {
            .action($0.received(100))
        },
        // What would be too much of a request that was refused is what a body may have.
        Row("many bytes were read", all: Result(.process), except: [.draining: Result(.close)]) {
            .action($0.received(HTTPConnection.drainBytes))
        },
    ]

    static let endsOfInput = [
        Row(
            "the end of the input, all sent",
            [
                Result(.close), Result(.close), Result(.failTruncated), Result(.none), Result(.none),
                Result(.close), Result(.none),
            ]
        ) { .action($0.endOfInput(outputIsEmpty: true, responseEnds: false)) },
        // Fault 65
        Row(
            "the end of the input, answers on their way",
            [
                Result(.none), Result(.none), Result(.failTruncated), Result(.none), Result(.none),
                Result(.close), Result(.none),
            ]
        ) { .action($0.endOfInput(outputIsEmpty: false, responseEnds: false)) },
        // HTTP-24, HTTP-26
        Row(
            "the end of the input, which ends the response",
            [
                Result(.none), Result(.none), Result(.failTruncated), Result(.vanish), Result(.none),
                Result(.close), Result(.none),
            ]
        ) { .action($0.endOfInput(outputIsEmpty: false, responseEnds: true)) },
        Row("the response ends with the input", all: Result(.none)) { .action($0.responseEndsWithInput()) },
        Row(
            "the response ends with the input, which is over", all: Result(.none),
            except: [.serving: Result(.vanish)]
        ) {
            _ = $0.endOfInput(outputIsEmpty: false, responseEnds: false)
            return .action($0.responseEndsWithInput())
        },
        Row(
            "all is sent after the end of the input", all: Result(.close),
            except: [
                .body: Result(.settle), .serving: Result(.settle), .leaving: Result(.handOver),
                .closed: Result(.settle),
            ]
        ) {
            _ = $0.endOfInput(outputIsEmpty: false, responseEnds: false)
            return .action($0.flushed(outputIsEmpty: true, inputIsEmpty: true))
        },
        Row(
            "waiting requests were served after the end of the input", all: Result(.settle),
            except: [
                .head: Result(.close), .body: Result(.close),
            ]
        ) {
            _ = $0.endOfInput(outputIsEmpty: false, responseEnds: false)
            return .action($0.resumed(outputIsEmpty: true))
        },
        Row("waiting requests were answered after the end of the input", all: Result(.settle)) {
            _ = $0.endOfInput(outputIsEmpty: false, responseEnds: false)
            return .action($0.resumed(outputIsEmpty: false))
        },
        Row("waiting requests were served", all: Result(.settle)) {
            .action($0.resumed(outputIsEmpty: true))
        },
    ]

    static let timeOuts = [
        Row(
            "the first time-out",
            [
                Result(.giveBack(until: after(60 * second))), Result(.closeLate), Result(.judgeBody),
                Result(.sendKeepAlive(until: after(17 * second))), Result(.none), Result(.close),
                Result(.none),
            ]
        ) { .action($0.timeOut(at: after(2 * second), times)) },
        Row(
            "a time-out after the idle time",
            [
                Result(.close), Result(.closeLate), Result(.judgeBody),
                Result(.sendKeepAlive(until: after(75 * second))), Result(.none), Result(.close),
                Result(.none),
            ]
        ) { .action($0.timeOut(at: after(60 * second), times)) },
        Row("the client takes no more", all: Result(.wait(30))) { .action($0.tookPart(at: start, times)) },
        Row("a time-out while the client takes its answer", all: Result(.wait(30))) {
            _ = $0.tookPart(at: start, times)
            return .action($0.timeOut(at: after(30 * second - 1), times))
        },
        Row("a time-out when the client has not taken its answer", all: Result(.vanish)) {
            _ = $0.tookPart(at: start, times)
            return .action($0.timeOut(at: after(30 * second), times))
        },
    ]

    static let flushes = [
        Row("not all is sent", all: Result(.settle)) {
            .action($0.flushed(outputIsEmpty: false, inputIsEmpty: false))
        },
        Row(
            "all is sent", all: Result(.settle),
            except: [.leaving: Result(.handOver), .draining: Result(.closeWriting)]
        ) { .action($0.flushed(outputIsEmpty: true, inputIsEmpty: true)) },
        Row(
            "all is sent, and more was read", all: Result(.settle),
            except: [
                .idle: Result(.resume), .leaving: Result(.handOver), .draining: Result(.closeWriting),
            ]
        ) { .action($0.flushed(outputIsEmpty: true, inputIsEmpty: false)) },
        Row(
            "all is sent of the last answer", all: Result(.settle),
            except: [.idle: Result(.close), .leaving: Result(.handOver), .draining: Result(.closeWriting)]
        ) {
            $0.keepAlive = false
            return .action($0.flushed(outputIsEmpty: true, inputIsEmpty: false))
        },
        Row(
            "all is sent once more", all: Result(.settle),
            except: [.leaving: Result(.handOver)]
        ) {
            _ = $0.flushed(outputIsEmpty: true, inputIsEmpty: true)
            return .action($0.flushed(outputIsEmpty: true, inputIsEmpty: true))
        },
    ]

    static let stops = [
        Row(
            "the server stops before a first request", all: Result(.none),
            except: [.serving: Result(.tellStop)]
        ) { .action($0.stop(outputIsEmpty: true, inputIsEmpty: true)) },
        Row(
            "a first request has had its time", all: Result(.none),
            except: [.idle: Result(.close), .serving: Result(.tellStop)]
        ) { .action($0.stopWaiting(outputIsEmpty: true, inputIsEmpty: true)) },
        Row(
            "the server stops after a request", all: Result(.close, .idle), except: [.closed: Result(.none)]
        ) {
            _ = $0.becomeIdle(at: start, times)
            return .action($0.stop(outputIsEmpty: true, inputIsEmpty: true))
        },
        Row(
            "the server stops while an answer leaves", all: Result(.none),
            except: [.serving: Result(.tellStop)]
        ) { .action($0.stop(outputIsEmpty: false, inputIsEmpty: true)) },
        Row(
            "the server stops while a request waits", all: Result(.none),
            except: [.serving: Result(.tellStop)]
        ) { .action($0.stop(outputIsEmpty: true, inputIsEmpty: false)) },
    ]

    static let steps = [
        Row(
            "input", all: Result(.step(.wait)),
            except: [
                .idle: Result(.step(.parseHead)), .head: Result(.step(.parseHead)),
                .body: Result(.step(.readBody)),
            ]
        ) { .step($0.next(hasRoom: true)) },
        Row(
            "input behind the last request", all: Result(.step(.wait)),
            except: [
                .idle: Result(.step(.flush)), .head: Result(.step(.parseHead)),
                .body: Result(.step(.readBody)),
            ]
        ) {
            $0.keepAlive = false
            return .step($0.next(hasRoom: true))
        },
        Row("input while too many answers wait", all: Result(.step(.flush))) {
            .step($0.next(hasRoom: false))
        },
    ]

    static func interest(
        _ phase: ConnectionPhase, input: Int = 0, outputIsEmpty: Bool = true, hasRoom: Bool = true,
        isScarce: Bool = false
    ) -> Outcome {
        .watch(
            phase.interest(
                input: input, outputIsEmpty: outputIsEmpty, hasRoom: hasRoom, isScarce: isScarce))
    }

    static let closing = Result(.watch(.readClosed))

    static let interests = [
        Row(
            "nothing waits", all: Result(.watch(.readable)), except: [.leaving: closing, .closed: closing]
        ) { interest($0) },
        Row(
            "answers wait", all: Result(.watch([.readable, .writable])),
            except: [
                .leaving: Result(.watch([.readClosed, .writable])),
                .closed: Result(.watch([.readClosed, .writable])),
            ]
        ) { interest($0, outputIsEmpty: false) },
        Row(
            "too many answers wait", all: Result(.watch([.readClosed, .writable])),
            except: [.serving: Result(.watch([.readable, .writable]))]
        ) { interest($0, outputIsEmpty: false, hasRoom: false) },
        Row(
            "as much as may be read ahead", all: Result(.watch(.readable)),
            except: [.serving: closing, .leaving: closing, .closed: closing]
        ) { interest($0, input: HTTPConnection.readBytes) },
        Row(
            "one byte less", all: Result(.watch(.readable)), except: [.leaving: closing, .closed: closing]
        ) { interest($0, input: HTTPConnection.readBytes - 1) },
        Row(
            "as much as may be read ahead while memory is short", all: Result(.watch(.readable)),
            except: [.serving: closing, .leaving: closing, .closed: closing]
        ) { interest($0, input: HTTPConnection.ownBytes / 2, isScarce: true) },
        Row(
            "one byte less while memory is short", all: Result(.watch(.readable)),
            except: [.leaving: closing, .closed: closing]
        ) { interest($0, input: HTTPConnection.ownBytes / 2 - 1, isScarce: true) },
        Row("nothing waits after the end of the input", all: Result(.watch([]))) {
            _ = $0.endOfInput(outputIsEmpty: false, responseEnds: false)
            return interest($0)
        },
        Row("answers wait after the end of the input", all: Result(.watch(.writable))) {
            _ = $0.endOfInput(outputIsEmpty: false, responseEnds: false)
            return interest($0, outputIsEmpty: false, hasRoom: false)
        },
    ]

    @Test(
        arguments: transitions + readiness + endsOfInput + timeOuts + flushes + stops + steps + interests)
    func table(_ row: Row) {
        #expect(row.results.count == State.allCases.count)
        for (state, result) in zip(State.allCases, row.results) {
            var phase = Self.phase(state)
            #expect(phase.state == state)
            #expect(row.event(&phase) == result.outcome, "\(state)")
            #expect(phase.state == result.next ?? state, "\(state)")
        }
    }

    @Test func aLastRequestWhileTheServerStops() {
        var phase = Self.phase(.idle)
        _ = phase.becomeIdle(at: Self.start, Self.times)
        phase.beginLast()
        #expect(phase.isStopping && !phase.keepAlive && phase.next(hasRoom: true) == .parseHead)
        // Only one.
        _ = phase.becomeIdle(at: Self.start, Self.times)
        #expect(phase.next(hasRoom: true) == .flush)
        phase.beginLast()
        phase.endLast()
        #expect(phase.next(hasRoom: true) == .flush)
        #expect(phase.stop(outputIsEmpty: true, inputIsEmpty: true) == .close)
    }

    // MARK: Limits

    @Test func idleTimeAtItsBoundary() {
        var phase = Self.phase(.idle)
        let end = Self.after(60 * Self.second)
        #expect(phase.timeOut(at: Self.after(60 * Self.second - 1), Self.times) == .giveBack(until: end))
        #expect(phase.timeOut(at: end, Self.times) == .close)
        // A request later it counts from there.
        _ = phase.becomeIdle(at: Self.after(1), Self.times)
        #expect(phase.timeOut(at: end, Self.times) == .giveBack(until: end.advanced(byNanoseconds: 1)))
        #expect(phase.timeOut(at: end.advanced(byNanoseconds: 1), Self.times) == .close)
    }

    /// A connection that may rest for less than two seconds keeps its buffers until its end.
    @Test func shortRests() {
        for (idle, expected) in [
            (Duration.milliseconds(1_999), 1_999), (.seconds(2), 2_000), (.seconds(3), 2_000),
        ] {
            var options = HTTPServerOptions()
            options.idleTimeout = idle
            var phase = Self.phase(.serving)
            let end = phase.becomeIdle(at: Self.start, ConnectionTimes(options))
            #expect(end == Self.after(Int64(expected) * 1_000_000))
        }
    }

    @Test func timesComeFromTheOptions() {
        var options = HTTPServerOptions()
        options.headTimeout = .nanoseconds(1)
        options.idleTimeout = .nanoseconds(2)
        options.writeTimeout = .nanoseconds(3)
        options.keepAliveInterval = .nanoseconds(4)
        let times = ConnectionTimes(options)
        var phase = ConnectionPhase()
        #expect(phase.open(at: Self.start, times) == Self.after(2))
        #expect(phase.headIsIncomplete(at: Self.start, times) == .wait(until: Self.after(1)))
        #expect(phase.serve(at: Self.start, times) == Self.after(4))
        #expect(phase.tookPart(at: Self.start, times) == .wait(until: Self.after(3)))
        options.idleTimeout = .seconds(Int64.max)
        #expect(phase.open(at: Self.start, ConnectionTimes(options)) == .never)
    }

    /// 32 KiB taken is what gives a client the time for writing once more.
    @Test func takingAtTheBoundary() {
        let later = Self.after(29 * Self.second)
        for (taken, expected) in [
            (HTTPConnection.leastTaken - 1, Action.vanish),
            (HTTPConnection.leastTaken, .wait(until: Self.after(59 * Self.second))),
        ] {
            var phase = Self.phase(.serving)
            _ = phase.tookPart(at: Self.start, Self.times)
            phase.took(taken - 1, at: later)
            #expect(phase.tookPart(at: later, Self.times) == .none)
            phase.took(1, at: later)
            #expect(phase.timeOut(at: Self.after(30 * Self.second), Self.times) == expected)
        }
    }

    @Test func takingCountsFromTheStall() {
        var phase = Self.phase(.serving)
        phase.took(HTTPConnection.leastTaken, at: Self.start)
        #expect(!phase.isStalled)
        _ = phase.tookPart(at: Self.start, Self.times)
        phase.took(HTTPConnection.leastTaken - 1, at: Self.start)
        phase.tookAll()
        #expect(!phase.isStalled)
        let next = Self.after(15 * Self.second)
        #expect(phase.timeOut(at: Self.start, Self.times) == .sendKeepAlive(until: next))
        // What was taken of the answer before does not count for this one.
        _ = phase.tookPart(at: Self.start, Self.times)
        phase.took(1, at: Self.after(1))
        #expect(phase.timeOut(at: Self.after(30 * Self.second), Self.times) == .vanish)
    }

    @Test func drainingAtTheBoundary() {
        var phase = Self.phase(.draining)
        #expect(phase.received(HTTPConnection.drainBytes - 2) == .drop)
        #expect(phase.received(1) == .drop)
        #expect(phase.received(1) == .close)
    }

    // MARK: The end of the input, in two steps

    /// A poller that reports the end is not asked for it again: it would report it in every turn. The rest of
    /// the input is read later.
    @Test(arguments: State.allCases.filter { $0 != .closed })
    func reportedEnds(_ state: State) {
        var phase = Self.phase(state)
        let full = HTTPConnection.readBytes
        #expect(Self.interest(phase, input: full, hasRoom: false) == .watch(.readClosed))
        #expect(phase.ready(.readClosed, responseEnds: false) == .none)
        #expect(phase.isReadClosed)
        #expect(Self.interest(phase, input: full, hasRoom: false) == .watch([]))
        #expect(!phase.peerClosed)
        #expect(phase.responseEndsWithInput() == (state == .serving ? .vanish : .none))
        _ = phase.becomeIdle(at: Self.start, Self.times)
        #expect(Self.interest(phase, input: full) == .watch(.readable))
    }

    @Test func stoppingIsKept() {
        var phase = Self.phase(.serving)
        #expect(phase.keepAlive)
        #expect(!phase.isStopping)
        _ = phase.stop(outputIsEmpty: true, inputIsEmpty: true)
        #expect(phase.isStopping)
        _ = phase.becomeIdle(at: Self.start, Self.times)
        #expect(phase.flushed(outputIsEmpty: true, inputIsEmpty: true) == .close)
    }

    @Test func drainingEndsKeepAlive() { #expect(!Self.phase(.draining).keepAlive) }
}

@testable import MCPCore

/// What a transport of an exchange hears, compared with what the model says at once.
// SAFETY: a world and everything in it is used by one thread only.
final class SimulatedSink: ResponseSink, @unchecked Sendable {
    private let call: SimulatedCall
    private unowned let world: SimulatedWorld
    private(set) var notifications = 0
    private(set) var endings = 0
    private var lastProgress = -Double.infinity

    init(_ call: SimulatedCall, _ world: SimulatedWorld) {
        self.call = call
        self.world = world
    }

    var executor: (any TaskExecutor)? { world.executor }

    // PROG-02, PROG-03, JRPC-30
    func notify(_ message: ByteSlice) {
        notifications += 1
        world.require(endings == 0, call, "a notification after the end")
        world.require(call.isOpen, call, "a notification for a request that is over")
        world.require(call.hasToken, call, "progress that nobody asked for")
        let progress = (try? RawJSON(validating: message))?["params"]?["progress"]?.double ?? -.infinity
        world.require(progress > lastProgress, call, "progress \(progress) after \(lastProgress)")
        lastProgress = progress
    }

    // JRPC-30, CANC-03
    func finish(_ answer: Answer?) {
        endings += 1
        world.require(endings == 1, call, "ended \(endings) times")
        guard let ending = call.ending else { return world.require(false, call, "ended by nobody") }
        guard let answer else {
            return world.require(ending == .cancelled, call, "no answer, though it was \(ending)")
        }
        let json = try? RawJSON(validating: answer.bytes)
        world.require(json?["id"]?.bytes == ByteSlice(call.id), call, "answered with another id")
        let text = json?["result"]?["content"]?[0]?["text"]?.string ?? json?["error"]?["message"]?.string
        let isRight =
            switch ending {
            case .cancelled: false
            case .returned: text == "done \(call.number)"
            case .toolError: text == "failed \(call.number)" && json?["result"]?["isError"]?.bool == true
            case .protocolError: json?["error"]?["code"]?.int == MCPError.internalErrorCode
            case .deadline: json?["error"]?["code"]?.int == MCPError.deadlineExceededCode
            case .stopped:
                json?["error"]?["code"]?.int == MCPError.interruptedCode
                    && text?.hasPrefix(SimulatedWorld.stopText) == true
            }
        world.require(isRight, call, "\(ending), but answered: \(answer.bytes.prefix(200))")
    }
}

/// A mistake that the simulation has to find.
enum Fault: CaseIterable, Sendable {
    case answersTwice, answersAfterCancel, losesAnswer, reportsAfterAnswer, repeatsProgress, mixesUpAnswers
}

/// A sink that makes one mistake.
// SAFETY: a world and everything in it is used by one thread only.
final class FaultySink: ResponseSink, @unchecked Sendable {
    private let fault: Fault
    private let sink: SimulatedSink
    private let other: SimulatedSink?
    private var last: ByteSlice?

    init(_ fault: Fault, _ sink: SimulatedSink, other: SimulatedSink?) {
        self.fault = fault
        self.sink = sink
        self.other = other
    }

    var executor: (any TaskExecutor)? { sink.executor }

    func notify(_ message: ByteSlice) {
        last = message
        sink.notify(message)
        if fault == .repeatsProgress { sink.notify(message) }
    }

    func finish(_ answer: Answer?) {
        switch fault {
        case .losesAnswer where answer != nil: return
        case .mixesUpAnswers: (other ?? sink).finish(answer)
        case .answersAfterCancel: sink.finish(answer ?? Answer(bytes: ByteSlice("{}"), status: 200))
        default: sink.finish(answer)
        }
        if fault == .answersTwice { sink.finish(answer) }
        if fault == .reportsAfterAnswer, let last { sink.notify(last) }
    }
}

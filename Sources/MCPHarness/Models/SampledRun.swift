import MCPCore
import Synchronization

/// Code that runs alongside the calls it belongs to, and requests a model's answers through them.
final class SampledRun: Sendable {
    struct Question: Sendable {
        let number: Int
        let request: CreateMessageRequest
    }

    /// The next step of the code, as seen by its caller.
    enum Step: Sendable {
        case asks(Question)
        case ended(Result<any Sendable, any Error>)
    }

    private struct State {
        var count = 0
        var question: (Question, CheckedContinuation<CreateMessageResult, any Error>)?
        var result: Result<any Sendable, any Error>?
        var waiter: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())
    /// An unguessable identifier.
    let id = Base64URL.encode(SystemRandom().bytes(16))

    func start(_ body: @escaping @Sendable () async throws -> any Sendable) {
        let task = Task {
            let result: Result<any Sendable, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            end(result)
        }
        let isLate = state.withLock { state -> Bool in
            state.task = task
            return state.isCancelled
        }
        if isLate { task.cancel() }
    }

    private func end(_ result: Result<any Sendable, any Error>) {
        let waiter = state.withLock { state in
            state.result = result
            return state.waiter.take()
        }
        waiter?.resume()
    }

    // MARK: The code's side

    /// Waits for an answer from the model. Only one question can be open at a time.
    func ask(_ request: CreateMessageRequest) async throws -> CreateMessageResult {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (waiter, isRefused) = state.withLock {
                    state -> (CheckedContinuation<Void, Never>?, Bool) in
                    guard !state.isCancelled, state.question == nil, !Task.isCancelled else {
                        return (nil, true)
                    }
                    state.count += 1
                    state.question = (Question(number: state.count, request: request), continuation)
                    return (state.waiter.take(), false)
                }
                if isRefused { continuation.resume(throwing: CancellationError()) }
                waiter?.resume()
            }
        } onCancel: {
            giveUp()
        }
    }

    private func giveUp() {
        state.withLock { $0.question.take() }?.1.resume(throwing: CancellationError())
    }

    // MARK: The caller's side

    /// Returns the open question, or the code's result, as soon as one of them is available.
    func next() async -> Step {
        while true {
            let step = state.withLock { state -> Step? in
                if let result = state.result { return .ended(result) }
                return state.question.map { .asks($0.0) }
            }
            if let step { return step }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state -> Bool in
                    if state.result != nil || state.question != nil { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    func answer(_ question: Question, _ answer: Result<CreateMessageResult, any Error>) {
        let waiting = state.withLock { state -> CheckedContinuation<CreateMessageResult, any Error>? in
            guard state.question?.0.number == question.number else { return nil }
            return state.question.take()?.1
        }
        waiting?.resume(with: answer)
    }

    /// Ends the code by cancelling its task.
    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
        giveUp()
    }
}

import Dispatch
import Synchronization

/// A series of `subscriptions/listen` calls, one after the other, for as long as the changes are wanted.
final class SubscriptionStream: Sendable {
    private let counted = Counted(.listenStream)
    private let connection: ClientConnection
    private let filter: SubscriptionFilter
    /// The reader's end; once it has been released, there is no reader any more.
    private let subscription: WeakSubscription

    private let current = Mutex<Task<ClientCall.Reply, Never>?>(nil)
    private let life = Mutex(Life())

    /// What the current call has brought.
    private struct Life {
        var acknowledgedAt: MonotonicInstant?
        var hasChanges = false
    }

    /// The outcome of an attempt to subscribe.
    private enum Opening {
        case acknowledged
        /// The call ended before it was acknowledged.
        case ended(ClientCall.Reply)
        /// The server took too long to acknowledge.
        case late
        case cancelled
    }

    /// The first and the longest pause before a new attempt.
    private static let pauses = (first: Duration.milliseconds(250), longest: Duration.seconds(30))

    init(connection: ClientConnection, filter: SubscriptionFilter, subscription: Subscription) {
        self.connection = connection
        self.filter = filter
        self.subscription = WeakSubscription(subscription)
    }

    /// Subscribes, and returns when the server has acknowledged which changes it reports.
    ///
    /// - Throws: the error with which the server refuses; `ClientError` when it is silent for the client's
    ///   timeout.
    func open() async throws {
        let opening = OneShot<Opening>()
        life.withLock { $0 = Life() }
        let task = Task { await exchange(opening) }
        current.withLock { $0 = task }
        let timer = connection.options.timeout.map { limit in
            Task {
                if (try? await Task.pause(for: limit)) != nil { opening.finish(.late) }
            }
        }
        let outcome = await opening.value(ifCancelled: .cancelled)
        timer?.cancel()
        if Task.isCancelled {
            task.cancel()
            throw ClientError(.cancelled, "the subscription was cancelled")
        }
        switch outcome {
        // The call is still open, unless the server has refused it.
        case .acknowledged, .ended(.result), .cancelled: return
        case .ended(.refused(let error, _)): throw error
        case .ended(.failed(let error)): throw error
        case .late:
            task.cancel()
            throw ClientError(.timeout, "the server did not acknowledge the subscription in time")
        }
    }

    private func exchange(_ opening: OneShot<Opening>) async -> ClientCall.Reply {
        let reply = await connection.listen(filter) { [weak self] method, params in
            self?.take(method, params, opening)
        }
        opening.finish(.ended(reply))
        return reply
    }

    private func take(_ method: String, _ params: RawJSON?, _ opening: OneShot<Opening>) {
        guard let subscription = subscription.value else { return }
        if method == "notifications/subscriptions/acknowledged" {
            if let json = params?["notifications"]?.value, let filter = try? SubscriptionFilter(json: json) {
                subscription.accept(filter)
            }
            life.withLock { $0.acknowledgedAt = $0.acknowledgedAt ?? connection.clock.now }
            opening.finish(.acknowledged)
            return
        }
        // A server may send more than it was asked for.
        guard let change = ServerChange(method, params), filter.wants(change) else { return }
        life.withLock { $0.hasChanges = true }
        subscription.publish(change)
    }

    /// Whether the call that has ended was of use, as it was not at a server that ends each at once.
    private var wasOfUse: Bool {
        let now = connection.clock.now
        return life.withLock { life in
            life.hasChanges || life.acknowledgedAt.map { now - $0 >= Self.pauses.longest } ?? false
        }
    }

    /// Waits for the end of the call, and subscribes again unless the server ended it gracefully (SUB-09,
    /// SUB-10).
    func run() async {
        var pause = Self.pauses.first
        var (absences, failures) = (0, 0)
        while let task = current.withLock({ $0 }) {
            let reply = await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                task.cancel()
            }
            if Task.isCancelled || subscription.value == nil { break }
            if case .result = reply { break }
            if let end = connection.endOfConnection {
                subscription.value?.end(.failure(end))
                return
            }
            if let error = Self.end(of: reply, &absences) {
                subscription.value?.end(.failure(error))
                return
            }
            if wasOfUse { pause = Self.pauses.first }
            // A proxy answers 404 for as long as its server needs to start.
            if absences > 0 { pause = max(pause, .seconds(1)) }
            // Random, so that the clients of a restarted server do not all reconnect at the same moment.
            guard await wait(pause * Double.random(in: 0.5 ... 1)) else { break }
            pause = min(pause * 2, Self.pauses.longest)
            do {
                try await open()
                failures = 0
                connection.changed(.resubscribed)
                subscription.value?.publish(.resubscribed)
            } catch {
                failures += 1
                if failures == ClientOptions.outageAttempts { connection.options.onOutage?(error) }
            }
        }
        subscription.value?.end(.success(()))
    }

    /// Returns the error that ends the subscription; nil if the server may return.
    private static func end(of reply: ClientCall.Reply, _ absences: inout Int) -> ClientError? {
        switch reply {
        case .refused(let error, _) where !SubscriptionRefusal.mayPass(error):
            ClientError(.protocolViolation, "the server ended the subscription: \(error)")
        // The server did not acknowledge the subscription in time.
        case .failed(let error) where error.kind == .cancelled: nil
        case .failed(let error): ClientConnection.end(of: error, &absences)
        case .refused, .result: nil
        }
    }

    /// Waits by the clock of the connection. Returns false if the task was cancelled.
    private func wait(_ pause: Duration) async -> Bool {
        let end = OneShot<Bool>()
        connection.clock.schedule(at: connection.clock.now + pause, on: .global()) { end.finish(true) }
        return await end.value(ifCancelled: false)
    }
}

private final class WeakSubscription: Sendable {
    private let box: Mutex<Weak>
    private struct Weak { weak var value: Subscription? }

    init(_ subscription: Subscription) { box = Mutex(Weak(value: subscription)) }

    var value: Subscription? { box.withLock { $0.value } }
}

extension ServerChange {
    /// Creates a change from a notification; nil when the notification does not report one.
    init?(_ method: String, _ params: RawJSON?) {
        switch method {
        case "notifications/tools/list_changed": self = .toolsListChanged
        case "notifications/prompts/list_changed": self = .promptsListChanged
        case "notifications/resources/list_changed": self = .resourcesListChanged
        case "notifications/resources/updated":
            guard let uri = params?["uri"]?.string else { return nil }
            self = .resourceUpdated(uri)
        case "notifications/tasks":
            guard let json = params?.value, let task = try? TaskInfo(json: json) else { return nil }
            self = .task(task)
        default: return nil
        }
    }
}

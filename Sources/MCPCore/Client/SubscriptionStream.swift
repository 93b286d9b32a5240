import Synchronization

/// A series of `subscriptions/listen` calls, one after the other, for as long as the changes are wanted.
final class SubscriptionStream: Sendable {
    private let counted = Counted(.listenStream)
    private let connection: ClientConnection
    private let filter: SubscriptionFilter
    /// The reader's end; once it has been released, there is no reader any more.
    private let subscription: WeakSubscription

    private let current = Mutex<Task<ClientCall.Reply, Never>?>(nil)

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
            opening.finish(.acknowledged)
            return
        }
        // A server may send more than it was asked for.
        if let change = ServerChange(method, params), filter.wants(change) { subscription.publish(change) }
    }

    /// Waits for the end of the call, and subscribes again unless the server ended it gracefully (SUB-09,
    /// SUB-10).
    func run() async {
        var pause = Self.pauses.first
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
            if case .refused(let error, _) = reply, !SubscriptionRefusal.mayPass(error) {
                subscription.value?.end(
                    .failure(ClientError(.protocolViolation, "the server ended the subscription: \(error)")))
                return
            }
            // Random, so that the clients of a restarted server do not all reconnect at the same moment.
            let jitter = Double.random(in: 0.5 ... 1)
            guard (try? await Task.pause(for: pause * jitter)) != nil else { break }
            pause = min(pause * 2, Self.pauses.longest)
            do {
                try await open()
                pause = Self.pauses.first
                connection.changed(.resubscribed)
                subscription.value?.publish(.resubscribed)
            } catch {
                continue
            }
        }
        subscription.value?.end(.success(()))
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

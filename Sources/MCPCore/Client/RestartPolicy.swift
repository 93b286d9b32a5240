/// Whether a program that ended by itself is started again, and when that is given up.
///
/// The calls that were on their way fail with `.connectionClosed`: the server may have carried them out, so
/// that repeating them is up to the caller. Calls made meanwhile wait, for `connectTimeout` at most
/// (basic/transports/stdio "Unexpected Termination").
public struct RestartPolicy: Sendable, Hashable {
    /// Starts in a row before it is given up; 0: the end of the program is the end of the connection.
    public let maxAttempts: Int
    /// The wait before the first start; each further one is twice as long.
    public let initial: Duration
    /// The longest wait. A program that has run for this long counts as started well, and the attempts count
    /// anew.
    public let maximum: Duration

    /// The end of the program is the end of the connection.
    public static let never = RestartPolicy(maxAttempts: 0, initial: .zero, maximum: .zero)

    /// Starts the program again after a wait that grows.
    ///
    /// - Parameters:
    ///   - maxAttempts: starts in a row before it is given up: 5.
    ///   - initial: the first wait: 0.5 s.
    ///   - maximum: the longest wait, and how long a program has to run for the attempts to count anew: 30 s.
    public static func backoff(
        maxAttempts: Int = 5, initial: Duration = .milliseconds(500), maximum: Duration = .seconds(30)
    ) -> RestartPolicy {
        RestartPolicy(
            maxAttempts: max(0, maxAttempts), initial: max(initial, .milliseconds(1)),
            maximum: max(initial, maximum))
    }
}

/// The policy for restarting a program that ended on its own, and for giving up.
///
/// Pending calls fail with `.connectionClosed`: the server may have executed them, so repeating them is up to
/// the caller. Calls made in the meantime wait, for at most `connectTimeout` (basic/transports/stdio
/// "Unexpected Termination").
public struct RestartPolicy: Sendable, Hashable {
    /// The number of consecutive restart attempts before giving up; with 0, the end of the program is the end
    /// of the connection.
    public let maxAttempts: Int
    /// The wait before the first restart; each further wait is twice as long.
    public let initial: Duration
    /// The longest wait. A program that has run for this long counts as successfully started, which resets
    /// the number of attempts.
    public let maximum: Duration

    /// No restart: the end of the program is the end of the connection.
    public static let never = RestartPolicy(maxAttempts: 0, initial: .zero, maximum: .zero)

    /// Returns a policy that restarts the program after a growing wait.
    ///
    /// - Parameters:
    ///   - maxAttempts: the number of consecutive restart attempts before giving up; 5 by default.
    ///   - initial: the first wait; 0.5 s by default.
    ///   - maximum: the longest wait, and the running time after which the number of attempts is reset; 30 s
    ///     by default.
    public static func backoff(
        maxAttempts: Int = 5, initial: Duration = .milliseconds(500), maximum: Duration = .seconds(30)
    ) -> RestartPolicy {
        RestartPolicy(
            maxAttempts: max(0, maxAttempts), initial: max(initial, .milliseconds(1)),
            maximum: max(initial, maximum))
    }
}

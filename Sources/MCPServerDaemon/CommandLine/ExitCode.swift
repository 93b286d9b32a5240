/// How the program ends.
enum ExitCode: Int32, Sendable {
    /// Ended or drained.
    case success = 0
    /// Failed while running.
    case failure = 1
    /// Wrong usage or configuration.
    case usage = 2
    /// An address cannot be listened on.
    case cannotListen = 3
    /// `check` found errors.
    case checkFailed = 8
}

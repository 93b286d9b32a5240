/// The limits for servers behind a server; each limit has one documented outcome.
enum UpstreamLimits {
    /// Tools of one server: 1,000. Further ones are not listed.
    static let tools = 1_000
    /// Prompts of one server: 1,000. Further ones are not listed.
    static let prompts = 1_000
    /// Resources of one server: 10,000. Further ones are not listed, but can be read.
    static let resources = 10_000
    /// Resource templates of one server: 1,000. Further ones are not listed.
    static let templates = 1_000
    /// Pages of one list: 200. Further ones are not requested.
    static let pages = 200
    /// One list of a server: 16 MiB. What follows is not listed.
    static let listBytes = 16 << 20
    /// One definition: 64 KiB. A larger one is not listed.
    static let definitionBytes = 64 << 10
    /// A description: 16 KiB. A longer one is truncated.
    static let textBytes = 16 << 10
    /// A name that callers see: 64 characters, which is the most that some hosts accept. A longer one is
    /// shortened.
    static let nameBytes = 64
    /// Calls that wait for their turn at one server: 256. A further one is refused (503).
    static let waiting = 256
    /// Calls of one caller among them, at a connection that callers share: 192. A further one is refused
    /// (503).
    static let waitingOfOne = 192
    /// Connections of one server, one for each principal: 64. A further principal is refused (503) unless a
    /// connection is idle.
    static let connections = 64
    /// Resources of one server whose changes are reported: 256. A further one is refused.
    static let watched = 256
    /// Those that count for one principal, who is the first who watches them: 64. A further one is refused.
    static let watchedByOne = 64
    /// The time that a list waits for servers that connect for the first time: 10 s. What they offer is then
    /// reported as a change.
    static let firstList = Arrivals.longestList
    /// The time that the first reading of the lists waits for the subscription to changes of them.
    static let earlyTime = Duration.milliseconds(100)
    /// The time between two readings of the lists: 1 s, and up to a minute for a server that changes them
    /// all the time.
    static let refreshPause = (first: Duration.seconds(1), longest: Duration.seconds(60))
    /// A call that reports progress: 1 hour. It is then cancelled.
    static let longestCall = Duration.seconds(3_600)
    /// The part of a server's failure that callers see: 1,000 bytes, with the last 3 lines of stderr.
    static let failureBytes = 1_000
    static let failureLines = 3
    /// A wait before a restart that callers share: 1 s. During a longer one, calls fail at once.
    static let sharedPause = Duration.seconds(1)
    /// Calls in a row that a server does not answer within their time: 3. It is then given up and started or
    /// connected again.
    static let silentCalls = 3
    /// The time in which a server that did not answer a call must answer a ping: 10 s. It is then given up,
    /// unless another call waits for it.
    static let pingTime = Duration.seconds(10)
    /// The running time after which a server counts as started well.
    static let goodRun = Duration.seconds(10)
}

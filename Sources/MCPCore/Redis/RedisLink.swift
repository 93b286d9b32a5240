import Dispatch
import Synchronization

/// The connection of a `RedisStore`, which is made again whenever it is lost. Confined to its loop.
final class RedisLink: EventHandler {
    private let counted = Counted(.redisLink)

    typealias Reply = @Sendable (Result<RESPReply, RedisStore.Failure>) -> Void

    /// What other threads may read.
    final class Shared: Sendable {
        let status = Mutex(RedisStore.Status())
    }

    private enum Phase {
        /// Until the timer begins the next attempt.
        case resting
        case connecting
        /// TLS agrees on its keys.
        case handshake
        /// The store has to answer our first commands.
        case greeting
        case ready
        case stopped
    }

    private struct Pending {
        let reply: Reply
        let deadline: MonotonicInstant
    }

    /// The pauses between attempts.
    static let firstPause = Duration.milliseconds(100)
    static let longestPause = Duration.seconds(5)
    private static let readBytes = 4 << 10

    private let address: RedisAddress
    private let password: Redacted<String>?
    private let provider: any TLSProvider
    private let loop: EventLoop
    private let shared: Shared
    /// Receives whether the store is back or cannot be used, in words as well.
    private let onChange: (@Sendable (_ isBack: Bool, _ line: String) -> Void)?

    private var phase = Phase.resting
    private var pause = RedisLink.firstPause
    /// Whether the first attempt has not ended: commands wait for it.
    private var isFirstAttempt = true
    /// The reasons why the store cannot be used that the log has; none if it can be.
    private var reportedReasons: Set<String> = []
    private static let maxReportedReasons = 8
    private var candidates: [SocketAddress] = []
    private var descriptor: FileDescriptor?
    private var registration: Registration?
    private var isWatchingWrites = false
    private var timer: LoopTimer?
    /// Nil without TLS.
    private var tls: TLSStream?
    private var outbox = ByteBuffer()
    private var inbox = ByteBuffer()
    /// In the order in which their replies come.
    private var pending = PendingQueue()
    /// The commands that were given before the first attempt had ended.
    private var early: [(command: RESPCommand, pending: Pending)] = []

    /// A queue that takes from its front without moving the rest each time.
    private struct PendingQueue {
        private var items: [Pending?] = []
        private var start = 0

        var count: Int { items.count - start }
        var first: Pending? { start < items.count ? items[start] : nil }

        mutating func append(_ item: Pending) { items.append(item) }

        mutating func popFirst() -> Pending? {
            guard start < items.count else { return nil }
            let item = items[start].take()
            start += 1
            if start == items.count {
                (items, start) = ([], 0)
            } else if start > 1024, start * 2 > items.count {
                items.removeFirst(start)
                start = 0
            }
            return item
        }
    }

    init(
        _ address: RedisAddress, password: Redacted<String>?, tls: any TLSProvider, loop: EventLoop,
        shared: Shared, onChange: (@Sendable (_ isBack: Bool, _ line: String) -> Void)?
    ) {
        self.address = address
        provider = tls
        self.password = password
        self.loop = loop
        self.shared = shared
        self.onChange = onChange
    }

    // MARK: Commands

    /// Sends a command; `reply` is called once, on the loop.
    func send(_ command: RESPCommand, _ reply: @escaping Reply) {
        let item = Pending(
            reply: { [shared, name = command.name] result in
                var failure: RedisStore.Failure?
                if case .failure(let error) = result { failure = error }
                shared.status.withLock { $0.record(failure, of: name) }
                reply(result)
            }, deadline: loop.clock.now + RedisStore.commandTimeout)
        guard pending.count + early.count < RedisStore.maxPending else {
            return item.reply(.failure(.init("\(RedisStore.maxPending) commands wait for their replies")))
        }
        switch phase {
        case .ready: write(command, item)
        // Later attempts may be to a store that accepts connections and never answers.
        case .connecting where isFirstAttempt, .handshake where isFirstAttempt,
            .greeting where isFirstAttempt:
            early.append((command, item))
        default: item.reply(.failure(.init("it cannot be reached")))
        }
    }

    private func write(_ command: RESPCommand, _ item: Pending) {
        outbox.append(command.bytes)
        pending.append(item)
        if pending.count == 1 { armTimer() }
        loop.scheduleFlush(self)
    }

    // MARK: Connecting

    func connect() {
        guard case .resting = phase else { return }
        phase = .connecting
        armTimer(at: loop.clock.now + RedisStore.commandTimeout)
        switch address.place {
        case .unix(let address, _): tryAddresses([address])
        case .tcp(let host, let port):
            let answer = LoopBound(self, loop: loop)
            DispatchQueue.global().async { [loop] in
                let found = Result { () throws(SocketAddress.ResolveError) in
                    try SocketAddress.resolve(host: host, port: port)
                }
                loop.execute { answer.value.resolved(found) }
            }
        }
    }

    private func resolved(_ found: Result<[SocketAddress], SocketAddress.ResolveError>) {
        guard case .connecting = phase, descriptor == nil else { return }
        switch found {
        case .success(let addresses): tryAddresses(addresses)
        case .failure(let error): lost("\(error)")
        }
    }

    private func tryAddresses(_ addresses: [SocketAddress]) {
        candidates = addresses.reversed()
        tryNext("it has no address")
    }

    private func tryNext(_ reason: String) {
        guard let address = candidates.popLast() else { return lost(reason) }
        release()
        do throws(IOError) {
            let socket = try Syscalls.streamSocket(address.domain)
            let fd = socket.rawValue
            descriptor = consume socket
            let isOpen = try Syscalls.connect(fd, to: address)
            registration = try loop.register(fd, isOpen ? .readable : .writable, self)
            isWatchingWrites = !isOpen
            if isOpen { connected() }
        } catch {
            tryNext(error.reason)
        }
    }

    private func connectionProgressed(_ fd: Int32) {
        let problem: IOError?
        do throws(IOError) { problem = try Syscalls.connectionError(fd) } catch { problem = error }
        if let problem { tryNext(problem.reason) } else { connected() }
    }

    private func connected() {
        guard address.isEncrypted, case .tcp(let host, _) = address.place else { return greet() }
        phase = .handshake
        do throws(TLSError) { tls = TLSStream(try provider.filter(for: host)) } catch {
            return lost(error.message)
        }
        shakeHands()
    }

    private func shakeHands() {
        guard let tls, let fd = descriptor?.rawValue else { return }
        do throws(TLSError) {
            let isDone = try tls.handshake(fd)
            watch(tls.hasOutput)
            guard isDone else { return }
        } catch {
            return lost(error.message)
        }
        greet()
        flush()
        // More than the handshake may have arrived; the socket does not report it again.
        if let fd = descriptor?.rawValue { read(fd) }
    }

    /// Sends the commands that a connection begins with; the answer to the last of them makes it ready.
    private func greet() {
        phase = .greeting
        if let fd = descriptor?.rawValue, case .tcp = address.place { try? Syscalls.setNoDelay(fd) }
        if let password {
            let words = ["AUTH"] + (address.user.map { [$0] } ?? []) + [password.value]
            greet(RESPCommand(words.map { Array($0.utf8) }), "it refuses the password")
        }
        if address.database != 0 {
            greet(RESPCommand("SELECT", "\(address.database)"), "it has no database \(address.database)")
        }
        greet(RESPCommand("PING"), "it refuses commands") { $0.becameReady() }
    }

    private func greet(
        _ command: RESPCommand, _ problem: String, _ done: ((RedisLink) -> Void)? = nil
    ) {
        let link = LoopBound((self, done), loop: loop)
        let reply: Reply = { result in
            let (link, done) = link.value
            guard case .greeting = link.phase else { return }
            switch result {
            // Its text may repeat what was sent.
            case .success(.error(let text)): link.lost("\(problem) (\(Self.code(of: text)))")
            case .success: done?(link)
            case .failure: break
            }
        }
        write(command, Pending(reply: reply, deadline: loop.clock.now + RedisStore.commandTimeout))
    }

    /// Returns the word that an error begins with, such as `WRONGPASS`.
    private static func code(of text: String) -> String {
        String(text.prefix { $0.isASCII && ($0.isUppercase || $0.isNumber) }.prefix(32))
    }

    private func becameReady() {
        phase = .ready
        isFirstAttempt = false
        shared.status.withLock { $0.connected() }
        let waiting = early
        early = []
        for (command, item) in waiting { write(command, item) }
        armTimer()
    }

    // MARK: Sending and receiving

    override func ready(_ events: Readiness) {
        guard let fd = descriptor?.rawValue else { return }
        switch phase {
        case .connecting: connectionProgressed(fd)
        case .handshake: shakeHands()
        case .greeting, .ready: read(fd)
        case .resting, .stopped: return
        }
        flush()
    }

    override func flush() {
        guard let fd = descriptor?.rawValue else { return }
        switch phase {
        case .greeting, .ready: break
        case .connecting, .handshake, .resting, .stopped: return
        }
        if let tls { return flush(through: tls, fd) }
        do throws(IOError) {
            while outbox.count > 0 {
                let sent = unsafe try outbox.withBytes { (bytes) throws(IOError) in
                    unsafe try Syscalls.send(fd, UnsafeRawBufferPointer(bytes))
                }
                guard let sent else { break }
                outbox.consume(sent)
            }
        } catch {
            return lost(error.reason)
        }
        watch(outbox.count > 0)
    }

    private func flush(through tls: TLSStream, _ fd: Int32) {
        do throws(TLSError) {
            while outbox.count > 0 {
                let bytes = unsafe outbox.withBytes { unsafe ByteSlice(Array($0)) }
                guard let taken = try tls.send(bytes, fd) else { break }
                outbox.consume(taken)
            }
            if outbox.isEmpty { try tls.flush(fd) }
        } catch {
            return lost(error.message)
        }
        watch(tls.hasOutput)
    }

    /// Waits until the socket accepts more, or only until something arrives.
    private func watch(_ mustWait: Bool) {
        guard let registration, mustWait != isWatchingWrites else { return }
        do throws(IOError) {
            try loop.modify(registration, mustWait ? [.readable, .writable] : .readable)
            isWatchingWrites = mustWait
        } catch {
            lost(error.reason)
        }
    }

    private func read(through tls: TLSStream, _ fd: Int32) {
        do throws(TLSError) {
            while descriptor?.rawValue == fd {
                inbox.reserve(Self.readBytes)
                var isDry = false
                let count = unsafe try inbox.fill { (room) throws(TLSError) in
                    let read = unsafe try tls.receive(into: room)
                    isDry = read == nil
                    return read ?? 0
                }
                if !isDry {
                    if count == 0 { return lost("it closed the connection") }
                    takeReplies()
                    continue
                }
                switch try tls.pull(fd) {
                case .some: continue
                case .dry: return
                case .ended: return lost("it closed the connection")
                }
            }
        } catch {
            lost(error.message)
        }
    }

    private func read(_ fd: Int32) {
        if let tls { return read(through: tls, fd) }
        while descriptor?.rawValue == fd {
            inbox.reserve(Self.readBytes)
            var isDry = false
            do throws(IOError) {
                let count = unsafe try inbox.fill { (room) throws(IOError) in
                    let read = unsafe try Syscalls.receive(fd, into: UnsafeMutableRawBufferPointer(room))
                    isDry = read == nil
                    return read ?? 0
                }
                if isDry { return }
                if count == 0 { return lost("it closed the connection") }
            } catch {
                return lost(error.reason)
            }
            takeReplies()
        }
    }

    private func takeReplies() {
        var hasAnswered = false
        while inbox.count > 0, descriptor != nil {
            switch unsafe inbox.withBytes({ unsafe RESPReply.parse($0) }) {
            case .needMore: return
            case .failed(let text): return lost("what it sends cannot be read: \(text)")
            case .reply(let reply, let count):
                inbox.consume(count)
                guard let item = pending.popFirst() else {
                    return lost("what it sends cannot be read: nobody asked for it")
                }
                if case .ready = phase { hasAnswered = true }
                if case .error(let text) = reply, case .ready = phase {
                    item.reply(.failure(.init("it refused the command (\(Self.code(of: text)))")))
                } else {
                    item.reply(.success(reply))
                }
            }
        }
        if hasAnswered, descriptor != nil { provedUseful() }
        armTimer()
    }

    /// Resets the pause and logs that the store is back. A connection alone does not prove that.
    private func provedUseful() {
        pause = Self.firstPause
        if !reportedReasons.isEmpty {
            onChange?(true, "the state store at \(address.description) answers again")
        }
        reportedReasons = []
    }

    // MARK: Time

    /// Sets the timer for what happens next: the end of the oldest command's time.
    private func armTimer() {
        guard case .ready = phase else { return }
        if let next = pending.first { armTimer(at: next.deadline) }
    }

    private func armTimer(at moment: MonotonicInstant) {
        let timer = self.timer ?? loop.makeTimer { [weak self] in self?.timeIsOver() }
        self.timer = timer
        timer.arm(at: moment)
    }

    private func timeIsOver() {
        switch phase {
        case .resting: connect()
        case .connecting: lost("no connection within \(RedisStore.commandTimeout)")
        case .handshake, .greeting: lost("no answer within \(RedisStore.commandTimeout)")
        case .ready:
            guard let first = pending.first else { return }
            // Replies come in order: those of later commands cannot come earlier.
            if first.deadline <= loop.clock.now {
                lost("no answer within \(RedisStore.commandTimeout)")
            } else {
                armTimer()
            }
        case .stopped: break
        }
    }

    // MARK: Ending

    /// Fails all commands, and tries again later.
    private func lost(_ reason: String) {
        if case .stopped = phase { return }
        shared.status.withLock { status in
            status.isConnected = false
            status.lastError = reason
        }
        close(.resting, reason)
        // So that the instances do not all return at the same moment.
        let jitter = Int64(SystemRandom().bytes(1)[0]) * pause.wholeNanoseconds / 1024
        let moment = (loop.clock.now + pause).advanced(byNanoseconds: jitter)
        pause = min(pause * 2, Self.longestPause)
        armTimer(at: moment)
        // Another reason is news: the password may be wrong of a store that was away.
        guard reportedReasons.count < Self.maxReportedReasons, reportedReasons.insert(reason).inserted
        else { return }
        onChange?(
            false,
            "the state store at \(address.description) cannot be used (\(reason)) and will be tried again")
    }

    private func close(_ next: Phase, _ reason: String) {
        phase = next
        isFirstAttempt = false
        release()
        candidates = []
        inbox = ByteBuffer()
        outbox = ByteBuffer()
        let waiting = early.map(\.pending)
        early = []
        while let item = pending.popFirst() { item.reply(.failure(.init(reason))) }
        for item in waiting { item.reply(.failure(.init(reason))) }
    }

    private func release() {
        if let registration { loop.deregister(registration) }
        registration = nil
        isWatchingWrites = false
        tls = nil
        descriptor = nil
    }

    override func loopStopped() {
        registration = nil
        timer?.cancel()
        timer = nil
        close(.stopped, "it is no longer used")
    }
}

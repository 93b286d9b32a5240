/// The standard error of a program, passed on line by line. Confined to the loop.
final class ProgramErrors {
    /// The number of reads in one turn of the loop, and after the end of the program.
    private static let readsPerTurn = 4
    private static let lastReads = 128

    private let onLine: @Sendable (String) -> Void
    private var pipe: ChildPipe?
    private var lines = StderrTail()

    init(onLine: @escaping @Sendable (String) -> Void) { self.onLine = onLine }

    func start(_ descriptor: consuming FileDescriptor?, _ loop: EventLoop) {
        pipe = ChildPipe(descriptor, loop)
        pipe?.onReady = { [weak self] in self?.read(Self.readsPerTurn) }
        // A program must not wait for somebody who does not read.
        do { try pipe?.watch(.readable) } catch { close() }
    }

    /// Passes on what the program has left behind.
    func end() {
        read(Self.lastReads)
        if let rest = lines.rest { onLine(rest) }
        close()
    }

    private func close() {
        pipe?.close()
        pipe = nil
    }

    private func read(_ reads: Int) {
        for _ in 0 ..< reads {
            guard let pipe, let bytes = pipe.readSome() else { return }
            guard !bytes.isEmpty else { return close() }
            for line in unsafe bytes.withBytes({ unsafe lines.take($0) }) { onLine(line) }
        }
    }
}

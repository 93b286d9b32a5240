/// The standard input, read to its end, with a notice to the person when nothing arrives.
enum StandardInput {
    private static let patience: Int32 = 1000

    static func readAll(notice: any Sink) throws(Failure) -> [UInt8] {
        // Before the notice, which is for a person in the foreground. The read reports a wait that fails.
        _ = TerminalMode.waitForForeground(0) { Task.isCancelled }
        if !SystemFile.waitUntilReadable(0, milliseconds: patience) {
            notice.write("reading arguments from stdin; use </dev/null or {} if there are none\n")
        }
        return try SystemFile.readAll(0, name: "stdin")
    }
}

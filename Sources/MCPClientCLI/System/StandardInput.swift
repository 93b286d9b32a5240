import Dispatch

/// Reading stdin to its end, with a word to the person when nothing comes.
enum StandardInput {
    private static let patience: Int32 = 1000

    /// One line of the terminal, without blocking the tasks of this process.
    static func readLine() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: Swift.readLine()) }
        }
    }

    static func readAll(notice: any Sink) throws(Failure) -> [UInt8] {
        if !SystemFile.waitUntilReadable(0, milliseconds: patience) {
            notice.write("reading arguments from stdin; </dev/null or {} says that there are none\n")
        }
        return try SystemFile.readAll(0, name: "stdin")
    }
}

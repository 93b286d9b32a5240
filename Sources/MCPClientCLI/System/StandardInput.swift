/// Reading stdin to its end, with a word to the person when nothing comes.
enum StandardInput {
    private static let patience: Int32 = 1000

    static func readAll(notice: any Sink) throws(Failure) -> [UInt8] {
        if !SystemFile.waitUntilReadable(0, milliseconds: patience) {
            notice.write("reading arguments from stdin; </dev/null or {} says that there are none\n")
        }
        return try SystemFile.readAll(0, name: "stdin")
    }
}

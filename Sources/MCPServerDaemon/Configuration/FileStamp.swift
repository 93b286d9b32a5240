import MCPCore

/// What tells whether a file has changed: its properties and its contents.
///
/// The time of the last change alone does not: two changes within the same tick of the clock, 4 ms or more,
/// have the same one.
struct FileStamp: Sendable, Equatable {
    /// Nil if there is no file, or none that can be found.
    private var info: FileInfo?
    /// Nil for a file that cannot be read.
    var contents: SHA256.Digest?

    /// The stamp of no file.
    init() {}

    /// The stamp of a file whose contents are not known yet.
    init(propertiesOf path: String) { info = try? Files.info(path, followsLinks: true) }

    /// The stamp of a file as it is now.
    init(_ path: String) {
        self.init(propertiesOf: path)
        contents = (try? ConfigFile.bytes(at: path, shownAs: path)).map { SHA256.hash($0) }
    }
}

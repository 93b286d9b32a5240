import MCPCore

/// The colours that the user chose in the page, kept for later runs: a page on another port is of another
/// origin, for which the browser keeps nothing.
struct ThemeFile: Sendable {
    private static let name = "host-theme"
    /// More than the longest choice; a longer file is none of ours.
    private static let maxBytes = 16

    private let place: PrivateDirectory
    private let lock: ChangeLock

    /// Creates a file in this directory.
    ///
    /// - Parameter variable: returns the variables that name the directory of locks; without one, nothing is
    ///   locked.
    init(directory: String, _ variable: (String) -> String? = { _ in nil }) {
        place = PrivateDirectory(path: directory)
        let path = place.path(of: Self.name)
        lock = ChangeLock(path, shownAs: inlineText(path), variable)
    }

    /// Creates a file in the directory for what this software remembers; nil if there is none.
    init?(_ environment: CommandEnvironment) {
        guard let path = PrivateDirectory.statePath(environment.variable) else { return nil }
        self.init(directory: path, environment.variable)
    }

    /// The choice; nil if there is none that can be read.
    var theme: HostSettings.Theme? {
        guard let bytes = try? place.read(Self.name, maxBytes: Self.maxBytes) else { return nil }
        return HostSettings.Theme(rawValue: String(decoding: bytes, as: UTF8.self))
    }

    /// Replaces the choice; if nothing can be stored, it applies to this run.
    func keep(_ theme: HostSettings.Theme) {
        try? lock.hold { () throws(Failure) in
            guard (try? place.create()) != nil else { return }
            try? place.replace(Self.name, Array(theme.rawValue.utf8))
        }
    }
}

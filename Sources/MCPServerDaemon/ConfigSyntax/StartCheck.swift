import MCPCore

/// The part of `mcp-server check` that looks at what a server needs on this machine when it starts.
///
/// It is not for a server that reads its configuration again: what only the start needs must not keep it from
/// using a new one.
struct StartCheck {
    let context: ConfigContext

    /// Reports why a server could not listen on a socket.
    func socket(_ address: ConfiguredAddress, _ title: String, at position: SourcePosition) {
        guard context.purpose == .checking, case .unix(let path, _, let group) = address else { return }
        directory(of: path, title, at: position)
        guard let group, Accounts.ownUserID != 0, !Accounts.isMember(of: group) else { return }
        context.diagnostics.warning(
            "\(title): the user that runs this is not a member of the group \(Accounts.groupName(group)), "
                + "and a server of this user does not start", at: position)
    }

    /// Reports why a server could not write to a file.
    func file(_ path: String, _ title: String, at position: SourcePosition) {
        guard context.purpose == .checking else { return }
        if (try? Files.info(path))?.kind == .symlink {
            return context.diagnostics.error(
                "\(title): \(path) is a symbolic link, and the server does not start with one", at: position)
        }
        switch Paths.directoryProblem(path) {
        case nil:
            context.diagnostics.error("\(title): \(path) is a directory", at: position)
        case Paths.isMissing: directory(of: path, title, at: position)
        case _ where !Paths.isWritable(path):
            context.diagnostics.warning(
                "\(title): the user that runs this cannot write to \(path), and a server of this user "
                    + "does not start", at: position)
        case _: break
        }
    }

    private func directory(of path: String, _ title: String, at position: SourcePosition) {
        let directory = Paths.parent(of: path)
        if let problem = Paths.directoryProblem(directory) {
            // A service manager makes these, for a server that runs.
            if problem == Paths.isMissing, let place = ServicePlace(directory) {
                return context.diagnostics.warning(
                    "\(title): \(directory) \(problem), and the server does not start without it; "
                        + place.hint, at: position)
            }
            return context.diagnostics.error(
                "\(title): \(directory) \(problem), and the server does not start without it", at: position)
        }
        guard !Paths.isWritableDirectory(directory) else { return }
        context.diagnostics.warning(
            "\(title): the user that runs this cannot create files in \(directory), and a server of this "
                + "user does not start", at: position)
    }
}

import MCPCore

/// The Dockerfile.
extension SetupFile {
    /// The user in the container; a number that a file of the host can have as its owner.
    private static let user: UInt32 = 65_532
    private static let directory = "/etc/mcp-server"

    static func docker(_ subject: Subject) -> String {
        let directories = directories(subject).joined(separator: " ")
        return """
            # Dockerfile
            # Build the program with the Swift runtime included: make release
            FROM debian:bookworm-slim
            RUN useradd --uid \(user) --no-create-home --shell /usr/sbin/nologin mcp \\
                && install -d -o mcp -g mcp \(directories)
            COPY mcp-server /usr/local/bin/mcp-server
            COPY mcp.jsonc \(directory)/mcp.jsonc
            \(contents(subject).map { $0 + "\n" }.joined())\
            USER mcp
            # The server listens on loopback or a unix socket: run the proxy in the same network namespace
            # (docker run --network container:PROXY), or share /run/mcp with it.
            VOLUME \(directories)
            ENV XDG_RUNTIME_DIR=/run/mcp
            STOPSIGNAL SIGTERM
            ENTRYPOINT ["/usr/local/bin/mcp-server", "-c", "\(directory)/mcp.jsonc"]

            """
    }

    /// The directories that the server writes to.
    private static func directories(_ subject: Subject) -> [String] {
        let roots = ["RuntimeDirectory": "/run", "StateDirectory": "/var/lib", "LogsDirectory": "/var/log"]
        let own = subject.needs.places.map { "\(roots[$0.setting] ?? "")/\($0.name)" }
        return ["/run/mcp"] + (own + subject.needs.writable).filter { $0 != "/run/mcp" }
    }

    /// What belongs to the configuration and is not in it.
    private static func contents(_ subject: Subject) -> [String] {
        let base = Paths.parent(of: subject.configuration)
        func relative(_ path: String) -> String? {
            path.dropping(prefix: base == "/" ? "/" : base + "/").map { String($0) }
        }
        var lines: [String] = []
        let inside = subject.parts.compactMap(relative)
        for part in inside.sorted() {
            let isPattern = part.contains("*")
            let target = isPattern ? Paths.parent(of: "\(directory)/\(part)") + "/" : "\(directory)/\(part)"
            lines.append("COPY \(part) \(target)")
        }
        let own = [base] + subject.needs.writable + subject.secrets
        let others = subject.paths.filter { path in
            relative(path) == nil && ServicePlace(path) == nil
                && !own.contains(path) && !subject.needs.writable.contains(Paths.parent(of: path))
        }
        if !others.isEmpty {
            lines.append("# The configuration also names these, which the image needs at the same places:")
            lines += Set(others).sorted().map { "#   \($0)" }
        }
        if !subject.secrets.isEmpty {
            lines.append(
                "# Secrets are not for an image. Mount them when it runs; their owner is \(user), mode 600:")
            let mounts = subject.secrets.map { secret in
                let inside = relative(secret).map { "\(directory)/\($0)" } ?? secret
                let folder = Paths.parent(of: secret)
                if directories(subject).contains(folder) {
                    return "#   -v \(folder):\(Paths.parent(of: inside))"
                }
                return subject.secretFolders.contains(folder)
                    ? "#   -v \(folder):\(Paths.parent(of: inside)):ro" : "#   -v \(secret):\(inside):ro"
            }
            lines += Set(mounts).sorted()
            lines += [
                "# A file that is mounted on its own stays what it was when another takes its place, as at",
                "# token revoke: keep tokens in a folder that holds nothing else, and is mounted as a whole.",
            ]
        }
        return lines
    }
}

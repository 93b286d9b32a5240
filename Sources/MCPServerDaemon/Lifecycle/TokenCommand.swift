import MCPCore

/// `mcp-server token new|list|revoke`: the tokens that need no authorization server.
struct TokenCommand {
    let environment: [String: String]
    var clock: any TimeSource = SystemClock()

    func run(_ request: TokenRequest, file: String?, overrides: [Override]) -> ExitCode {
        do {
            let configuration = try configuration(file, overrides)
            let tokens = TokenFile(configuration.auth?.tokens ?? "", isInspected: true)
            switch request {
            case .new(let name, let flags): try make(name, flags, in: tokens, for: configuration)
            case .list: Terminal.out(try list(tokens))
            case .revoke(let name): try revoke(name, in: tokens)
            }
            return .success
        } catch let error as CommandLineError {
            Terminal.error(error.lines)
            return .usage
        } catch let error as TokenFile.Failure {
            Terminal.error(["mcp-server: \(error.text)"] + (error.hint.map { ["hint: \($0)"] } ?? []))
            return .failure
        } catch {
            Terminal.error(["mcp-server: \(error)"])
            return .failure
        }
    }

    /// Returns the configuration, which names the file of the tokens. Mistakes elsewhere in it do not matter
    /// here.
    private func configuration(
        _ file: String?, _ overrides: [Override]
    ) throws(CommandLineError) -> Configuration {
        guard let file = file ?? DefaultFile.find(environment) else {
            let places = DefaultFile.candidates(environment).joined(separator: " or ")
            throw CommandLineError(
                "no configuration file found in \(places)", hint: "name one with -c FILE")
        }
        let loader = ConfigurationLoader(
            overrides: overrides, environment: environment, purpose: .inspecting)
        let outcome = loader.load(file: file)
        if outcome.configuration.auth?.tokens != nil { return outcome.configuration }
        if let error = outcome.diagnostics.sorted.first(where: { $0.severity == .error }) {
            throw CommandLineError(error.rendered, hint: "mcp-server check \(file) shows all errors")
        }
        throw CommandLineError(
            "\(file) names no file for tokens",
            hint: "add \"auth\": { \"tokens\": \"tokens.json\" }, or --set auth.tokens=PATH")
    }

    private func make(
        _ name: String, _ flags: TokenFlags, in file: TokenFile, for configuration: Configuration
    ) throws {
        let end = try flags.lifetime.map { try self.end(in: $0) }
        let new = StaticToken.make(
            name: name, scopes: flags.scopes, allow: flags.allow, expiresAt: end, rate: flags.rate)
        let missing = file.missingDirectories
        let failure: StaticTokenError? = try file.update { records in
            do throws(StaticTokenError) {
                _ = try StaticTokens(records + [new.record])
                records.append(new.record)
                return nil
            } catch {
                return error
            }
        }
        if let failure {
            throw CommandLineError("no token was made: \(failure)", hint: Self.hint(for: failure))
        }
        // The only time that the token is shown.
        Terminal.out([new.token])
        let doubts = configuration.doubts(about: new.record).map { "mcp-server: warning: \($0)" }
        Terminal.error(
            doubts + [
                "mcp-server: the token \(name) may use \(Self.rights(new.record)); "
                    + (end == nil ? "it does not expire" : "it expires at \(Self.end(end))"),
                "hint: it is not shown again; \(file.path) holds only its digest",
            ] + Self.owner(of: file, in: missing))
    }

    /// What root has to know about a file that it has made, and about directories that it has made for it.
    ///
    /// - Parameter made: these directories; each contains the next one.
    private static func owner(of file: TokenFile, in made: [String]) -> [String] {
        guard Accounts.ownUserID == 0, let info = try? Files.info(file.path, followsLinks: true),
            info.owner == 0
        else { return [] }
        let directory = Paths.parent(of: file.path)
        // Only for the hint: the file has been written.
        if let place = try? Files.info(directory, followsLinks: true), place.owner == 0,
            place.permissions & 0o011 == 0
        {
            let closed = made.isEmpty ? [directory] : made
            return [
                "hint: only root can enter \(closed.joined(separator: ", ")); "
                    + "if another user runs the server: chown -R USER \(closed[0])"
            ]
        }
        return [
            "hint: the file belongs to root; chown it to the user that runs the server if that is another"
        ]
    }

    private static func hint(for failure: StaticTokenError) -> String {
        switch failure {
        case .badScope: "scopes consist of visible characters without quotes"
        case .badName, .badPattern, .badDigest: "for example mcp-server token new ci --allow 'git_*'"
        case .nameIsTaken: "choose another name; token list, with the same -c, shows those that are taken"
        case .tooMany: "token revoke NAME, with the same -c, makes room for another one"
        }
    }

    private func list(_ file: TokenFile) throws(TokenFile.Failure) -> [String] {
        let now = clock.wallTime.secondsSinceEpoch
        let rows = try file.read().map { record in
            let isOver = record.expiresAt.map { $0 <= now } ?? false
            return [
                record.name, (isOver ? "expired " : "") + Self.end(record.expiresAt), Self.rights(record),
            ]
        }
        if rows.isEmpty { return ["no tokens in \(file.path)"] }
        let widths = (0 ..< 2).map { column in rows.map { $0[column].utf8.count }.max() ?? 0 }
        return rows.map { row in
            let cells = (0 ..< 2).map { index in
                row[index] + String(repeating: " ", count: widths[index] - row[index].utf8.count)
            }
            return (cells + [row[2]]).joined(separator: "  ")
        }
    }

    private func revoke(_ name: String, in file: TokenFile) throws {
        let isFound = try file.update { records in
            let before = records.count
            records.removeAll { $0.name == name }
            return records.count < before
        }
        guard isFound else {
            throw CommandLineError(
                "no token named \(TerminalText.inline(name))",
                hint: "token list, with the same -c, shows the names")
        }
        Terminal.error(["mcp-server: the token \(name) is revoked"])
    }

    private static func rights(_ record: StaticToken) -> String {
        let scopes = record.scopes.isEmpty ? [] : ["scopes " + record.scopes.joined(separator: " ")]
        return (record.allow ?? []).joined(separator: " ")
            + (record.allow?.isEmpty == false && !scopes.isEmpty ? ", " : "")
            + scopes.joined() + (record.rate.map { ", \($0)" } ?? "")
    }

    /// Returns the date after a time, in seconds since 1970.
    private func end(in lifetime: Duration) throws(CommandLineError) -> Int64 {
        let (end, overflow) = clock.wallTime.secondsSinceEpoch.addingReportingOverflow(
            lifetime.components.seconds)
        guard !overflow, end <= Self.lastDate else {
            throw CommandLineError("--expires is too far in the future", hint: "for example --expires 90d")
        }
        return end
    }

    /// A date in the year 2261, up to which dates can be shown.
    private static let lastDate: Int64 = 9_200_000_000

    private static func end(_ seconds: Int64?) -> String {
        seconds.map { WallTime(secondsSinceEpoch: $0).minute } ?? "does not expire"
    }
}

extension Configuration {
    /// Returns what is doubtful about a new token.
    fileprivate func doubts(about record: StaticToken) -> [String] {
        let useless = patternsWithoutNames(record.allow ?? [])
        return (auth?.doubts(about: record) ?? [])
            + useless.map { "\"\($0)\" matches no tool and no prompt" }
    }
}

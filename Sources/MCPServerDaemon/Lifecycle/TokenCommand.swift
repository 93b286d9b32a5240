import MCPCore

/// `mcp-server token new|list|revoke`: the tokens that need no authorization server.
struct TokenCommand {
    let environment: [String: String]
    var clock: any TimeSource = SystemClock()

    func run(_ request: TokenRequest, file: String?, overrides: [Override]) -> ExitCode {
        do {
            let tokens = try TokenFile(place(file, overrides))
            switch request {
            case .new(let name, let allow, let scopes, let lifetime):
                try make(name, allow, scopes, lifetime, in: tokens)
            case .list: Terminal.out(try list(tokens))
            case .revoke(let name): try revoke(name, in: tokens)
            }
            return .success
        } catch let error as CommandLineError {
            Terminal.error(error.lines)
            return .usage
        } catch let error as TokenFile.Failure {
            Terminal.error(["mcp-server: \(error.text)"])
            return .failure
        } catch {
            Terminal.error(["mcp-server: \(error)"])
            return .failure
        }
    }

    /// Returns the file that the configuration names. Mistakes elsewhere in it do not matter here.
    private func place(_ file: String?, _ overrides: [Override]) throws(CommandLineError) -> String {
        guard let file = file ?? DefaultFile.find(environment) else {
            let places = DefaultFile.candidates(environment).joined(separator: " or ")
            throw CommandLineError(
                "there is no configuration in \(places)", hint: "mcp-server token list -c FILE")
        }
        let loader = ConfigurationLoader(overrides: overrides, environment: environment)
        let outcome = loader.load(file: file)
        if let place = outcome.configuration.auth?.tokens { return place }
        if let error = outcome.diagnostics.sorted.first(where: { $0.severity == .error }) {
            throw CommandLineError(error.rendered, hint: "mcp-server check \(file) shows all errors")
        }
        throw CommandLineError(
            "\(file) names no file for tokens",
            hint: "add \"auth\": { \"tokens\": \"tokens.json\" }, or --set auth.tokens=PATH")
    }

    private func make(
        _ name: String, _ allow: [String], _ scopes: [String], _ lifetime: Duration?, in file: TokenFile
    ) throws {
        let end = lifetime.map { clock.wallTime.secondsSinceEpoch + $0.components.seconds }
        let new = StaticToken.make(name: name, scopes: scopes, allow: allow, expiresAt: end)
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
            var hint = "mcp-server token list shows the names that are taken"
            if case .badScope = failure { hint = "scopes consist of visible characters without quotes" }
            throw CommandLineError("no token was made: \(failure)", hint: hint)
        }
        // The only time that the token is shown.
        Terminal.out([new.token])
        Terminal.error([
            "mcp-server: the token \(name) may use \(Self.rights(new.record)); it expires: \(Self.end(end))",
            "hint: it is not shown again; \(file.path) holds only its digest",
        ])
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
                "there is no token with the name \(name.prefix(64))",
                hint: "mcp-server token list shows the names")
        }
        Terminal.error(["mcp-server: the token \(name) is revoked"])
    }

    private static func rights(_ record: StaticToken) -> String {
        let scopes = record.scopes.isEmpty ? [] : ["scopes " + record.scopes.joined(separator: " ")]
        return (record.allow ?? []).joined(separator: " ")
            + (record.allow?.isEmpty == false && !scopes.isEmpty ? ", " : "")
            + scopes.joined()
    }

    private static func end(_ seconds: Int64?) -> String {
        guard let seconds else { return "never" }
        // Without the fraction.
        return WallTime(nanosecondsSinceEpoch: seconds * 1_000_000_000).description.prefix(16) + "Z"
    }
}

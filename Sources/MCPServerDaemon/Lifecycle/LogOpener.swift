import MCPCore

/// Opens the log that the configuration describes.
struct LogOpener {
    let settings: LogSettings
    let environment: [String: String]

    /// The reason why there is no log.
    struct Failure: Error {
        var text: String
    }

    /// - Parameters:
    ///   - level: the level of the command line, which takes precedence.
    ///   - errors: keeps errors, too.
    func open(level: LogLevel?, _ errors: ErrorRing?) throws(Failure) -> Log {
        let onError = errors.map { errors in { @Sendable (text: String) in errors.add("log", text) } }
        let sink: LogSink
        do throws(IOError) {
            if let file = settings.file {
                sink = try LogSink(path: file, format: format, onError: onError)
            } else {
                sink = try LogSink(format: format, onError: onError)
            }
        } catch {
            throw Failure(
                text: settings.file == nil
                    ? "cannot write to standard error" : "observe.log.file cannot be opened: \(error)")
        }
        return Log(level: level ?? settings.level ?? .info, sink: sink)
    }

    /// Journal prefixes under systemd, text for a person, JSON for everything else.
    private var format: LogFormat {
        switch settings.format {
        case .text: return .text
        case .json: return .json
        case .journal: return .journal
        case .auto: break
        }
        if settings.file != nil { return .json }
        return environment["JOURNAL_STREAM"] != nil ? .journal : Terminal.errorIsTerminal ? .text : .json
    }
}

import MCPCore

/// Reads `observe` of the configuration.
struct ObserveReader {
    /// The exchanges that a recorder may keep.
    static let keep = 1 ... 10_000

    let context: ConfigContext

    func read(_ reader: ObjectReader) -> ObserveSettings {
        var reader = reader
        var settings = ObserveSettings()
        if let log = reader.object("log") { settings.log = readLog(log) }
        let audit = reader.object("audit")
        if let audit { settings.audit = readAudit(audit) }
        let redaction = settings.audit?.redaction ?? RedactionSettings()
        if let recorder = reader.object("recorder") {
            settings.recorder = readRecorder(recorder, redaction)
        }
        if let log = settings.log.file, let other = settings.audit?.file,
            FileIdentity(Paths.unmarked(log)) == FileIdentity(Paths.unmarked(other))
        {
            context.diagnostics.error(
                "observe.log.file and observe.audit.file are the same file; give each its own",
                at: audit?.place(of: "file") ?? reader.position)
        }
        reader.finish()
        return settings
    }

    private func readLog(_ reader: ObjectReader) -> LogSettings {
        var reader = reader
        var settings = LogSettings()
        if let text = reader.string("level") {
            settings.level = LogLevel(name: text)
            if settings.level == nil {
                let names = LogLevel.allCases.map(\.name)
                context.diagnostics.error(
                    "observe.log.level must be one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
                        + Suggestion.hint(for: text, among: names), at: reader.place(of: "level"))
            }
        }
        settings.format = reader.word("format", as: LogSettings.Format.self) ?? .auto
        settings.calls = reader.word("calls", as: LogSettings.Calls.self) ?? .none
        settings.file = path("file", &reader)
        checkFile(settings.file, reader)
        reader.finish()
        return settings
    }

    private func readAudit(_ reader: ObjectReader) -> AuditSettings? {
        var reader = reader
        let file = path("file", &reader)
        if file == nil, reader.members.allSatisfy({ $0.key != "file" }) {
            context.diagnostics.error("observe.audit needs a file", at: reader.position)
        }
        checkFile(file, reader)
        var settings = AuditSettings(file: file ?? "")
        settings.isChained = reader.bool("chain") ?? false
        settings.redaction.arguments =
            reader.word("arguments", as: RedactionSettings.Arguments.self) ?? .redacted
        settings.redaction.keys = keys("redact", &reader)
        reader.finish()
        return file == nil ? nil : settings
    }

    private func readRecorder(_ reader: ObjectReader, _ redaction: RedactionSettings) -> RecorderSettings? {
        var reader = reader
        let directory = path("dir", &reader)
        if directory == nil, reader.members.allSatisfy({ $0.key != "dir" }) {
            context.diagnostics.error("observe.recorder needs a dir", at: reader.position)
        }
        if let directory, let problem = Paths.directoryProblem(directory) {
            context.diagnostics.warning(
                "observe.recorder.dir: \(directory) \(problem); nothing can be recorded until it exists",
                at: reader.place(of: "dir"))
        }
        var settings = RecorderSettings(directory: directory ?? "", redaction: redaction)
        settings.keep = reader.integer("keep", in: Self.keep) ?? settings.keep
        if let words = reader.strings("dumpOn") {
            settings.triggers = []
            for word in words {
                if let trigger = RecorderSettings.Trigger(rawValue: word) {
                    settings.triggers.insert(trigger)
                } else {
                    context.diagnostics.error(
                        "observe.recorder.dumpOn may contain \"error\" and \"SIGUSR1\", not \"\(word)\"",
                        at: reader.place(of: "dumpOn"))
                }
            }
        }
        reader.finish()
        return directory == nil ? nil : settings
    }

    private func checkFile(_ file: String?, _ reader: ObjectReader) {
        guard let file else { return }
        StartCheck(context: context).file(file, reader.pathOf("file"), at: reader.place(of: "file"))
    }

    /// Reads the path of a file, relative to the configuration's directory.
    private func path(_ key: String, _ reader: inout ObjectReader) -> String? {
        guard let text = reader.string(key) else { return nil }
        guard !text.isEmpty, !text.utf8.contains(0) else {
            context.diagnostics.error(
                "\(reader.pathOf(key)) must be the path of a file", at: reader.place(of: key))
            return nil
        }
        return Paths.absolute(text, relativeTo: context.directory)
    }

    private func keys(_ key: String, _ reader: inout ObjectReader) -> [String] {
        let keys = reader.strings(key) ?? []
        if keys.contains("") {
            context.diagnostics.error(
                "\(reader.pathOf(key)) contains an empty pattern", at: reader.place(of: key))
        }
        return keys
    }
}

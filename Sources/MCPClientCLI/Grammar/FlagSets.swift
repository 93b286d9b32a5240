/// Flags that commands have in common.
extension Flag {
    /// Those of every command.
    static let common: [Flag] = [.json, .quiet, .color, .help, .version]

    /// Those of commands that talk to servers.
    static let connected: [Flag] = [
        .verbose, .wire, .timings, .header, .bearerEnv, .bearerFile, .trustFile, .environment, .directory,
        .protocolVersion, .timeout, .deadline, .connectTimeout, .logLevel,
    ]

    /// Those of commands with a result to take a part of, or to keep.
    static let results: [Flag] = [.select, .output]

    /// Those of commands in which a server can ask back.
    static let answering: [Flag] = [.answer, .answers, .noInput]

    /// Those of commands with a model and several servers.
    static let withModel: [Flag] = [.server, .model, .modelCommand, .modelKey]
}

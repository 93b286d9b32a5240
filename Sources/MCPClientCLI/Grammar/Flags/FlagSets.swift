/// Flags that commands have in common.
extension Flag {
    /// Those of every command.
    static let common: [Flag] = [
        .output(.json), .output(.quiet), .output(.color), .other(.help), .other(.version),
    ]

    /// Those of commands that talk to servers.
    static let connected: [Flag] =
        TransportFlag.allCases.map(Flag.transport) + [
            .output(.verbose), .output(.wire), .output(.timings), .interaction(.logLevel),
        ]

    /// Those of commands with a result to take a part of, or to keep.
    static let results: [Flag] = [.output(.select), .output(.output)]

    /// Those of commands in which a server can ask back.
    static let answering: [Flag] = [
        .interaction(.answer), .interaction(.answers), .interaction(.noInput),
    ]

    /// Those of commands with a model and several servers.
    static let withModel: [Flag] = [
        .agent(.server), .agent(.model), .agent(.modelCommand), .agent(.modelKey),
    ]
}

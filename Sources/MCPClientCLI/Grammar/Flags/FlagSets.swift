/// Flags that several commands have in common.
extension Flag {
    /// The flags of every command.
    static let common: [Flag] = [
        .output(.json), .output(.quiet), .output(.color), .other(.help), .other(.version),
    ]

    /// The flags of commands that connect to servers.
    static let connected: [Flag] = connectedWithoutLogins + authorized

    /// The flags of commands that connect to servers, without those for a login.
    static let connectedWithoutLogins: [Flag] =
        TransportFlag.allCases.map(Flag.transport) + [
            .output(.verbose), .output(.wire), .output(.timings), .interaction(.logLevel), .check(.retry),
        ]

    /// The flags of commands that use stored logins, or tokens that need no user.
    static let authorized: [Flag] = [
        .auth(.clientID), .auth(.clientSecretEnv), .auth(.clientSecretFile), .auth(.clientKey),
        .auth(.metadataURL), .auth(.scope), .auth(.issuer), .auth(.resource), .auth(.grant),
        .auth(.assertionFile), .auth(.idpTokenEndpoint), .auth(.idTokenFile), .auth(.idpClientID),
        .auth(.idpSecretEnv), .auth(.idpSecretFile), .auth(.dpop), .auth(.store),
    ]

    /// The flags of commands that may reach an authorization server, and no other one.
    static let reaching: [Flag] = [.transport(.trustFile), .transport(.connectTimeout)]

    /// The additional flags of a login.
    static let login: [Flag] = [
        .auth(.callbackPort), .auth(.callbackHost), .auth(.noBrowser), .interaction(.noInput),
    ]

    /// The flags of commands with a result that can be reduced to a part, or saved.
    static let results: [Flag] = [.output(.select), .output(.output)]

    /// The flags of commands that send a request of the user.
    static let sending: [Flag] = [.check(.dryRun), .check(.jsonLines), .check(.trace)]

    /// The flags of commands that use the definitions of a lock file.
    static let locking: [Flag] = [.check(.lockFile)]

    /// The flags of commands during which a server can ask questions.
    static let answering: [Flag] = [
        .interaction(.answer), .interaction(.answers), .interaction(.noInput),
    ]

    /// The flags of a conversation with a model.
    static let conversing: [Flag] = [
        .agent(.allow), .agent(.ask), .agent(.deny), .agent(.system), .agent(.parameter), .agent(.goOn),
        .agent(.conversation),
    ]

    /// The flags of commands that use a model and several servers.
    static let withModel: [Flag] = [
        .agent(.server), .agent(.model), .agent(.modelCommand), .agent(.modelKey),
    ]
}

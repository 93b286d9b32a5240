extension CommandEnvironment {
    /// Returns the token from `--bearer-env` or `--bearer-file`; it never appears on the command line.
    func bearer(_ flags: Options) throws(Failure) -> String? {
        var token: String?
        var source = ""
        if let name = flags.bearerEnv {
            guard let value = secret(name) else {
                throw .usage(
                    "the environment variable \(inlineText(name)) is not set",
                    hint: "--bearer-env names the variable")
            }
            token = value.trimmingWhitespace()
            source = "the variable \(inlineText(name))"
        } else if let path = flags.bearerFile {
            let bytes = try secretFile(path, isQuiet: flags.quiet)
            token = String(decoding: bytes, as: UTF8.self).trimmingWhitespace()
            source = inlineText(path)
        }
        guard let token else { return nil }
        // RFC 6750 2.1: b64token. The token itself is not shown.
        let isToken =
            !token.isEmpty
            && token.utf8.allSatisfy { $0.isASCIIAlphanumeric || "-._~+/=".utf8.contains($0) }
        if !isToken {
            throw .usage(
                token.isEmpty ? "\(source) is empty" : "\(source) does not contain a bearer token",
                hint: "a token consists of letters, digits and -._~+/=")
        }
        return token
    }
}

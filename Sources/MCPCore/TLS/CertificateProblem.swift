#if !canImport(Darwin)
/// The reason why a server's certificate is not accepted, in words.
struct CertificateProblem: Sendable {
    let result: Int
    let reason: String
    let host: String
    /// The server's certificate, followed by those of its issuers as far as they are known.
    let chain: [OpenSSLCertificate]

    private static let trustHint =
        "if you trust it, pass its certificate as the trust file (mcp-client: --cacert FILE)"

    var error: TLSError {
        let (message, hint) = words
        return TLSError(.certificate, message, details: ["nothing was sent"], hint: hint)
    }

    // The numbers are the codes in X509_verify_cert_error_string(3).
    private var words: (String, String?) {
        let leaf = chain.first
        switch result {
        case 9:
            let early = chain.first { !$0.hasBegun } ?? leaf
            return (
                "\(whose(early)) is not valid before \(early?.begins ?? "a later date")",
                "check that the clock of this machine is right"
            )
        case 10:
            let late = chain.first { $0.hasEnded } ?? leaf
            return (
                "\(whose(late)) expired on \(late?.ends ?? "an earlier date")",
                "the server's operator has to renew it, or the clock of this machine is wrong"
            )
        case 18: return ("its certificate is self-signed, so no authority vouches for it", Self.trustHint)
        case 2, 19, 20, 21:
            return (
                "its certificate was issued by \(chain.last?.issuer ?? "unknown"), which is not trusted here",
                Self.trustHint + "; the system's trusted certificates come with the package ca-certificates"
            )
        case 62, 64:
            let hosts = leaf?.hosts ?? []
            let names =
                hosts.isEmpty
                ? "no host at all (subject: \(leaf?.subject ?? "unknown"))" : hosts.joined(separator: ", ")
            return (
                "its certificate is for \(names), not for \(host)",
                "check the address; another host on the way may be answering in its place"
            )
        default: return ("its certificate is not accepted: \(reason)", nil)
        }
    }

    private func whose(_ certificate: OpenSSLCertificate?) -> String {
        guard let certificate, certificate.subject != chain.first?.subject else { return "its certificate" }
        return "the certificate of its issuer (\(certificate.subject))"
    }
}
#endif

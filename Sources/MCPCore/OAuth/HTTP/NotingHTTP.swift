/// HTTP that remembers the secrets of the requests that it sends and of the responses, so that they can be
/// removed from texts wherever they turn up.
struct NotingHTTP: OAuthHTTP {
    let http: any OAuthHTTP
    let secrets: KnownSecrets

    func send(_ request: OAuthHTTPRequest) async throws(AuthorizationError) -> OAuthHTTPResponse {
        for secret in request.secrets { secrets.note(secret) }
        if let credentials = request.fields["Authorization"]?.split(separator: " ", maxSplits: 1).last {
            secrets.note(String(credentials))
        }
        let response = try await http.send(request)
        guard request.isPost, let members = response.object else { return response }
        for (name, value) in members where SecretMask.isSecret(name) {
            if let secret = value.stringValue { secrets.note(secret) }
        }
        return response
    }
}

extension Requirements {
    /// The requirements on authorization, of the specification and of the RFCs that it demands.
    static let authorization = #"""
        # AUTH authorization
        AUTH-01 [SHOULD NOT · both · D-E] Do not use OAuth over stdio: credentials come from the environment.
        AUTH-02 [MUST · server · D-E] Publish the metadata of the resource (RFC 9728), with at least one entry in `authorization_servers`.
        AUTH-03 [MUST · server · D-E] Make the metadata of the resource findable by `resource_metadata` in the challenge or by the well-known URI.
        AUTH-04 [MUST · client · D-E] Use `resource_metadata` of the challenge, and then no well-known URI; without it try the path-inserted URI first, the root second.
        AUTH-05 [MUST · client · D-E] Parse `WWW-Authenticate` fully: several challenges and fields, token68, quoted pairs, any order, any case of names.
        AUTH-06 [MUST · client · RFC 9728] `resource` of the metadata is the server that was asked; otherwise the flow ends.
        AUTH-07 [MUST · client · D-E] Ask for the metadata of an issuer with the path `/t` in this order: `/.well-known/oauth-authorization-server/t`, `/.well-known/openid-configuration/t`, `/t/.well-known/openid-configuration`; without a path the first two at the root.
        AUTH-08 [MUST · client · E] `issuer` in the authorization server's metadata is byte-identical to the string that its URL was built from; otherwise nothing of it is used.
        AUTH-09 [MUST · client · D-E] Refuse the code flow when the metadata (OAuth or OpenID) does not list `S256` in `code_challenge_methods_supported`.
        AUTH-10 [MUST · both · D-E] Endpoints of an authorization server use https, except on loopback hosts.
        AUTH-11 [SHOULD · client · D-E] Identify as a pre-registered client, else by a client id metadata document if `client_id_metadata_document_supported`, else by dynamic registration if there is a `registration_endpoint`, else ask for an id.
        AUTH-12 [MUST · client · D-E] The id of a client id metadata document is an https URL with a path; the document repeats it exactly and has `client_name` and `redirect_uris`.
        AUTH-13 [MUST · client · E] Dynamic registration sends `application_type` (`native`); show the reason of a rejection, and try once more where other metadata can help.
        AUTH-14 [SHOULD · client · E] The metadata of the client lists the grant type `refresh_token`.
        AUTH-15 [MUST · client · E] Keep registrations and tokens per issuer and never show them to another one; register anew when the authorization server changes. Client id metadata documents may be used with any.
        AUTH-16 [SHOULD · client · E] Pre-registered credentials of another issuer than the discovered one are an error, and nothing is sent.
        AUTH-17 [SHOULD · client · D-E] A fixed client id and secret can be configured.
        AUTH-18 [MUST · client · D-E] Redirect URIs are registered, and loopback or https.
        AUTH-19 [MUST · client · D-E] PKCE uses S256 with a new verifier (43 to 128 characters, at least 256 random bits) per attempt.
        AUTH-20 [MUST · client · D-E] Send `resource`, the same value, in the authorization request and in every token request, whatever the authorization server supports.
        AUTH-21 [MUST · client · D-E] `resource` is the canonical server URI: scheme and host in lower case, no fragment, most specific, no needless trailing slash.
        AUTH-22 [SHOULD · client · D-E] Send `state`, and drop a response without it or with another one.
        AUTH-23 [MUST · client · E] Record the validated issuer together with verifier and `state` before the browser is sent off.
        AUTH-24 [MUST · client · E] A present `iss` equals the recorded issuer byte for byte after form decoding, whether it was advertised or not.
        AUTH-25 [MUST · client · E] Reject a response without `iss` before any token request if `authorization_response_iss_parameter_supported` is true; otherwise accept it.
        AUTH-26 [MUST NOT · client · E] After a mismatch of `iss`, neither show nor act on the error members of the response.
        AUTH-27 [MUST · client · D-E] Open only https URLs (http on loopback hosts) for authorization, and not through a shell.
        AUTH-28 [SHOULD · client · D-E] Request the `scope` of the challenge; else all `scopes_supported` of the resource; else send no parameter. Never those of the authorization server.
        AUTH-29 [MUST NOT · client · D-E] Do not assume a set relation between the challenge and `scopes_supported`: the challenge decides.
        AUTH-30 [MAY · client · E] Request `offline_access` only when the authorization server lists it; never count on a refresh token.
        AUTH-31 [SHOULD · client · D-E] After 403 `insufficient_scope`, authorize again and repeat the request; in E with the union of scopes requested before and challenged.
        AUTH-32 [SHOULD · client · D-E] Limit step-ups and remember them per resource and operation; after that the failure is permanent.
        AUTH-33 [SHOULD · server · D-E] 401 carries `scope`; 403 carries `error`, `scope` and `resource_metadata`.
        AUTH-34 [SHOULD · server · E] Name all scopes of one operation in one challenge, by one constant strategy.
        AUTH-35 [MUST · server · E] A broader scope satisfies what it implies.
        AUTH-36 [SHOULD NOT · server · E] No `offline_access` in challenges or `scopes_supported`.
        AUTH-37 [MUST · client · D-E] The token is in `Authorization` of every request (POST, GET, DELETE), never in a URI.
        AUTH-38 [MUST NOT · client · D-E] A server gets only tokens of its own authorization server.
        AUTH-39 [MUST · client · E] Refresh tokens are confidential in transit and storage.
        AUTH-40 [MUST · server · D-E] Check each request on its own: 401 for a missing, invalid or expired token, 403 for missing permission, 400 for a malformed request.
        AUTH-41 [MUST · server · D-E] Only tokens issued for this server are accepted.
        AUTH-42 [MUST NOT · server · D-E] Never send a caller's token upstream.
        AUTH-43 [MUST · server · D-E] Do not log tokens, and keep only their digests.
        AUTH-44 [SHOULD · server · D-E] Accept a scheme or host in upper case in resource identifiers.
        AUTH-45 [MUST NOT · server · D-E] Session ids and state handles authenticate nobody; they are bound to the principal, and one of another principal is unknown.
        AUTH-46 [MUST NOT · both · E] `private` cache entries never cross authorization contexts.
        AUTH-47 [MUST · server · D-E] Proxies with a static third-party client id ask for consent per client.
        AUTH-48 [SHOULD · client · E] Limit the addresses that discovery can reach, on every hop (SSRF).
        AUTH-49 [MUST · server · RFC 9068, 8725] JWT: an asymmetric `alg` from an allow-list, bound to the type of the key; `iss` exact; `aud` contains the resource; `exp` ahead, `nbf` and `iat` not; an unknown `crit` is refused.
        AUTH-50 [MUST · server · RFC 7662] Introspection uses own credentials; `active` is the JSON value true; an unreachable authorization server leads to 503.
        AUTH-51 [MUST · server · RFC 6750] Two ways or fields of presenting a token are 400; without a token the challenge has no `error`.
        AUTH-52 [MUST · client · RFC 6749] `token_type` has no case, unknown members are ignored; a response to a refresh without `refresh_token` or `scope` keeps the old ones.
        AUTH-53 [SHOULD · client · RFC 7009] A logout revokes the tokens where there is a `revocation_endpoint`.
        AUTH-54 [MUST · client · extension] Client credentials: a pre-registered client, `resource` sent, by `private_key_jwt` (recommended) or a secret, no dynamic registration.
        AUTH-55 [MUST · client · extension] `private_key_jwt`: `iss` and `sub` are the client id, `aud` is the issuer as one string, `exp` within 5 minutes, `iat`, a new `jti`; no `client_id` beside it.
        AUTH-56 [MUST · client · extension] Enterprise: token exchange at the identity provider (`requested_token_type` id-jag, `audience` is the authorization server's issuer, `resource`, a `subject_token` of type id_token or saml2), then the grant jwt-bearer at the authorization server with own client authentication.
        AUTH-57 [MUST · client · extension] DPoP: a proof with the token request; scheme `DPoP` and a fresh proof (`jti`, `htm`, `htu` without query, `iat`, `ath`) with each request; `use_dpop_nonce` of either server is answered.
        AUTH-58 [MUST · server · extension] DPoP at a resource server: the checks of RFC 9449, 4.3, asymmetric algorithms only, `iat` within 5 minutes, `cnf.jkt`, otherwise 401; the audience is still checked.
        AUTH-59 [MUST · client · extension] Workload identity: jwt-bearer with the workload's JWT; errors are shown; no repetition and no other grant.
        AUTH-60 [NOTE · client · extension] For client credentials with a JWT follow the text of the extension, not the page that shows another grant.
        AUTH-61 [MUST · client · B] Without any metadata of the resource, use the metadata of the authorization server at the root of the server; without that, `/authorize`, `/token` and `/register` there. Never after a mismatch.
        """#
}

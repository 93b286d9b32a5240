/// Who a server of the tests is: PEM, made for these tests alone.
///
/// Made by openssl 3.0 with keys of the curve P-256, valid for 100 years:
///
///     openssl ecparam -name prime256v1 -genkey -noout -out NAME.key
///     openssl req -x509 -new -key ca.key -subj "/CN=swift-mcp-core test CA" -days 36500 \
///         -addext basicConstraints=critical,CA:true -addext keyUsage=critical,keyCertSign,cRLSign
///     openssl req -new -key NAME.key -subj /CN=NAME | openssl x509 -req -CA ca.pem -CAkey ca.key -days
///     36500 \ -extfile <(printf
///     "subjectAltName=…\nbasicConstraints=CA:false\nextendedKeyUsage=serverAuth\n")
///
/// The expired one by `openssl ca -startdate 20200101000000Z -enddate 20210102000000Z`. The key of the
/// authority was thrown away.
package struct TLSIdentity: Sendable {
    /// In PEM.
    package let certificate: String
    /// In PEM.
    package let key: String

    /// The authority that signed the others.
    package static let authority =
        """
        -----BEGIN CERTIFICATE-----
        MIIBqjCCAU+gAwIBAgIUWarbrbFHTRF432NBGEqqQnMQsyUwCgYIKoZIzj0EAwIw
        ITEfMB0GA1UEAwwWc3dpZnQtbWNwLWNvcmUgdGVzdCBDQTAgFw0yNjExMjEwNzM0
        MTRaGA8yMTI2MTAyODA3MzQxNFowITEfMB0GA1UEAwwWc3dpZnQtbWNwLWNvcmUg
        dGVzdCBDQTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABIwtcNZvFpF8x+RhPgNP
        /nu3vgVc8GFHlxVuQCCNrsgOVIYWKL9jH7d6YAK5PZ23diIZVcxeHjcvMh7wMvsE
        egCjYzBhMB0GA1UdDgQWBBSvIjwxMq17jy8vKiqhHtMHXDHLszAfBgNVHSMEGDAW
        gBSvIjwxMq17jy8vKiqhHtMHXDHLszAPBgNVHRMBAf8EBTADAQH/MA4GA1UdDwEB
        /wQEAwIBBjAKBggqhkjOPQQDAgNJADBGAiEAhlGfDV4g37PwN5NKrBzbQK1CmZG4
        lhTNg6cCDv1liioCIQC2g4TWhWMH5COeb636q4Z+b9IeU6xgtgKfD5KMZe7mHA==
        -----END CERTIFICATE-----
        """

    /// For `localhost` and 127.0.0.1.
    package static let server = TLSIdentity(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBszCCAVqgAwIBAgIURZLJLi0xrpDExVOw+q+yYgB9zAMwCgYIKoZIzj0EAwIw
            ITEfMB0GA1UEAwwWc3dpZnQtbWNwLWNvcmUgdGVzdCBDQTAgFw0yNjExMjEwNzM0
            MTRaGA8yMTI2MTAyODA3MzQxNFowETEPMA0GA1UEAwwGc2VydmVyMFkwEwYHKoZI
            zj0CAQYIKoZIzj0DAQcDQgAEQNrH4H8bKDzZlBIb7nOGjzJAdLbuhshG2s4Dx77h
            Gq9pRyvbodyKGfnpCYUMcK9qL6Xh9wve+UdizjHi9I7/YqN+MHwwGgYDVR0RBBMw
            EYIJbG9jYWxob3N0hwR/AAABMAkGA1UdEwQCMAAwEwYDVR0lBAwwCgYIKwYBBQUH
            AwEwHQYDVR0OBBYEFK9zyh9Yi8T006jW6/WCrXq1LWjaMB8GA1UdIwQYMBaAFK8i
            PDEyrXuPLy8qKqEe0wdcMcuzMAoGCCqGSM49BAMCA0cAMEQCIFfYPjOSTOFDxXtq
            wpUq3ydnwWmG57ugbgEjt4QJ6Wi+AiB8cLyAlK8oKmk8MaUMr/Bw0yogE42CS3ob
            gDZ6MKxuuA==
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEIBl2Hn9Xa6q24pmTbgwFXTwEwnN9/E5xaS6G0REuM5dToAoGCCqGSM49
            AwEHoUQDQgAEQNrH4H8bKDzZlBIb7nOGjzJAdLbuhshG2s4Dx77hGq9pRyvbodyK
            GfnpCYUMcK9qL6Xh9wve+UdizjHi9I7/Yg==
            -----END EC PRIVATE KEY-----
            """)

    /// For `localhost` and 127.0.0.1, until 2021-01-02.
    package static let expired = TLSIdentity(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBgTCCASagAwIBAgIBATAKBggqhkjOPQQDAjAhMR8wHQYDVQQDDBZzd2lmdC1t
            Y3AtY29yZSB0ZXN0IENBMB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMjAwMDAwMFow
            EjEQMA4GA1UEAwwHZXhwaXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCLX
            gEBaWzl7J4kOva0Pbqq0iybDWbO6Kk/dCFe8cYfF2Z7Z1IZwUpHDk+YvmImKt89k
            rA391j5PhAaUZeyIArujXjBcMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAd
            BgNVHQ4EFgQUhbXwoPl91AfmJBATW9ChkjUrY6YwHwYDVR0jBBgwFoAUryI8MTKt
            e48vLyoqoR7TB1wxy7MwCgYIKoZIzj0EAwIDSQAwRgIhAKdZeAWHDYMRiOyvqK7J
            Zt+yRFXtL6yrTkXwPzA6/qQOAiEA18FVLbHS+V/njzgZbCewbri7ZMuCySASz5bF
            0ox6YlY=
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEIAj1wDpkqEh26sly7te8zLCjDdBz+G0iKh11UdjajlffoAoGCCqGSM49
            AwEHoUQDQgAEIteAQFpbOXsniQ69rQ9uqrSLJsNZs7oqT90IV7xxh8XZntnUhnBS
            kcOT5i+YiYq3z2SsDf3WPk+EBpRl7IgCuw==
            -----END EC PRIVATE KEY-----
            """)

    /// For `other.example`, `*.other.example` and 192.0.2.1.
    package static let other = TLSIdentity(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIByjCCAXCgAwIBAgIURZLJLi0xrpDExVOw+q+yYgB9zAQwCgYIKoZIzj0EAwIw
            ITEfMB0GA1UEAwwWc3dpZnQtbWNwLWNvcmUgdGVzdCBDQTAgFw0yNjExMjEwNzM0
            MTRaGA8yMTI2MTAyODA3MzQxNFowEDEOMAwGA1UEAwwFb3RoZXIwWTATBgcqhkjO
            PQIBBggqhkjOPQMBBwNCAAQqDiZOh2cKbFVUCuw90sikgJafr5FwAFb9PPT0T2gv
            dl/Ok+mROuMgBN1MP8egwbHscV37j/9rn5JMzAwXDRZZo4GUMIGRMC8GA1UdEQQo
            MCaCDW90aGVyLmV4YW1wbGWCDyoub3RoZXIuZXhhbXBsZYcEwAACATAJBgNVHRME
            AjAAMBMGA1UdJQQMMAoGCCsGAQUFBwMBMB0GA1UdDgQWBBRsY2ekIsfaTlkzVUCA
            GIxN54LolDAfBgNVHSMEGDAWgBSvIjwxMq17jy8vKiqhHtMHXDHLszAKBggqhkjO
            PQQDAgNIADBFAiB2A088Uw44QDYWh9oqw1On2fgf/Y6LXUjwjC/FzaKkoAIhAIY5
            rzjQbuPNUiV1xsxsKpb2eNftR9QU+F6upp/I6FL+
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEICa7RfhTOEYVA+TY3tIbqBsoIS75OjO+TyufZSYazQVFoAoGCCqGSM49
            AwEHoUQDQgAEKg4mTodnCmxVVArsPdLIpICWn6+RcABW/Tz09E9oL3ZfzpPpkTrj
            IATdTD/HoMGx7HFd+4//a5+STMwMFw0WWQ==
            -----END EC PRIVATE KEY-----
            """)

    /// For `localhost` and 127.0.0.1, signed by itself.
    package static let selfSigned = TLSIdentity(
        certificate: """
            -----BEGIN CERTIFICATE-----
            MIIBmzCCAUGgAwIBAgIUXKo2ZqjAnyOGx/16iZ6aY7K7SWowCgYIKoZIzj0EAwIw
            FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA3MzQxNFoYDzIxMjYxMDI4
            MDczNDE0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
            PQMBBwNCAASLQLVfBUcUkrzx7Hr4AoOBZt0AGJs5CWyjlQn8JdkKkilgbz4+Um/a
            AG6uPzSf1lvCSoyv7kuaoo+YCCDJKPbio28wbTAdBgNVHQ4EFgQUkxftIBlKoyts
            REjNEz0N484pQnQwHwYDVR0jBBgwFoAUkxftIBlKoytsREjNEz0N484pQnQwDwYD
            VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
            zj0EAwIDSAAwRQIhAO5lKVoXSjlDKaM85GZ4UBnuW5pH63OpersyTwfQv43jAiAP
            BFXCQjA/XmDRGyuk/OcwgOwHIkcZu6A3iEqih4OxwA==
            -----END CERTIFICATE-----
            """,
        key: """
            -----BEGIN EC PRIVATE KEY-----
            MHcCAQEEIMkphAkh7PUJ1YuyjF57rqpqc9sNSoWz67vszkWc1D/XoAoGCCqGSM49
            AwEHoUQDQgAEi0C1XwVHFJK88ex6+AKDgWbdABibOQlso5UJ/CXZCpIpYG8+PlJv
            2gBurj80n9ZbwkqMr+5LmqKPmAggySj24g==
            -----END EC PRIVATE KEY-----
            """)
}

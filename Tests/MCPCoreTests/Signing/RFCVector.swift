/// The keys and signatures that RFCs print, and some by another implementation (the Python package
/// `cryptography`) with the same keys.
enum RFCVector {
    // MARK: RFC 7515, appendix A

    static let a2Input = "eyJhbGciOiJSUzI1NiJ9.\(payload)"
    static let a3Input = "eyJhbGciOiJFUzI1NiJ9.\(payload)"
    static let a3Signature =
        "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    static let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    static let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    static let payload = """
        eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ
        """
    static let a2Signature = """
        cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujG\
        bds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K\
        0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6\
        LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
        """
    /// Appendix A.2; the exponent is AQAB.
    static let modulus = """
        ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4Ql\
        L-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUs\
        LA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoud\
        F8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
        """
    /// ES512, which is not supported.
    static let a4Token = """
        eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZq\
        wqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9E\
        RBXukOXolLzeO_Jn
        """
    static let a4Key = #"""
        {"kty":"EC","crv":"P-521",
        "x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk",
        "y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"}
        """#

    // MARK: PS256 with the key of A.2

    static let psInput = "eyJhbGciOiJQUzI1NiJ9.\(payload)"
    /// With a salt of 32 bytes.
    static let psSignature = """
        V5D6_t1yI47_dlbRUlSvr85N_2wudLfj6uxOCsCknDM4ZbP7pmOEBhoZB6A1qqwisCfuvJIdODf6n_k0WGwrMIrxiO9S4MNA\
        1vRay5mVnmDIdvIvPzZdgZ5tdAOp-S_YOA9gPxfP69M-eTjjgHAyIgIlJZvAcMlLFUAYF3Ne5jLQTgbw6ddo6PLci1fFy8gs\
        eas28V9qHk2AoMX6-LqcLkqJc5ySDakLgDVYoLc6RmjwA2NuW-dc1PbsAA9-FKKR3drpj3MHsvHUvkXeFh6B23JggY6poNFW\
        ILUu7iIX0JbRAnEbtj1CGPJSxTWjbXYti17bdiFx61VKOeNoByvSSA
        """
    /// With a salt of 20 bytes.
    static let psShortSalt = """
        RL_CNdzg5LQk6epH0ZqSbUiUppUmd_n4QoIP4XV1J66S-1FCgNwUkWWFvsqBGniJh5KeWHVUwlfMh0_6KzvVJf7vZ1Cd3p4o\
        AR48NcOxlmUqthhiJ1snzXjqm7ALlUtiGGf75JCh52xkStJ4taWBesswqohmoF_hKObeHNOEJE-bvuAPqxyoK5qLeKQVCMEe\
        k4Dlhv_WYxsjfVGiZXsaBRqLZsZH39GDI_8A1Mn90luzYCi_u1rtMUJgqpeNGF33iJxx9a1Sxet077elV-tnw2fYA1kqmWaV\
        KiU5zgc1XNjtYlXl2EeMeDMAAitxklzaEwnkdpXv43FXL7Yua0vIww
        """
    /// With a salt of 32 bytes and MGF1 over SHA-1.
    static let psOtherMask = """
        Q7I1r1S94H1y2q8hJT6fc9EHczd9io1u-lmz4VuhcCVOdY--kmSGzOAjIAbhBtFM6t-N10bxKE6llTPnVFHb2TFcN11ksGwD\
        geI_rZeMvc5IBVojexed5j4vOv8wb_gGkWjESd6cQimXkpa-7ojG86Ets1Tf1pyi1yHAhsA3C9Jpqd75BLjucJdUtnKDpRTt\
        42hlWZYKMveJeFKpyulZmEnHeJ6n51tOJ2pRmYpRhIEnk98BiL07mQY-uj6nQVkVfQkenuzqeNCL-tNh9SScp5EuLM6bFpYs\
        HUpELPcEK-2npLxTjrcEgz0R3n0NbB5iuoQnOzs0CgiT2rWhS6QzvA
        """

    // MARK: RFC 8037, appendix A

    static let ed25519 = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    static let edInput = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
    static let edSignature =
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    static let edThumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"

    // MARK: RFC 7638, section 3.1

    static let thumbprint = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"
    static let thumbprintModulus = """
        0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWK\
        RXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMic\
        AtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3\
        XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw
        """

    // MARK: Private keys

    /// RFC 7515, appendix A.2, as PKCS#8.
    static let rsaPEM = """
        -----BEGIN PRIVATE KEY-----
        MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQCh+BYK4uPJtGXO
        jS1lYmM2K5J9vinh8CR3/BYlzJChNuOL2TSXxbbqY913EeZ8dCn5VrD7io8ImtxL
        aYk8wTM/U+3QGbh3hCUv7JFP5IV3aVlL6kKA0ywPVb9ilE8TA5a8bpvfbr3SvaNn
        juygxmj3AbONv/s4yDQs4v5tJ/reSlpIdJed1LnPmt7Ex1sFhSwsD174pcF1A5L5
        ROjtZMEQxrZHYJqkeDrrnGya11UxMFBji4NmXG9veoKjlnAqH2QbgtPr8jkiGUkf
        toaHLFcW9Qr4NY2ai50Xw0Byj3+H2JoY2PyrZ62EWQwuz3WTOTY8BwNNb2BvniHg
        VFbK5emhAgMBAAECggEAEq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyW
        PEAeP88vLNO97IjlA7/GQ5sLKMgvfTeXZx9SE+7YwVol2NXOoAJe46sui395IW/G
        O+pWJ1O0BkTGoVEn2bKVRUCgu+GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzj
        kn439X0M/V51gfpRLI9JYanrC4D4qAdGcopV/0ZHHzQlBjudU2QvXt4ehNYTCBr6
        XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl/x/jTj3ccPDVZFD9pIuhLhBOneufuBiB
        4cS98l2SR/RQyGWSeWjnczT0QU91p1DhOVRuOopznQKBgQDgHMQQ60imZV1URk0K
        pLttoLhyt3SmqdEf/kgHePDdtzEafpAu+cS191R2JiuoF2yzWXnwFDcqGigp5BNr
        0AHQfD8/Lk8l1Mk09jxxCfui5nYooNyac8YFjm3vItzVCVDnEd3BbVWG8qf6deqE
        lMGAg+C2V0L4oNXnP7LZcPAZRwKBgQC5A8R+CZW2MvRTLLHzwZkUXV866cff7tx6
        kqa0finGG0KgeqlaZPxgCZnFp7AeAcCMtiynVlJ7vMVgePsLq6XtON4tB5kP9jAP
        rq3rbAOal78eUH5OcED6eNuCV8ixEu1eWcPNCS/l1OW1EnXUEoEHKl54Xrrz2uNw
        kgMTP1FZ1wKBgAcCn1dwJKufzBWQxWQp1vsM5fggqPN1qGb5y0MAk3g7/Ls5bkUp
        5u9SN0Ai3Ya6hNnvWJMb7sXQX6U/zyO2M/hTip7tUeh7CXgwo59dkpN75gJLVds2
        9+DAncu3KXU4f2Fa+7bLNrur53k8KwPOq2bbuTG69QtV7Jr5MR0AHWKNAoGBAIf/
        evpitUf+4JYbLpvNXWcY052Mpz22aR84mY3nh3F2LF2mjMJDpTg7FmuyPcVw6EcG
        yoAe9fa65iNqCq+jdw6PVNGo2hxfjSiZ8IIzHdsPXI89//pMjZcQK9r+CCoRjaZj
        OYiIDktVWZzmevJuv6WywUqd57LE3Zar3dLSIkx1AoGAIYd7DHOhrWvxkwPQsRM2
        tOgrjbcrfvtQJipd+DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd/QJQ3
        ydy5cY7YIBi87w93IKLEdfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp/gh6A56
        03k2+ZQwVK0JKSHuLFkuQ3U=
        -----END PRIVATE KEY-----
        """
    /// RFC 7515, appendix A.3, as PKCS#8.
    static let p256PEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
        H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
        7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
        -----END PRIVATE KEY-----
        """
    /// The same in the form of RFC 5915.
    static let p256TraditionalPEM = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
        AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b
        focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
        -----END EC PRIVATE KEY-----
        """
    /// The same, encrypted with the password `secret`.
    static let p256EncryptedPEM = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIH0MF8GCSqGSIb3DQEFDTBSMDEGCSqGSIb3DQEFDDAkBBA5j/XU7vTUyxTF3ysW
        fZ2/AgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQlku0DUlLZWlaLPYP
        OAs5TASBkOjZwqi8s1y68fmaCTlCvkcQgySXzQLIPSQq43sti8IxzdKyHq9/qmiN
        WKi5fuechfYNthtXTer5q4MYEzAm44imSV712+RMNyvOYYtSGNdvPrch/EFPPwRn
        2dIIMrpx2OxezwnwDOfJnYab+w7yRYDE5OJwRPBwQBVMm8KgRvuX3zeaehVMi9x2
        vRPa+vhgCQ==
        -----END ENCRYPTED PRIVATE KEY-----
        """
    /// RFC 8037, appendix A.1, as PKCS#8.
    static let ed25519PEM = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
        -----END PRIVATE KEY-----
        """
    /// A key on another curve.
    static let p384PEM = """
        -----BEGIN PRIVATE KEY-----
        MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDC+Ylt9lJJ4iFD8zmU8
        99XvG3fLOnpE9tvb/IaT98kBHBTO4Kzk+RNIYT9KFJm29DqhZANiAASngZ8o0VR5
        Y1Fhhz/608+Yzi10oH1aSNjksXJ8DeOoD77RucA6QmpUu5C7/15ZiKeCAapeya/S
        YM4g5EEsdDycb6VsEpxwV9UCJ/9eWwvs3tkhWu4aJ+nigiqfJshrtIE=
        -----END PRIVATE KEY-----
        """
    /// A key that is too small.
    static let rsa1024PEM = """
        -----BEGIN PRIVATE KEY-----
        MIICdgIBADANBgkqhkiG9w0BAQEFAASCAmAwggJcAgEAAoGBAKUD3OFmvsdjXtHQ
        s91UaNbir5++eJF16oJzk6/LyDaDMjQ7QtUwEjxUTBPgvvoN6Hpdmj5qMmIBZNiY
        glKaeULe8LA5tjlhXnqnCaXNFk20ar/PO5jLQkdMLj9J2/5kdlmooO8GSkzZMIvN
        Qn39Mio9Bs8GsjsfBBfL1/S1EXKnAgMBAAECgYBE6ioTEH/YcY2l/o0/gAMQyzch
        dcCQrzgzJuWk42xIJ96NpboxopPbEjF7k77uW2Sdxf2m118XQxHEy1yR9uVw9hHw
        M2qB90O+UPXToa2eoxacBbzlT+98TfyTbzZ95y6d6ttg2dldrbleUYcjDqhwd4+Y
        3uD2xSf78T7EIHy5YQJBANjokRjI+jh+SssnbBJ1/xLwOuj4E+n40BeXqGyqbXhH
        eeDh3S+sr5qCALkV+uquPwYRbkznDFbL/KlVexC5cu8CQQDCwRvXoKrpcb89EC6f
        NZU92q3wQ2DX44fz6UcoOf4Kk5SMFDAAKTniQuev1jG4HGeThKqcyAGCz4HNzKvl
        GRvJAkBB8wQauxCJGKz487WCL2osgeoHZ1X2r3XllnDZCUBbb6/41fOASUri+V/q
        5mnx7KSw3Z/hteYkhcT+X0UZoqj1AkEAuHLWILlNRXzyRy3tSeIgr41N0VCvBqi6
        2Pol52ZNQM0XEjgIYg6pgK4m6fTt79YPDrrGL2iJbc+Du1rNrlPCaQJAa1HFVppR
        AvKpqiz4zXt1FvcjlD4c91p9f/sDZiP+5bLoejw2emagzXj3A8fAeL/5nig0mgxd
        Qf6WpM3HNdI3XA==
        -----END PRIVATE KEY-----
        """

    // MARK: Sizes of RSA keys

    static let modulus1024 = """
        pQPc4Wa-x2Ne0dCz3VRo1uKvn754kXXqgnOTr8vINoMyNDtC1TASPFRME-C--g3oel2aPmoyYgFk2JiCUpp5Qt7wsDm2OWFe\
        eqcJpc0WTbRqv887mMtCR0wuP0nb_mR2Waig7wZKTNkwi81Cff0yKj0GzwayOx8EF8vX9LURcqc
        """
    static let modulus4096 = """
        pW8U2VEMgytv-Gs8hSHIWTrcR3oYVTuZkx12stk8K9n8jvx8zyiuM3cMvrANt4KuRY-pHYD6W9lAe5t-rGysSFh4QmTVqyEQ\
        zZvFF-50XdiLgz01zxq7jtjcVmP2DYitgqjQT8dhlNK4yZJ_3GKAsnFx1OvI17ra6R-7d6sceNA4PxPsQoNsQf63xGnmjrgy\
        UIPDKm5MQcMSdUjssawbt7Ng9uTQPONNxzfig65SSOsjWVXcLLhxqnWZ1bKPLaAvK6gmWNkGXya0xghfUPnlcB_m-hxCsQJ_\
        cbduL7R0SqVloDsIMuqbzO1Tv32gZr6mHqFAGD3hPIMSMhIbK6pMIAZ2t8V2kqX0hSDHedO-clfR51S-eBKPrRqa0mwi-7JP\
        riF-TlnfqwqdzjCRgDwLonrFuWPLirQTlqTp7I1g8SxVDliT12YL_nJtRGNSwd2gjuvDjqXE9riFgMPVxjvqOTJ9m7VnAiCQ\
        j1aAjEcg0f1iWLIyctEEtru7yHl3Tp0Kn-ho1UIDBwzJeD-gzyfqhVjIhWIT8ILqGAh_c9l4ykjtRulWEZUUX2YwINKEccWP\
        WjonUt8LVeYFX_vSY_bckBhUMjebYjpYap9ZqjkUfZ_krIq3NiXBBZIVwKuhdXyHCN7_OzlxwUzzBvORo1f3bUmdiCqa_ZdZ\
        _JETheK186c
        """
    static let modulus4104 = """
        mZAOlXmh3cwRutyUcORZigw3U5SgbFTCFfj6faqwNQ8VpzUGBeM6Ql61OzWKjQHxKi8gEsJKXUah-wqVthnQHrGig3teqKd0\
        xz9rkTk24hilC8lsYrFs8wYaN-9uRGDdxAcSvy9UujMZnMlSw6BPeoRKehbNiUyekrNJZT-fIYKb8s0ua0EbsoqHSi2JFcez\
        vaKJEZSQalD7-uBTiAWKMMbzFpzIb2JqK2QSXunttsQjWJAs4afPLsODcRLW6HOX2l4OKnt1wdbvwNpyvkI-2Nse1V39w6hH\
        PW0sYjJ9pnkTyla6uZ-AenOAhmAvTliLTLOr9qpD3XSBfDY40Tb43UFlzHRsPT-_-mkJpyN5ixFHTMVv_e5bJT1G9EbgCtLh\
        RHln9DIKYe4J5Vlof58TCsVwX2vNVHPgLw2ijqZslxc_TsKfqwi1QyIH-k-eQwo6QHvDdXJVhm9r-aKI_pf0hzuDK34vakAQ\
        -W25E8VwFOGKjw1zV4Yn8lDYcRNDIqYjK7jGBkh5_enwuF8TvFvmaZ5ZEm5HmSZUrli7kbCgew8yCr0Bk0tfU433TQ52Vg9j\
        FYQckl8kJT7Q4MXoIfI3WsUuPmQspAXq88f5z3SVlweg_50IDfvTZYKqi7c2yEm5pilecHVahUvcTPtMGBwt7IJOJC81hGRt\
        ddZ88_CPvsIf
        """
}

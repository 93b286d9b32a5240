/// Which fault of the matrix is proven by which tests.
///
/// A row either names its tests, or says why there is none yet. `FaultMatrixTests` compares the table with
/// the tests themselves.
struct FaultRow: Sendable {
    enum Proof: Sendable {
        /// Names of the tests. `except` says which part of the row they leave out, and why.
        case tests([String], except: String? = nil)
        /// Tests of other targets, each as `FILE: FUNCTION` beneath `Tests`.
        case elsewhere([String], except: String? = nil)
        /// Why there is no test.
        case none(because: String)
    }

    let number: Int
    let title: String
    let proof: Proof

    init(_ number: Int, _ title: String, _ tests: String..., except: String? = nil) {
        self.number = number
        self.title = title
        proof = .tests(tests, except: except)
    }

    init(_ number: Int, _ title: String, elsewhere places: String..., except: String? = nil) {
        self.number = number
        self.title = title
        proof = .elsewhere(places, except: except)
    }

    init(_ number: Int, _ title: String, because reason: String) {
        self.number = number
        self.title = title
        proof = .none(because: reason)
    }

    var tests: [String] { if case .tests(let names, _) = proof { names } else { [] } }
}

enum FaultMatrix {
    static let rows: [FaultRow] = json + messages + http + system

    private static let json: [FaultRow] = [
        FaultRow(1, "truncated JSON line", "fault 1: a truncated line"),
        FaultRow(2, "a line that is not JSON", "fault 2: a line of text that is not JSON"),
        FaultRow(3, "empty line", "fault 3: an empty line, or one of white space, is nothing"),
        FaultRow(4, "empty HTTP body", "fault 4: an empty HTTP body"),
        FaultRow(5, "two documents, trailing junk", "fault 5: two documents, or junk behind one"),
        FaultRow(6, "extensions of the JSON grammar", "fault 6: extensions of the grammar"),
        FaultRow(7, "byte order mark", "fault 7: a byte order mark"),
        FaultRow(8, "UTF-16, UTF-32", "fault 8: UTF-16 and UTF-32"),
        FaultRow(9, "invalid UTF-8", "fault 9: invalid UTF-8, also in what is ignored"),
        FaultRow(10, "lone surrogate escape", "fault 10: an escape of half a surrogate pair"),
        FaultRow(11, "control characters and NUL", "fault 11: control characters"),
        FaultRow(12, "depth", "fault 12: nesting"),
        FaultRow(
            13, "huge numbers", "fault 13: numbers without end and out of range",
            "fault 13: a number that is passed through keeps its text"),
        FaultRow(14, "numeric ids", "fault 14: the spelling of a numeric id"),
        FaultRow(15, "ids of other types", "fault 15: an id of another type"),
        FaultRow(16, "length of string ids", "fault 16: the length of a textual id"),
        FaultRow(
            17, "duplicate envelope members",
            "fault 17: a member of the envelope twice, also in escaped spelling"),
        FaultRow(
            18, "duplicate keys in arguments", "fault 18: a key of the arguments twice",
            "fault 18: of keys that no schema lists the last wins"),
        FaultRow(19, "look-alike keys", "fault 19: keys that only look alike"),
        FaultRow(20, "10^6 members or elements", "fault 20: very many members and elements"),
        FaultRow(21, "4 MiB string of escapes", "fault 21: a long string of escapes"),
        FaultRow(22, "a result that is too deep", "fault 22: a handler returns a value that is too deep"),
    ]

    private static let messages: [FaultRow] = [
        FaultRow(23, "jsonrpc missing or wrong", "fault 23: the wrong version of JSON-RPC"),
        FaultRow(24, "batches", "fault 24: a batch where there are none", "fault 24: batches of 2025-03-26"),
        FaultRow(25, "params of another type", "fault 25: params of another type, or none"),
        FaultRow(26, "unknown method, unknown notification", "fault 26: unknown methods and notifications"),
        FaultRow(
            27, "stray responses", "fault 27: a response without a matching request",
            "fault 27: a response that nobody waits for is refused like any other message"),
        FaultRow(28, "id in flight twice", "fault 28: an id that is in flight"),
        FaultRow(29, "one id on 1,000 connections", "fault 29: one id on a thousand connections"),
        FaultRow(30, "request before initialize", "fault 30: before initialize"),
        FaultRow(
            31, "second initialize, change of era",
            "fault 31: a second initialize, and both eras in one stream"),
        FaultRow(32, "unsupported version", "fault 32: a version that is not served"),
        FaultRow(
            33, "header and body disagree", "fault 33: header and body disagree",
            "fault 33: a mirrored argument and its header disagree"),
        FaultRow(
            34, "required client capability missing", "fault 34: a capability of the client is missing"),
        FaultRow(
            35, "unknown tool, bad arguments, bad output",
            "fault 35: unknown tools and arguments that do not fit",
            "fault 35: a result that does not fit the tool's output schema"),
        FaultRow(
            36, "handler throws or traps", "fault 36: a handler throws",
            except: "a trap ends the process; restarting it is the supervisor's work"),
        FaultRow(37, "handler never returns", "fault 37: a handler that never returns"),
        FaultRow(
            38, "handler answers twice or never", "fault 38: an exchange ends once, whoever comes first"),
        FaultRow(39, "cancellation", "fault 39: cancelling"),
        FaultRow(
            40, "cancellation races with completion", "fault 40: a cancellation races with the answer",
            "fault 40: both orders, on two threads",
            except: "20,000 races here; a million seeds are a campaign for releases"),
        FaultRow(41, "progress after completion", "fault 41: progress after the end"),
        FaultRow(
            42, "garbage cursors", "fault 42: cursors that were not given out",
            except: "cursors do not expire; one of a list that has changed is row 47"),
        FaultRow(
            43, "hostile resource addresses", "fault 43: addresses that lead elsewhere",
            except: "directories of files are the rows 96 to 99"),
        FaultRow(44, "URI templates", "fault 44: templates with much repetition are matched in linear time"),
        FaultRow(
            45, "requestState tampered with",
            "fault 45: requestState that was tampered with, or comes from elsewhere"),
        FaultRow(46, "10,000 subscriptions", "fault 46: 10,000 subscriptions of one client"),
        FaultRow(
            47, "list changes while a client pages", "fault 47: a list that changes while a client pages"),
    ]

    private static let http: [FaultRow] = [
        FaultRow(48, "Transfer-Encoding", "fault 48: Transfer-Encoding that says two things"),
        FaultRow(49, "Content-Length", "fault 49: Content-Length that says two things"),
        FaultRow(50, "malformed field lines", "fault 50: field lines that are none"),
        FaultRow(51, "malformed chunks", "fault 51: chunks that do not add up"),
        FaultRow(52, "head too large", "fault 52: heads that are too large"),
        FaultRow(
            53, "body too large", "fault 53: bodies that are too large",
            "fault 53: bodies that memory is too short for are refused, small messages are served"),
        FaultRow(54, "Host missing, repeated, bad", "fault 54: the Host field"),
        FaultRow(55, "foreign Host", "fault 55: a foreign Host, as DNS rebinding brings it"),
        FaultRow(56, "foreign Origin", "fault 56: a foreign Origin"),
        FaultRow(
            57, "cross-site content types", "fault 57: the types that a web page can send without asking"),
        FaultRow(58, "Accept", "fault 58: what the client accepts"),
        FaultRow(
            59, "other methods", "fault 59: other methods",
            "fault 59: HEAD is answered by a head alone, whatever is wrong with it"),
        FaultRow(60, "foreign preflight", "fault 60: a preflight from a foreign origin"),
        FaultRow(61, "other protocols", "fault 61: other protocols on the port"),
        FaultRow(
            62, "slow senders", "fault 62: clients that send slowly",
            except: "200 slow clients; 10,000 and the p99 of the others are measured by the benchmarks"),
        FaultRow(
            63, "clients that do not read", "fault 63: a client that does not read",
            "fault 63: what stands behind a request that is being served stays in the socket",
            "fault 63: answers that nobody reads are cut off when memory is used up"),
        FaultRow(
            64, "pipelining", "fault 64: pipelined requests",
            "fault 64: all that was pipelined is answered after a half-close"),
        FaultRow(65, "half-close", "fault 65: the client closes its side behind the request"),
        FaultRow(
            66, "reset or end at any point", "fault 66: the client goes away at any point",
            "fault 66: the call of a client that went away is cancelled, unless it is of a session"),
        FaultRow(
            67, "Expect", "fault 67: expectations", "fault 67: no 100 Continue before a refusal"),
        FaultRow(
            68, "malicious server", "fault 68: heads, bodies and streams without end",
            "fault 68: redirects, codings and nonsense"),
        FaultRow(69, "event stream edge cases", "fault 69: event streams as the WHATWG rules have them"),
        FaultRow(
            70, "sessions", "fault 70: sessions that are unknown, ended or somebody else's",
            "fault 70: expiry, other principals, and any number of sessions",
            except: "session ids carry their state, so there is no table that 100,000 sessions could fill"),
        FaultRow(
            71, "Last-Event-ID", "fault 71: Last-Event-ID opens nobody's stream"),
    ]
}

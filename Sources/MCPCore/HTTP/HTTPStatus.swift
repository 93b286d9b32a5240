/// Status lines as constants, so that writing a head requires no formatting.
enum HTTPStatus {
    /// Writes the status line of `status` with its line ending, and without a reason phrase if none is listed
    /// here.
    static func writeLine(_ status: Int, to buffer: inout ByteBuffer) {
        switch status {
        case 200: buffer.append("HTTP/1.1 200 OK\r\n")
        case 202: buffer.append("HTTP/1.1 202 Accepted\r\n")
        default:
            buffer.append("HTTP/1.1 ")
            // Always three digits, whatever the caller passes (RFC 9110, section 15).
            buffer.append(decimal: (100 ... 999).contains(status) ? status : 500)
            buffer.append(0x20)
            buffer.append(reason(status))
            buffer.append("\r\n")
        }
    }

    /// Returns the reason phrase for a status, or an empty string.
    static func reason(_ status: Int) -> StaticString {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 426: "Upgrade Required"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}

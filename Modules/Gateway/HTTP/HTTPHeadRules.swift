import NIOHTTP1

/// The rules for a request's head beyond the parser's own, so that no proxy on the way can have
/// understood it otherwise. Source: RFC 9112, sections 2.3, 3.2, 6.1.
enum HTTPHeadRules {
  private static let methods = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"]

  /// The rejection of a method that no path takes.
  static func unknownMethod(_ name: String) -> RESTError {
    .notAllowed(
      "The method \(name) is not supported.", allowing: methods.joined(separator: ", "))
  }

  /// Returns the reason to reject a head, and close the connection; `nil` when it has one meaning.
  ///
  /// - Parameter minor: The version behind `HTTP/1.`; `nil` for any other.
  static func objection(to request: HTTPRequest, minor: Int?) -> RESTError? {
    guard let minor, minor <= 1 else {
      return RESTError(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.")
    }
    guard methods.contains(request.method) else {
      return unknownMethod(request.method)
    }
    let isPath = request.target.hasPrefix("/") && !request.target.contains("#")
    guard isPath || (request.target == "*" && request.method == "OPTIONS") else {
      return .invalid("The address is malformed.")
    }
    let hosts = request.headers.list("host")
    guard hosts.count == 1 || (hosts.isEmpty && minor == 0), hosts.allSatisfy(isHost) else {
      return .invalid("One Host field is needed.")
    }
    if request.headers["transfer-encoding"] != nil {
      let codings = request.headers.list("transfer-encoding")
      guard minor == 1, codings.count == 1, codings[0].lowercased() == "chunked" else {
        return .invalid("A body may be chunked, and coded in no other way.")
      }
    }
    return nil
  }

  /// Returns the target of a request without the address of this server, which proxies may put
  /// before it. One that names another host than the Host field stays as it is, and is malformed.
  /// Source: RFC 9112, section 3.2.2.
  static func originForm(of head: HTTPRequestHead) -> String {
    let target = head.uri
    let scheme = "http://"
    guard target.lowercased().hasPrefix(scheme) else { return target }
    let rest = target.dropFirst(scheme.count)
    let host = rest.prefix { $0 != "/" && $0 != "?" }
    guard !host.isEmpty, head.headers["host"].map({ $0.lowercased() }) == [host.lowercased()]
    else { return target }
    let path = rest.dropFirst(host.count)
    return path.hasPrefix("/") ? String(path) : "/\(path)"
  }

  /// Returns true when a text may be a host with a port.
  private static func isHost(_ text: Substring) -> Bool {
    text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"),
        UInt8(ascii: "%"), UInt8(ascii: "~"):
        true
      default: false
      }
    }
  }
}

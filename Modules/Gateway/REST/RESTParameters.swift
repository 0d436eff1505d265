import TernCore
import TernQuery
import TernSecurity
import TernServer

/// The parameters behind the `?`, which control reading, writing and the form of the answer.
///
/// Source: realtime reference, sections 3.5 and 11.2.
struct RESTParameters: Equatable, Sendable {
  /// The print style of an answer.
  ///
  /// `silent` sends no body.
  enum Print: Equatable, Sendable { case plain, pretty, silent }

  var print = Print.plain
  /// `export` includes priorities.
  var form = TreeNode.JSONForm.value
  /// True to read the names of children alone.
  var isShallow = false
  /// The name of the function that an answer is wrapped into.
  var callback: String?
  /// The name of the file that an answer is to be saved as.
  var download: String?

  /// The time limit of a read in milliseconds.
  var timeoutMilliseconds: Int?
  /// The limit on the size of a write's change.
  var sizeLimit: WriteSizeLimit?

  /// - Throws: 400 for a parameter with a value that it does not take. Unknown parameters are
  ///   ignored.
  init(_ target: RequestTarget) throws(RESTError) {
    switch target["print"] {
    case nil: break
    case "pretty": print = .pretty
    case "silent": print = .silent
    case .some: throw .invalid("Invalid print parameter: it is \"pretty\" or \"silent\".")
    }
    switch target["format"] {
    case nil: break
    case "export": form = .export
    case .some: throw .invalid("Invalid format parameter: it is \"export\".")
    }
    switch target["shallow"] {
    case nil, "false": break
    case "true": isShallow = true
    case .some: throw .invalid("Invalid shallow parameter: it is \"true\" or \"false\".")
    }
    callback = try target["callback"].map { name throws(RESTError) in
      guard Self.isFunction(name) else { throw .invalid("Invalid callback: no function's name.") }
      return name
    }
    download = target["download"]
    timeoutMilliseconds = try target["timeout"].map(Self.timeout)
    sizeLimit = try target["writeSizeLimit"].map(Self.sizeLimit)
  }

  /// Returns true when a script may use the name for a function, so that a callback brings no
  /// script of its own.
  private static func isFunction(_ name: String) -> Bool {
    let isLetter: (UInt8) -> Bool = { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    let first = name.utf8.first ?? UInt8(ascii: "0")
    return name.utf8.count <= 128 && name.utf8.allSatisfy(isLetter)
      && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
  }

  /// Reads a time: a decimal number and its unit, up to a quarter of an hour.
  ///
  /// Returns milliseconds, rounded up, so that no time above zero becomes none.
  private static func timeout(_ text: String) throws(RESTError) -> Int {
    let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    let units = ["ms": 1.0, "s": 1_000, "min": 60_000]
    guard let unit = units[String(text.dropFirst(number.count))], parts.count <= 2,
      number.utf8.count <= 20, parts.allSatisfy({ !$0.isEmpty }), let count = Double(number),
      count > 0, count * unit <= 15 * 60_000
    else { throw .invalid("Invalid timeout: it is up to 15min, in ms, s or min.") }
    return Int((count * unit).rounded(.up))
  }

  private static func sizeLimit(_ text: String) throws(RESTError) -> WriteSizeLimit {
    guard let limit = WriteSizeLimit(rawValue: text) else {
      throw .invalid(
        "Invalid writeSizeLimit: it is tiny, small, medium, large or unlimited.")
    }
    return limit
  }
}

extension Credential {
  /// Returns the credential of a request; `nil` when it has none.
  ///
  /// A service's token counts more than a user's, and one in the address more than one in the
  /// header.
  ///
  /// - Parameter isLocal: True for a request of this machine, which the server may believe more.
  /// - Throws: 400 for an `auth_variable_override` that is neither an object nor `null`. The
  ///   token itself is not looked at here.
  static func shown(
    by request: HTTPRequest, _ target: RequestTarget, isLocal: Bool
  ) throws(RESTError) -> Credential? {
    var credential: Credential?
    if let token = target["auth"] { credential = Credential(.user, token: token) }
    if let token = target["access_token"] ?? bearer(request.headers["authorization"]) {
      credential = Credential(.service, token: token)
    }
    guard credential != nil else { return nil }
    credential?.isLocal = isLocal
    if let text = target["auth_variable_override"] {
      do throws(JSONError) { credential?.override = try JSONValue(parsing: text) } catch {
        throw .invalid("Invalid auth_variable_override: no JSON.")
      }
      switch credential?.override {
      case .object, .null, nil: break
      default: throw .invalid("Invalid auth_variable_override: it is an object or null.")
      }
    }
    return credential
  }

  /// Returns the token of an `Authorization` header of the scheme `Bearer`; `nil` for other
  /// schemes.
  private static func bearer(_ header: String?) -> String? {
    let words = header?.split(separator: " ") ?? []
    guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
    return String(words[1])
  }
}

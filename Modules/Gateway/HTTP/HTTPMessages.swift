/// A request as it came, whole.
///
/// Requests over HTTP/1.1 and over streams of HTTP/2 have the same form here.
struct HTTPRequest: Equatable, Sendable {
  var method: String
  /// The target as it stood in the first line: a path, and a query behind `?`.
  var target: String
  var headers: HTTPFields = []
  var body: [UInt8] = []
  /// The address of the other end, in the form of links: `127.0.0.1:50412`.
  var peer = ""
  /// True for HTTP/1.0, which knows no chunks.
  var isOld = false
  /// True when the connection may be used for another request.
  var isKeepAlive = true
}

/// An answer, whole.
///
/// The handler adds the fields about length, connection and origins.
struct HTTPResponse: Equatable, Sendable {
  var status: Int
  var headers: HTTPFields = []
  var body: [UInt8] = []
  /// True when the connection ends behind it.
  var isLast = false
  /// The host where the same address is to be asked for.
  var otherHost: String?
  /// True when no page of another origin may read it.
  var isPrivate = false
  /// True for the outcome of a write that is decided: it is sent even to an address that may hold
  /// no more answers, because a client that is told otherwise makes its write again.
  var isOutcome = false
}

/// Header fields, in order.
struct HTTPFields: Equatable, Sendable, ExpressibleByArrayLiteral {
  private(set) var all: [(name: String, value: String)]

  init(_ fields: [(name: String, value: String)]) { all = fields }

  init(arrayLiteral fields: (String, String)...) {
    all = fields.map { (name: $0.0, value: $0.1) }
  }

  /// The value of the first field of that name, whatever its case.
  subscript(name: String) -> String? {
    all.first { $0.name.lowercased() == name.lowercased() }?.value
  }

  /// The values of all fields of that name, cut at commas, without the space around them.
  ///
  /// O(*n*) in the fields. Not for fields whose values hold commas, such as dates.
  func list(_ name: String) -> [Substring] {
    all.filter { $0.name.lowercased() == name.lowercased() }
      .flatMap { $0.value.split(separator: ",") }
      .map { $0.trimmed }
  }

  mutating func append(_ name: String, _ value: String) { all.append((name, value)) }

  static func == (left: HTTPFields, right: HTTPFields) -> Bool {
    left.all.elementsEqual(right.all) { $0.name == $1.name && $0.value == $1.value }
  }
}

extension Substring {
  /// Without the spaces and tabs at its ends.
  var trimmed: Substring {
    let space: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = firstIndex(where: { !space($0) }),
      let last = lastIndex(where: { !space($0) })
    else { return "" }
    return self[first...last]
  }
}

/// The body of a client's request: numbered messages, and in a handshake header fields.
///
/// Source: firestore-server reference, sections 4.2 and 4.4.
struct WebChannelForm: Equatable, Sendable {
  /// One message of the client.
  struct Map: Equatable, Sendable {
    /// Counts the messages of the session, from 0.
    let id: Int
    /// The message in JSON; `nil` for one that the client could not encode.
    let json: [UInt8]?
  }

  /// The header fields that the client could not send as such.
  private(set) var headers: HTTPFields = []
  /// In the order of their ids.
  private(set) var maps: [Map] = []

  /// A name is read up to this many bytes, so that a long one costs no copy.
  private static let longestName = 64
  /// The member of a message that carries its JSON.
  private static let messageName = "__data__"
  /// The gap that a client leaves before its first message when it sends some out of order.
  private static let longestGap = 1_000

  /// - Parameters:
  ///   - body: The form: `count`, `ofs`, `headers` and `req<i>___data__`, in any order.
  ///   - all: The limits of the gateway.
  /// - Throws: 413 or 431 for what is too large, 400 for what breaks the format.
  /// - Complexity: O(*n*) in the bytes of the body.
  init(_ body: [UInt8], limits all: GatewayLimits) throws(WebChannelError) {
    let limits = all.webChannel
    guard body.count <= limits.formBytes else {
      throw .tooLarge(limitBytes: limits.formBytes)
    }
    var offset = 0
    var count: Int?
    var found: [Int: [UInt8]?] = [:]
    var rest = body[...]
    while let field = Self.nextField(&rest) {
      let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
      let value = field[equals...].dropFirst()
      // A longer name is none of these.
      let name = String(decoding: field[..<equals].prefix(Self.longestName), as: UTF8.self)
      switch name {
      case "count": count = try WebChannelRequest.number(Self.text(value), name)
      case "ofs": offset = try WebChannelRequest.number(Self.text(value), name)
      case "headers": headers = try Self.headers(Self.text(value), all)
      // Fields that are not known pass, as clients of other versions may send them.
      default:
        guard let (index, member) = try Self.place(name) else { continue }
        guard found.count < limits.maps || found[index] != nil else {
          throw .invalid("A request has at most \(limits.maps) messages.")
        }
        let json = member == Self.messageName ? try Self.bytes(value) : nil
        found[index] = .some(json ?? found[index] ?? nil)
      }
    }
    guard count ?? found.count == found.count else { throw .invalid("count is wrong.") }
    maps = found.map { Map(id: offset + $0.key, json: $0.value) }.sorted { $0.id < $1.id }
  }

  /// Removes and returns the next field; `nil` at the end. No list of all of them is made: a body
  /// of separators alone would need many times its size.
  private static func nextField(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    if rest.isEmpty { return nil }
    let end = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
    defer { rest = rest[end...].dropFirst() }
    return rest[..<end]
  }

  /// Returns the number and the member of a field named `req<number>_<member>`; `nil` for others.
  private static func place(_ name: String) throws(WebChannelError) -> (Int, Substring)? {
    guard name.hasPrefix("req"), let line = name.firstIndex(of: "_") else { return nil }
    let index = try WebChannelRequest.number(name[..<line].dropFirst(3), "The number of a message")
    guard index < 2 * longestGap else { throw .invalid("A message is too far ahead.") }
    return (index, name[line...].dropFirst())
  }

  /// Returns the value of a field, its escapes resolved.
  private static func bytes(_ value: ArraySlice<UInt8>) throws(WebChannelError) -> [UInt8] {
    guard let bytes = RequestTarget.unescaped(value, plusIsSpace: true) else {
      throw .invalid("The form has a malformed escape.")
    }
    return bytes
  }

  /// Returns the value of a field as text.
  private static func text(_ value: ArraySlice<UInt8>) throws(WebChannelError) -> String {
    guard let text = String(validating: try bytes(value), as: UTF8.self) else {
      throw .invalid("The form is not UTF-8.")
    }
    return text
  }

  /// Reads header fields, each a line of `Name:Value`.
  static func headers(
    _ text: String, _ limits: GatewayLimits
  ) throws(WebChannelError) -> HTTPFields {
    guard text.utf8.count <= limits.headBytes else {
      throw WebChannelError(431, "The header fields are longer than \(limits.headBytes) bytes.")
    }
    let lines = text.split { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }
    guard lines.count <= limits.headFields else {
      throw WebChannelError(431, "There are more than \(limits.headFields) header fields.")
    }
    var fields: [(name: String, value: String)] = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { throw .invalid("A header has no value.") }
      fields.append(
        (String(line[..<colon].trimmed), String(line[colon...].dropFirst().trimmed)))
    }
    return HTTPFields(fields)
  }
}

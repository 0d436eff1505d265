/// The members of a message's JSON form, as far as finding a fault in a text needs them.
///
/// Shapes come from a table in text, one line a message, which a test compares with the protocol's
/// files.
struct MessageShape {
  /// The package of the messages, which ``named(_:)`` leaves out.
  static let package = "google.firestore.v1."

  /// One member.
  struct Member: Equatable {
    /// The name in the protocol: `read_time`.
    let name: String
    /// The type of the value, or of the elements of a list or map.
    let type: MemberType
    /// The number of values that the member has.
    let count: Count
    /// The choice that the member belongs to.
    ///
    /// At most one member of a choice may be set; `nil` for members of none.
    let choice: String?

    /// The name in JSON: `readTime`.
    var jsonName: String { Self.camelCase(name) }

    /// Returns the JSON spelling of a name of the protocol.
    static func camelCase(_ name: String) -> String {
      let words = name.split(separator: "_")
      return words.dropFirst().reduce(words.first.map(String.init) ?? "") { text, word in
        text + word.prefix(1).uppercased() + word.dropFirst()
      }
    }
  }

  enum Count: Equatable {
    case one
    case list
    /// Values under names.
    case map
  }

  /// The members, in the order of the protocol.
  let members: [Member]

  /// Returns the member of a name in either spelling.
  ///
  /// - Complexity: O(members), which are few.
  func member(_ name: String) -> Member? {
    members.first { $0.jsonName == name || $0.name == name }
  }

  /// Returns the shape of a message; `nil` for messages without one.
  static func named(_ name: String) -> MessageShape? { all[name] }

  /// All shapes by name.
  ///
  /// Made at the first fault, and kept.
  static let all: [String: MessageShape] = {
    var shapes: [String: MessageShape] = [:]
    for line in table.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let members = parts[1].split(separator: ",").compactMap { Member($0) }
      shapes[String(parts[0])] = MessageShape(members: members)
    }
    return shapes
  }()
}

/// The type of one member, or of the elements of a list or map.
enum MemberType: Equatable {
  case bool, int32, int64, double, string, bytes, timestamp, null
  /// One of some names.
  case choice(String)
  case message(String)

  /// Reads the type's word in the table: a scalar, `=` and the name of an enum, or the name of a
  /// message.
  init(_ text: Substring) {
    self =
      switch text {
      case "bool": .bool
      case "int32": .int32
      case "int64": .int64
      case "double": .double
      case "string": .string
      case "bytes": .bytes
      case "timestamp": .timestamp
      case "null": .null
      case let text where text.hasPrefix("="): .choice(String(text.dropFirst()))
      case let text: .message(String(text))
      }
  }

  /// The type in sentences.
  var title: String {
    switch self {
    case .bool: "TYPE_BOOL"
    case .int32: "TYPE_INT32"
    case .int64: "TYPE_INT64"
    case .double: "TYPE_DOUBLE"
    case .string: "TYPE_STRING"
    case .bytes: "TYPE_BYTES"
    case .timestamp: "type.googleapis.com/google.protobuf.Timestamp"
    case .null: "type.googleapis.com/google.protobuf.NullValue"
    case .choice(let name), .message(let name):
      "type.googleapis.com/\(MessageShape.package)\(name)"
    }
  }
}

extension MessageShape.Member {
  /// Reads `name type`, with `*` before the type of a list, `%` before that of a map's values, and
  /// the choice behind an `@`.
  init?(_ text: Substring) {
    let words = text.split(separator: " ")
    guard words.count == 2 || words.count == 3 else { return nil }
    let prefix = words[1].first
    count = prefix == "*" ? .list : prefix == "%" ? .map : .one
    name = String(words[0])
    type = MemberType(count == .one ? words[1] : words[1].dropFirst())
    choice = words.count == 3 ? String(words[2].dropFirst()) : nil
  }
}

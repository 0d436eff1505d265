import TernCore

extension TreeNode {
  /// The value as JSON on several lines, two spaces a level; leaves and empty nodes on one.
  var indentedJSON: String { indented(json: json(.value)) }
}

/// Breaks compact JSON into lines, two spaces a level; what is empty stays on one.
func indented(json: String) -> String {
  var layout = JSONLayout()
  for byte in json.utf8 { layout.append(byte) }
  return String(decoding: layout.bytes, as: UTF8.self)
}

/// Compact JSON on its way to several lines.
private struct JSONLayout {
  private(set) var bytes: [UInt8] = []
  private var depth = 0
  private var isInString = false
  private var isEscaped = false
  /// True when a container has been opened that is still empty.
  private var isFresh = false

  mutating func append(_ byte: UInt8) {
    if isInString { return appendInString(byte) }
    let closes = byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]")
    if closes { depth -= 1 }
    if isFresh != closes { breakLine() }
    isFresh = false
    bytes.append(byte)
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      depth += 1
      isFresh = true
    case UInt8(ascii: ","): breakLine()
    case UInt8(ascii: ":"): bytes.append(UInt8(ascii: " "))
    default: break
    }
  }

  private mutating func appendInString(_ byte: UInt8) {
    bytes.append(byte)
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
    }
  }

  private mutating func breakLine() {
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}

import TernCore

extension TreeNode {
  /// The value as JSON on several lines, two spaces a level; leaves and empty nodes on one.
  var indentedJSON: String {
    var bytes: [UInt8] = []
    Self.indent(jsonBytes(.value), into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Breaks compact JSON into lines.
  private static func indent(_ compact: [UInt8], into bytes: inout [UInt8]) {
    var depth = 0
    var isInString = false
    var isEscaped = false
    func breakLine() {
      bytes.append(UInt8(ascii: "\n"))
      bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }
    for byte in compact {
      if isInString {
        bytes.append(byte)
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""):
        isInString = true
        bytes.append(byte)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        bytes.append(byte)
        depth += 1
        breakLine()
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        breakLine()
        bytes.append(byte)
      case UInt8(ascii: ","):
        bytes.append(byte)
        breakLine()
      case UInt8(ascii: ":"): bytes.append(contentsOf: ": ".utf8)
      default: bytes.append(byte)
      }
    }
  }
}

/// An estimate of the memory that a tree takes that is read from JSON text, without reading it.
///
/// A server reserves this much of its memory budget before it parses a request, so that small texts
/// which become large trees, such as `[0,0,0,…]`, cannot exhaust the memory.
package enum JSONWeight {
  /// The memory of one node with the rows and frames that are made of it, in bytes.
  private static let nodeBytes = 256
  /// The copies of the text's own bytes in keys, strings, rows and frames.
  private static let copies = 2

  /// The bytes of memory that reading `text` takes, about; for text that is not JSON, no less.
  ///
  /// - Complexity: O(*n*), without an allocation.
  package static func bytes(_ text: [UInt8]) -> Int {
    var values = 1
    var isInString = false
    var isEscaped = false
    for byte in text {
      if isInString {
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
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"): values += 1
      default: break
      }
    }
    return values * nodeBytes + text.count * copies
  }
}

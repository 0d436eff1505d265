/// JSON text spread over lines, as the service prints it: two spaces a level, a space on either
/// side of a colon, the elements of an array in one row.
enum PrettyJSON {
  /// Returns the same JSON with line breaks and indentation.
  ///
  /// - Parameter json: JSON without space between its tokens, as our own writer makes it.
  /// - Complexity: O(*n*) times the depth, because each line is indented. The depth of our JSON
  ///   is bounded.
  static func text(of json: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity(json.count * 2)
    /// The closing brackets of the objects and arrays that are open.
    var open: [UInt8] = []
    var depth = 0
    var isInString = false
    var index = 0
    while index < json.count {
      let byte = json[index]
      switch byte {
      // Text in strings is copied as it is; a byte behind a backslash cannot end the string.
      case _ where isInString:
        text.append(byte)
        if byte == UInt8(ascii: "\\"), index + 1 < json.count {
          index += 1
          text.append(json[index])
        }
        if byte == UInt8(ascii: "\"") { isInString = false }
      case UInt8(ascii: "\""):
        text.append(byte)
        isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        // Both brackets close two further in ASCII.
        let end = byte + 2
        text.append(byte)
        // Empty objects and arrays stay in one line, with a space inside.
        if index + 1 < json.count, json[index + 1] == end {
          index += 1
          text.append(contentsOf: [UInt8(ascii: " "), end])
        } else {
          open.append(end)
          if byte == UInt8(ascii: "{") { depth += 1 }
          space(inObject: byte == UInt8(ascii: "{"), depth, &text)
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        _ = open.popLast()
        if byte == UInt8(ascii: "}") { depth -= 1 }
        space(inObject: byte == UInt8(ascii: "}"), depth, &text)
        text.append(byte)
      case UInt8(ascii: ","):
        text.append(byte)
        space(inObject: open.last == UInt8(ascii: "}"), depth, &text)
      case UInt8(ascii: ":"): text.append(contentsOf: " : ".utf8)
      default: text.append(byte)
      }
      index += 1
    }
    return text
  }

  /// Separates two tokens: by a line in an object, by a space in an array.
  private static func space(inObject: Bool, _ depth: Int, _ text: inout [UInt8]) {
    guard inObject else { return text.append(UInt8(ascii: " ")) }
    text.append(UInt8(ascii: "\n"))
    text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}

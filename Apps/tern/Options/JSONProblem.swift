import TernCore

/// Reads JSON that was given to a command.
///
/// - Parameters:
///   - what: The argument or the file, for the message.
///   - hint: What may be meant, behind the message.
/// - Throws: ``Failure`` with ``Outcome/usage``, with line and column, and the place below.
func json(
  _ text: [UInt8], _ what: String, hint: String = ""
) throws(Failure) -> JSONValue {
  do throws(JSONError) { return try JSONValue(parsing: text) } catch {
    throw Failure(notJSON: error, in: text, what, hint: hint)
  }
}

extension Failure {
  /// A text that is not JSON.
  init(notJSON error: JSONError, in text: [UInt8], _ what: String, hint: String = "") {
    let position = TextPosition(ofByte: error.offset, in: text)
    self.init(
      .usage, "\(what): not JSON at \(position): \(error.reason)\(hint)",
      excerpt: Self.excerpt(of: text, at: error.offset))
  }

  /// The most characters that are shown on either side of a place.
  private static let shownCharacters = 40

  /// The line of a text with a mark below a place; `nil` when it has nothing to show.
  static func excerpt(of text: [UInt8], at offset: Int) -> String? {
    let offset = min(offset, text.count)
    let newline = UInt8(ascii: "\n")
    let start = text[..<offset].lastIndex(of: newline).map { $0 + 1 } ?? 0
    let end = text[offset...].firstIndex(of: newline) ?? text.count
    let before = String(decoding: text[start..<offset], as: UTF8.self).suffix(shownCharacters)
    let after = String(decoding: text[offset..<end], as: UTF8.self).prefix(shownCharacters)
    guard !(before + after).isEmpty else { return nil }
    let shown = (before + after).map { $0.isASCII && $0.asciiValue ?? 0 < 32 ? " " : $0 }
    return "  " + String(shown) + "\n  " + String(repeating: " ", count: before.count) + "^"
  }
}

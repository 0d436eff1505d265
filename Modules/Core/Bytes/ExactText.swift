/// A text that equals another only when the UTF-8 bytes are equal: the key of every dictionary and
/// set over names that clients choose.
///
/// `String` compares by canonical equivalence: names whose bytes differ would share an entry there
/// and be two everywhere else.
package struct ExactText: Hashable, Sendable {
  /// The text as it was given.
  package let text: String

  /// Takes a text as it is.
  package init(_ text: String) { self.text = text }

  package static func == (left: ExactText, right: ExactText) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension ExactText: Comparable {
  package static func < (left: ExactText, right: ExactText) -> Bool {
    left.text.compareUTF8(right.text) < 0
  }
}

extension ExactText: ExpressibleByStringLiteral {
  package init(stringLiteral text: String) { self.init(text) }
}

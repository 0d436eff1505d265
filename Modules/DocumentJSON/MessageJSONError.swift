/// The reason a JSON text is no message: the rule it breaks, and the member that breaks it.
///
/// The sentences are those of the service, which issue threads and guides quote. Source: Firestore
/// server reference, sections 3.2 and 8.
///
/// REST answers it as INVALID_ARGUMENT, with the violation among the details.
package struct MessageJSONError: Error, Hashable, Sendable {
  /// One member that breaks a rule.
  package struct Violation: Hashable, Sendable {
    /// The path of the member, in the names of the protocol; empty for the message itself.
    package var field: String
    /// The rule, with the path.
    package var description: String
  }

  /// The rule, in words.
  package let message: String
  /// The member at fault; `nil` when the text is no JSON.
  package let violation: Violation?

  /// Describes a text that is no message at all.
  package init(_ message: String) {
    self.message = message
    violation = nil
  }

  /// Describes a member at fault.
  init(_ message: String, at field: String) {
    self.message = message
    violation = Violation(field: field, description: message)
  }

  /// Describes a text of more bytes than a message may have.
  static func tooLarge(byteCount: Int, limit: Int) -> MessageJSONError {
    MessageJSONError("Request payload size exceeds the limit: \(limit) bytes.")
  }

  /// A member that no message of the type has.
  static func unknown(_ name: String, at path: String) -> MessageJSONError {
    let place = path.isEmpty ? "" : " at '\(path)'"
    return MessageJSONError(
      "Invalid JSON payload received. Unknown name \"\(shown(name))\"\(place): Cannot find field.",
      at: path)
  }

  /// A value that a member cannot have.
  static func value(
    _ text: String, of type: String, at path: String, because reason: String? = nil
  ) -> MessageJSONError {
    let reason = reason.map { "\($0) for " } ?? ""
    return MessageJSONError(
      "Invalid value at '\(path)' (\(type)), \(reason)\(shown(text))", at: path)
  }

  /// A second member of a choice.
  static func choice(_ name: String, of oneof: String, at path: String) -> MessageJSONError {
    MessageJSONError(
      "Invalid value at '\(path)' (oneof), oneof field '\(oneof)' is already set. "
        + "Cannot set '\(name)'", at: path)
  }

  /// A second value under a name of a map.
  static func repeated(_ name: String, at path: String) -> MessageJSONError {
    MessageJSONError(
      "Invalid value at '\(path)' (Map), Repeated map key: '\(shown(name))' is already set.",
      at: path)
  }

  /// The most bytes of a client's text in a sentence.
  ///
  /// A value may be megabytes long, and an answer should not be.
  private static let shownBytes = 200

  /// The beginning of a text, so that a sentence stays one.
  ///
  /// It may cut a character, of which the replacement character is left.
  private static func shown(_ text: String) -> String {
    if text.utf8.count <= shownBytes { return text }
    return String(decoding: text.utf8.prefix(shownBytes), as: UTF8.self) + "…"
  }
}

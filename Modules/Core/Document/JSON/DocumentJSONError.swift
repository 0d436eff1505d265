/// The reason JSON is not a value or the fields of a document. Correct the text.
package enum DocumentJSONError: Error, Hashable, Sendable {
  /// Fields are an object, and this is none.
  case notFields
  /// In the typed form a value is an object with one member, which names its type.
  case untyped(at: [String])
  /// The content under the name of a type is no value of that type.
  case malformed(type: String, at: [String])
}

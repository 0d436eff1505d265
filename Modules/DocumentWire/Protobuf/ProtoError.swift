/// The reason bytes are no protobuf message.
package enum ProtoError: String, Hashable, Sendable {
  /// A length leads beyond the end.
  case truncated = "the message ends too early"
  /// A number has more bytes than its type.
  case overlongNumber = "a number is too long"
  /// A field has another form than its number asks for.
  case wrongForm = "a field has the wrong form"
  /// A field has the number 0, or one above 2²⁹ - 1.
  case fieldNumber = "a field has an impossible number"
  /// A text is not UTF-8.
  case invalidText = "a text is not UTF-8"
  /// Messages lie deeper in messages than ``ProtoReader/depthLimit``.
  case tooDeep = "messages are nested too deeply"
  /// A value has no type, or several.
  ///
  /// The text is the one of the service.
  case untypedValue = "Cannot convert firestore.v1.Value with type unset."
  /// A frame of a link is cut short, or of an unknown kind.
  ///
  /// The borders of calls are lost with it, so the link ends.
  case frame = "a frame is malformed"
}

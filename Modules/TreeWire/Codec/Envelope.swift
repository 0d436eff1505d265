import TernCore

/// The outer layers of a message, with a reader left standing in front of the inner one.
///
/// A frame is `{"t":"c","d":{"t":…,"d":…}}` or `{"t":"d","d":{"r":…,"a":…,"b":…}}`. The envelope
/// reads everything except the innermost value, which its caller reads as what it is. A value of
/// many megabytes is thereby never held as generic JSON.
struct Envelope {
  /// `c` for control, `d` for data.
  ///
  /// Callers reject every other letter.
  var type = ""
  /// The type of a control message.
  ///
  /// It is empty in data messages and in control messages without a type.
  var control = ""
  /// The number of a request or response.
  ///
  /// `nil` in pushes.
  var request: UInt64?
  /// The action of a request or push.
  var action: String?
  /// The text of a fatal error.
  var error: String?
  /// Stands in front of the control's data, or the request's, response's or push's body.
  ///
  /// `nil` when the member is missing. The text of the value was skipped once, so it is sound JSON.
  var body: JSONReader?

  /// - Parameter frame: One whole frame.
  /// - Throws: ``WireError/json(_:)`` for a text that is no JSON object, for a second value behind
  ///   it, and for a member of a wrong type.
  /// - Complexity: O(*n*) in the bytes of the frame, without building a value.
  init(_ frame: [UInt8]) throws(WireError) {
    var reader = JSONReader(frame)
    var inner: JSONReader?
    var envelope = Envelope()
    try reader.members(orThrow: WireError.json) { name, reader throws(WireError) in
      switch name {
      case "t": envelope.type = try reader.wireText()
      // The meaning of `d` depends on `t`. Clients write `t` first; JSON promises no order.
      case "d" where !envelope.type.isEmpty: try envelope.readInner(&reader)
      case "d":
        inner = reader
        try reader.wireSkip()
      default: try reader.wireSkip()
      }
    }
    do throws(JSONError) { try reader.finish() } catch { throw .json(error) }
    if var inner { try envelope.readInner(&inner) }
    self = envelope
  }

  private init() {}

  /// Reads the inner object. The member with the body is `d` in control messages, and `b` in
  /// others.
  private mutating func readInner(_ reader: inout JSONReader) throws(WireError) {
    var result = self
    let bodyName = type == "c" ? "d" : "b"
    try reader.members(orThrow: WireError.json) { name, reader throws(WireError) in
      switch name {
      case bodyName:
        // A copy of the reader stays in front of the value, while the original moves on.
        result.body = reader
        try reader.wireSkip()
      case "t" where result.type == "c": result.control = try reader.wireText()
      case "r": result.request = try reader.wireNumber()
      case "a": result.action = try reader.wireText()
      case "error": result.error = try reader.wireText()
      default: try reader.wireSkip()
      }
    }
    self = result
  }
}

import TernCore

/// The outer layers of a message, with a reader left standing in front of the inner one.
struct Envelope {
  /// `c` for control, `d` for data.
  var type = ""
  /// The type of a control message.
  var control = ""
  /// The number of a request or response.
  var request: UInt64?
  /// The action of a request or push.
  var action: String?
  /// The text of a fatal error.
  var error: String?
  /// Stands in front of the control's data, or the request's, response's or push's body.
  var body: JSONReader?

  init(_ frame: [UInt8]) throws(WireError) {
    var reader = JSONReader(frame)
    var inner: JSONReader?
    var envelope = Envelope()
    try reader.members(orThrow: WireError.json) { name, reader throws(WireError) in
      switch name {
      case "t": envelope.type = try reader.wireText()
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

  private mutating func readInner(_ reader: inout JSONReader) throws(WireError) {
    var result = self
    let bodyName = type == "c" ? "d" : "b"
    try reader.members(orThrow: WireError.json) { name, reader throws(WireError) in
      switch name {
      case bodyName:
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

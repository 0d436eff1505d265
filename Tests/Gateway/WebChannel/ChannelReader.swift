import TernCore
import Testing

/// The client's half of the back channel: takes response bodies apart as a browser does, with
/// lengths in UTF-16 code units, and delivers each array once.
struct ChannelReader {
  /// The highest id received.
  private(set) var lastID = 0
  /// The data of the arrays received, as JSON text.
  private(set) var received: [String] = []

  /// Takes the body of one response, or what came of it before the connection was cut.
  mutating func read(_ body: String) throws {
    var rest = Array(body.utf16)[...]
    while let line = rest.firstIndex(of: 10) {
      let length = try #require(Int(String(decoding: rest[..<line], as: UTF16.self)))
      let payload = rest[(line + 1)...].prefix(length)
      // A chunk that is cut short is an error; the client asks again.
      if payload.count < length { return }
      rest = rest[(line + 1)...].dropFirst(length)
      try take(String(decoding: payload, as: UTF16.self))
    }
  }

  private mutating func take(_ payload: String) throws {
    guard case .array(let arrays) = try JSONValue(parsing: payload) else {
      Issue.record("not an array: \(payload)")
      return
    }
    for array in arrays {
      guard case .array(let parts) = array, parts.count == 2,
        let id = Int(String(decoding: parts[0].bytes, as: UTF8.self))
      else {
        Issue.record("not an array of the protocol: \(payload)")
        continue
      }
      if id <= lastID { continue }
      #expect(id == lastID + 1, "ids have no gaps")
      lastID = id
      received.append(String(decoding: parts[1].bytes, as: UTF8.self))
    }
  }

  /// The data without keep-alives.
  var data: [String] { received.filter { $0 != #"["noop"]"# } }
}

/// A value of a form, escaped as a browser does it.
func escapedForm(_ text: String) -> String {
  var escaped = ""
  for byte in text.utf8 {
    let isPlain =
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
    let hex = String(byte, radix: 16, uppercase: true)
    escaped += isPlain ? String(UnicodeScalar(byte)) : "%" + (hex.count < 2 ? "0" : "") + hex
  }
  return escaped
}

import TernCore
import TernDocumentJSON
import TernDocumentWire

/// Spells the messages of one call as the body of its answer.
///
/// The answer to a method with any number of messages is one array, which grows as they come.
struct DocumentRESTWriter: Sendable {
  let method: DocumentMethod
  let parameters: DocumentRESTParameters
  private var count = 0

  init(_ method: DocumentMethod, _ parameters: DocumentRESTParameters) {
    self.method = method
    self.parameters = parameters
  }

  /// True when no message was written.
  var isEmpty: Bool { count == 0 }

  /// Returns the JSON of a message; of a stream, with what divides it from the one before.
  mutating func write(_ message: [UInt8]) throws(DocumentRESTError) -> [UInt8] {
    var json: [UInt8]
    do throws(MessageJSONError) {
      json = try DocumentJSON.json(.response(method), binary: message, enums: parameters.enums)
    } catch {
      throw DocumentRESTError(.internalError, error.message)
    }
    if parameters.isPretty { json = PrettyJSON.text(of: json) }
    return divided(json)
  }

  /// Returns an error behind messages of a stream, as the array's last element.
  mutating func write(_ error: DocumentRESTError) -> [UInt8] {
    divided(parameters.isPretty ? PrettyJSON.text(of: error.json) : error.json)
  }

  /// Returns the end of the body.
  ///
  /// An array without elements has no beginning yet, and is written whole.
  mutating func finish() -> [UInt8] {
    method.streamsResponses ? Array((isEmpty ? "[]" : "]").utf8) : []
  }

  /// Puts the bracket or the comma before an element of a stream.
  private mutating func divided(_ json: [UInt8]) -> [UInt8] {
    defer { count += 1 }
    guard method.streamsResponses else { return json }
    return Array((isEmpty ? "[" : ",\n").utf8) + json
  }
}

import TernCore
import TernDocumentJSON
import TernDocumentWire

/// A form whose messages are in protobuf.
struct WebChannelUpload: Sendable {
  /// The header fields that the client could not send as such.
  let headers: HTTPFields
  let messages: [WebChannelSession.Incoming]

  /// Reads a form and its messages.
  ///
  /// - Complexity: O(*n*) in the bytes of the body, with a large factor: large ones are read away
  ///   from the event loop.
  init(
    _ body: [UInt8], of method: DocumentMethod, _ limits: GatewayLimits
  ) throws(WebChannelError) {
    let form = try WebChannelForm(body, limits: limits)
    headers = form.headers
    messages = form.maps.map { map in
      WebChannelSession.Incoming(id: map.id, content: Self.content(map.json, method))
    }
  }

  private static func content(
    _ json: [UInt8]?, _ method: DocumentMethod
  ) -> WebChannelSession.Content {
    guard let json else { return .missing }
    do throws(MessageJSONError) {
      return .message(try DocumentJSON.binary(.request(method), json: json, unknown: .skipped))
    } catch {
      return .invalid(DocumentStatus(.invalidArgument, error.message))
    }
  }
}

/// The JSON of the server's newest messages: one commit is told to many listeners, in the same
/// bytes.
struct WebChannelTranslator {
  private var recent: [(binary: [UInt8], json: [UInt8])] = []
  private var next = 0

  /// The number of messages whose JSON is kept.
  private static let keptMessages = 8
  /// The longest message whose JSON is kept.
  private static let keptBytes = 64 << 10

  /// Returns the JSON of a message; `nil` for bytes that are not one.
  mutating func json(_ binary: [UInt8], of method: DocumentMethod) -> [UInt8]? {
    if method == .listen, let known = recent.first(where: { $0.binary == binary }) {
      return known.json
    }
    guard let json = try? DocumentJSON.json(.response(method), binary: binary) else { return nil }
    if method == .listen, json.count <= Self.keptBytes { keep(binary, json) }
    return json
  }

  private mutating func keep(_ binary: [UInt8], _ json: [UInt8]) {
    if recent.count < Self.keptMessages {
      recent.append((binary, json))
    } else {
      recent[next] = (binary, json)
      next = (next + 1) % Self.keptMessages
    }
  }
}

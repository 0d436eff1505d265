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

  /// Converts one message to protobuf. Unknown members are skipped, as newer clients may send them.
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

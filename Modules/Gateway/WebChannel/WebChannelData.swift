import TernDocumentJSON
import TernDocumentWire

/// The data of an array for the client: JSON text, which the sessions that get the same share.
///
/// A message that many listeners get is converted to JSON once; see ``WebChannelMessages``. The
/// length is kept because chunks are framed by it, and computing it takes a look at each byte.
struct WebChannelData: Sendable {
  let text: [UInt8]
  /// The number of UTF-16 code units of the text.
  let lengthInUTF16: Int

  /// - Parameter text: The text of a JSON array.
  init(_ text: [UInt8]) {
    self.text = text
    lengthInUTF16 = WebChannelChunk.lengthInUTF16(text)
  }

  /// The data that carries one message.
  ///
  /// - Parameter json: The JSON of the message.
  init(message json: [UInt8]) {
    var text: [UInt8] = []
    text.reserveCapacity(json.count + 2)
    text.append(UInt8(ascii: "["))
    text += json
    text.append(UInt8(ascii: "]"))
    self.init(text)
  }

  /// A message of the server; `nil` for bytes that are not one.
  init?(_ binary: [UInt8], of method: DocumentMethod) {
    guard let json = try? DocumentJSON.json(.response(method), binary: binary) else { return nil }
    self.init(message: json)
  }
}

/// Messages of listen calls that many sessions are sent alike.
struct WebChannelMessages: Sendable {
  /// The data of all of them; `nil` when one is not a message.
  let data: [WebChannelData]?

  init(_ messages: [[UInt8]]) {
    var data: [WebChannelData] = []
    data.reserveCapacity(messages.count)
    for message in messages {
      guard let next = WebChannelData(message, of: .listen) else { break }
      data.append(next)
    }
    self.data = data.count == messages.count ? data : nil
  }
}

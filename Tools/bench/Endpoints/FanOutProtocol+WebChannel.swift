#if TCP && os(Linux)
  import Foundation
  import NIOCore

  extension FanOutProtocol {
    /// The same as ``documents(payloadBytes:)``, with listeners over WebChannel; the publisher is
    /// the same, so that only the endpoint of the listeners is compared.
    static func webChannel(payloadBytes: Int) throws -> FanOutProtocol {
      let native = try documents(payloadBytes: payloadBytes)
      return FanOutProtocol(
        subscribe: ChannelBytes.handshake, greeting: native.greeting, publish: native.publish,
        take: { ChannelBytes.take(&$0) })
    }
  }

  /// The bytes of a page that listens over WebChannel, as far as this load needs them.
  enum ChannelBytes {
    private static let database = "projects/bench/databases/(default)"
    private static let path = "/google.firestore.v1.Firestore/Listen/channel?VER=8&CVER=22"
    private static let message =
      #"{"database":"\#(database)","addTarget":{"query":{"structuredQuery":{"from":"#
      + #"[{"collectionId":"rooms"}]},"parent":"\#(database)/documents"},"targetId":2}}"#

    /// The request that opens a session, with the target in it.
    static let handshake: [UInt8] = {
      let escaped = message.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      let body = "count=1&ofs=0&req0___data__=\(escaped)"
      return Array(
        ("POST \(path)&RID=1 HTTP/1.1\r\nHost: localhost\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)").utf8)
    }()

    private static let current = Array(#""CURRENT""#.utf8)
    private static let change = Array(#""documentChange""#.utf8)

    /// Counts the names that each change of a document, and the confirmation, has once; asks for
    /// the back channel when the session is there.
    static func take(_ buffer: inout ByteBuffer) -> FanOutProtocol.Taken {
      var taken = FanOutProtocol.Taken()
      var end = 0
      while let found = position(of: change, in: buffer, from: end) {
        taken.messages += 1
        end = found + change.count
      }
      if taken.messages == 0 {
        if let found = position(of: current, in: buffer, from: 0) {
          taken.confirmations = 1
          end = found + current.count
        } else if let match = String(buffer: buffer).firstMatch(of: /\["c","([\w-]+)"/) {
          taken.reply = backChannel(of: match.output.1)
          buffer.clear()
          return taken
        } else if buffer.readableBytes < unfinished {
          // The answer to the handshake may not be whole.
          return taken
        }
      }
      // What is left may be the beginning of a name.
      buffer.moveReaderIndex(forwardBy: max(end, buffer.readableBytes - change.count + 1))
      return taken
    }

    /// More bytes than the answer to the handshake has.
    private static let unfinished = 1_024

    /// Finds a name, which begins with a quote.
    private static func position(
      of name: [UInt8], in buffer: ByteBuffer, from start: Int
    ) -> Int? {
      // Safe: both are only read within the call, and within their bounds.
      unsafe buffer.withUnsafeReadableBytes { (bytes) -> Int? in
        guard let base = bytes.baseAddress else { return nil }
        var index = start
        while bytes.count - index >= name.count,
          let quote = unsafe memchr(base + index, 0x22, bytes.count - index)
        {
          index = unsafe UnsafeRawPointer(quote) - base
          if bytes.count - index < name.count { return nil }
          if unsafe memcmp(quote, name, name.count) == 0 { return index }
          index += 1
        }
        return nil
      }
    }

    private static func backChannel(of session: Substring) -> [UInt8] {
      Array(
        ("GET \(path)&SID=\(session)&RID=rpc&AID=0&CI=0&TYPE=xmlhttp HTTP/1.1\r\n"
          + "Host: localhost\r\n\r\n").utf8)
    }
  }
#endif

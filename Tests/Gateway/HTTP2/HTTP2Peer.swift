#if TCP && canImport(Glibc)
  import NIOCore
  import NIOHPACK

  /// A client of HTTP/2 that sends and reads frames as a test wants them, also invalid ones.
  final class HTTP2Peer {
    /// One frame.
    struct Frame {
      var type: UInt8
      var flags: UInt8
      var stream: UInt32
      var payload: [UInt8]

      var endsStream: Bool {
        (type == HTTP2Peer.data || type == HTTP2Peer.headers) && flags & 1 > 0
      }
    }

    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let reset: UInt8 = 3
    static let settings: UInt8 = 4
    static let ping: UInt8 = 6
    static let goAway: UInt8 = 7
    static let windowUpdate: UInt8 = 8
    static let continuation: UInt8 = 9

    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    let peer: Peer
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())

    /// Begins a connection, up to the server's settings.
    ///
    /// - Parameter settings: Identifiers and values.
    init(_ peer: Peer, settings: [(UInt16, UInt32)] = []) {
      self.peer = peer
      peer.send(Self.preface)
      var payload: [UInt8] = []
      for (id, value) in settings { payload += id.bytes + value.bytes }
      send(Self.settings, payload)
      // The server's limits count once they are acknowledged.
      _ = next(Self.settings)
    }

    // MARK: Sending

    @discardableResult
    func send(_ type: UInt8, _ payload: [UInt8], flags: UInt8 = 0, stream: UInt32 = 0) -> Bool {
      peer.send(Self.frame(type, payload, flags: flags, stream: stream))
    }

    static func frame(
      _ type: UInt8, _ payload: [UInt8], flags: UInt8 = 0, stream: UInt32 = 0
    ) -> [UInt8] {
      Array(UInt32(payload.count).bytes.dropFirst()) + [type, flags] + stream.bytes + payload
    }

    /// The head of a call of gRPC, as fields.
    static func call(_ method: String, _ more: [(String, String)] = []) -> [(String, String)] {
      [
        (":method", "POST"), (":scheme", "http"), (":authority", "127.0.0.1"),
        (":path", "/google.firestore.v1.Firestore/\(method)"),
        ("content-type", "application/grpc"), ("te", "trailers"),
      ] + more
    }

    /// Literal fields, without a table and without Huffman's code.
    static func block(_ fields: [(String, String)]) -> [UInt8] {
      fields.flatMap { [0] + text($0.0) + text($0.1) }
    }

    private static func text(_ text: String) -> [UInt8] {
      let bytes = Array(text.utf8)
      if bytes.count < 127 { return [UInt8(bytes.count)] + bytes }
      var rest = bytes.count - 127
      var length: [UInt8] = [127]
      while rest >= 128 {
        length.append(UInt8(rest % 128) | 128)
        rest /= 128
      }
      return length + [UInt8(rest)] + bytes
    }

    func head(_ fields: [(String, String)], on stream: UInt32, ends: Bool = false) {
      send(Self.headers, Self.block(fields), flags: ends ? 5 : 4, stream: stream)
    }

    static func message(_ bytes: [UInt8], flag: UInt8 = 0) -> [UInt8] {
      [flag] + UInt32(bytes.count).bytes + bytes
    }

    /// Makes a whole call of one message.
    func call(
      _ method: String, _ message: [UInt8], on stream: UInt32, _ more: [(String, String)] = []
    ) {
      head(Self.call(method, more), on: stream)
      var rest = Self.message(message)[...]
      while rest.count > Self.frameBytes {
        send(Self.data, Array(rest.prefix(Self.frameBytes)), stream: stream)
        rest = rest.dropFirst(Self.frameBytes)
      }
      send(Self.data, Array(rest), flags: 1, stream: stream)
    }

    /// The most bytes of one frame.
    private static let frameBytes = 16_384

    // MARK: Reading

    /// The next frame; acknowledges settings and pings on the way. `nil` at the end.
    func next(answersPings: Bool = true) -> Frame? {
      guard let head = peer.read(count: 9) else { return nil }
      let count = head[..<3].reduce(0) { $0 << 8 | Int($1) }
      let stream = head[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      guard let payload = count == 0 ? [] : peer.read(count: count) else { return nil }
      let frame = Frame(type: head[3], flags: head[4], stream: stream, payload: payload)
      if frame.type == Self.settings, frame.flags == 0 { send(Self.settings, [], flags: 1) }
      if frame.type == Self.ping, frame.flags == 0, answersPings {
        send(Self.ping, payload, flags: 1)
      }
      return frame
    }

    /// The next frame of a type; what comes before it is dropped. `nil` at the end.
    func next(_ type: UInt8) -> Frame? {
      while let frame = next() { if frame.type == type { return frame } }
      return nil
    }

    /// The fields of a frame of headers.
    func fields(_ frame: Frame) -> [String: String] {
      var bytes = ByteBuffer(bytes: frame.payload)
      var fields: [String: String] = [:]
      guard let headers = try? decoder.decodeHeaders(from: &bytes) else { return fields }
      for (name, value, _) in headers { fields[name] = value }
      return fields
    }

    /// The whole answer on a stream.
    struct Answer {
      var fields: [String: String] = [:]
      var body: [UInt8] = []
      /// The error code of a reset behind it.
      var reset: UInt32?

      var status: Int? { fields["grpc-status"].flatMap { Int($0) } }

      /// The messages of gRPC in the body.
      var messages: [[UInt8]] {
        var rest = body[...]
        var messages: [[UInt8]] = []
        while rest.count >= 5 {
          let count = rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
          messages.append(Array(rest.dropFirst(5).prefix(count)))
          rest = rest.dropFirst(5 + count)
        }
        return messages
      }
    }

    /// Reads until a stream has ended; opens the windows for what it reads.
    func answer(on stream: UInt32) -> Answer {
      var answer = Answer()
      var answers = [stream: answer]
      while let frame = next() {
        var other = answers[frame.stream] ?? Answer()
        switch frame.type {
        case Self.headers: other.fields.merge(fields(frame)) { $1 }
        case Self.data:
          other.body += frame.payload
          take(frame)
        case Self.reset:
          other.reset = frame.payload.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        default: break
        }
        answers[frame.stream] = other
        if frame.stream == stream, frame.endsStream || frame.type == Self.reset { break }
      }
      answer = answers[stream] ?? Answer()
      return answer
    }

    /// Opens the windows for as many bytes as a frame of data has, and returns how many.
    @discardableResult
    func take(_ frame: Frame) -> Int {
      let count = frame.payload.count
      if count == 0 { return 0 }
      send(Self.windowUpdate, UInt32(count).bytes)
      send(Self.windowUpdate, UInt32(count).bytes, stream: frame.stream)
      return count
    }
  }

  extension FixedWidthInteger {
    /// The bytes of the number, most significant first.
    var bytes: [UInt8] {
      stride(from: bitWidth - 8, through: 0, by: -8).map {
        UInt8(truncatingIfNeeded: self >> Self($0))
      }
    }
  }
#endif

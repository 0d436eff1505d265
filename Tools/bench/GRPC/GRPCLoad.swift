#if TCP && os(Linux)
  import Foundation

  /// A client of gRPC over one connection that does as little as a client can: it knows frames, and
  /// looks into no header.
  final class GRPCLoad {
    private let socket: BenchSocket
    private var nextStream: UInt32 = 1
    /// The bytes that were received and are not made room for yet.
    private var taken = 0

    private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The first bytes of a connection, with a window for each stream of 1 GiB, and one for the
    /// connection.
    private static let opening: [UInt8] = {
      let settings = number(UInt16(4)) + number(UInt32(1 << 30))
      return preface + frame(4, settings, stream: 0) + frame(8, number(UInt32(1 << 30)), stream: 0)
    }()

    init(port: Int) throws {
      socket = try BenchSocket(port: port)
      try socket.send(Self.opening)
    }

    /// The bytes of a connection with one call to `Listen`.
    static func listening(_ message: [UInt8]) -> [UInt8] {
      opening + frames("Listen", message, 1, ends: false)
    }

    // MARK: Frames

    static func number(_ number: some FixedWidthInteger) -> [UInt8] {
      stride(from: number.bitWidth - 8, through: 0, by: -8).map {
        UInt8(truncatingIfNeeded: Int64(number) >> Int64($0))
      }
    }

    static func frame(
      _ type: UInt8, flags: UInt8 = 0, _ payload: [UInt8], stream: UInt32
    ) -> [UInt8] {
      number(UInt32(payload.count)).dropFirst() + [type, flags] + number(stream) + payload
    }

    private static func head(_ method: String) -> [UInt8] {
      let fields = [
        (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
        (":path", "/google.firestore.v1.Firestore/\(method)"),
        ("content-type", "application/grpc"), ("te", "trailers"),
      ]
      return fields.flatMap { [0] + text($0.0) + text($0.1) }
    }

    private static func text(_ text: String) -> [UInt8] {
      [UInt8(text.utf8.count)] + text.utf8
    }

    /// The frames of a call with one message, of at most 16 KiB a frame.
    private static func frames(
      _ method: String, _ message: [UInt8], _ stream: UInt32, ends: Bool = true
    ) -> [UInt8] {
      var bytes = frame(1, flags: 4, head(method), stream: stream)
      var rest = ([0] + number(UInt32(message.count)) + message)[...]
      while rest.count > 16_384 {
        bytes += frame(0, Array(rest.prefix(16_384)), stream: stream)
        rest = rest.dropFirst(16_384)
      }
      return bytes + frame(0, flags: ends ? 1 : 0, Array(rest), stream: stream)
    }

    /// One frame that came.
    struct Frame {
      let type: UInt8
      let flags: UInt8
      let stream: UInt32
      let payload: ArraySlice<UInt8>

      var endsStream: Bool { (type == 0 || type == 1) && flags & 1 > 0 }
    }

    /// True when a frame's head is there without waiting.
    var hasMore: Bool { socket.holds(9) }

    /// Waits for the next frame; makes room for what was received, and acknowledges settings.
    func next() throws -> Frame {
      let head = try socket.read(9)
      let first = head.startIndex
      let count = head.prefix(3).reduce(0) { $0 << 8 | Int($1) }
      let (type, flags) = (head[first + 3], head[first + 4])
      let stream = head.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let payload = try socket.read(count)
      if type == 4, flags == 0 { try socket.send(Self.frame(4, flags: 1, [], stream: 0)) }
      if type == 6, flags == 0 {
        try socket.send(Self.frame(6, flags: 1, Array(payload), stream: 0))
      }
      if type == 3 || type == 7 { throw BenchFailure(reason: "the stream was reset") }
      if type == 0 {
        taken += count
        if taken > 1 << 20 {
          try socket.send(
            Self.frame(8, Self.number(UInt32(taken)), stream: 0)
              + Self.frame(8, Self.number(UInt32(taken)), stream: stream))
          taken = 0
        }
      }
      return Frame(type: type, flags: flags, stream: stream, payload: payload)
    }

    // MARK: Calls

    private func newStream() -> UInt32 {
      defer { nextStream += 2 }
      return nextStream
    }

    /// Makes one call, and returns the number of bytes of its answer's messages.
    func call(_ method: String, _ message: [UInt8]) throws -> Int {
      try socket.send(Self.frames(method, message, newStream()))
      var bytes = 0
      while true {
        let frame = try next()
        if frame.type == 0 { bytes += frame.payload.count }
        if !frame.endsStream { continue }
        if bytes == 0 { throw BenchFailure(reason: "\(method) has failed") }
        return bytes
      }
    }

    /// Calls with some streams under way for a time; returns the calls of a second.
    func rate(
      _ method: String, _ message: [UInt8], _ streams: Int, _ seconds: Double
    ) throws -> Double {
      for _ in 0..<streams { try socket.send(Self.frames(method, message, newStream())) }
      let start = ContinuousClock.now
      let end = start + .seconds(seconds)
      var (calls, open) = (0, streams)
      var isOver = false
      var output: [UInt8] = []
      while open > 0 {
        let frame = try next()
        if frame.endsStream {
          calls += isOver ? 0 : 1
          open -= 1
          isOver = isOver || ContinuousClock.now > end
          if !isOver {
            output += Self.frames(method, message, newStream())
            open += 1
          }
        }
        if !hasMore, !output.isEmpty {
          try socket.send(output)
          output = []
        }
      }
      return Double(calls) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// Opens listeners, and returns when each was told so many messages: by default what an empty
    /// result has.
    func listen(_ message: [UInt8], streams: Int, messages wanted: Int = 3) throws {
      for _ in 0..<streams {
        try socket.send(Self.frames("Listen", message, newStream(), ends: false))
      }
      var told: [UInt32: Int] = [:]
      var missing = streams
      while missing > 0 {
        let frame = try next()
        guard frame.type == 0 else { continue }
        let count = told[frame.stream, default: 0] + messages(in: frame)
        told[frame.stream] = count
        if count >= wanted, count - wanted < lastMessages { missing -= 1 }
      }
    }

    /// The bytes of a message that the next frame of data begins with.
    private var unread: [UInt32: Int] = [:]
    /// The messages that the last frame of data completed.
    private var lastMessages = 0

    /// Counts the messages that a frame of data completes. A message's head is in one frame.
    private func messages(in frame: Frame) -> Int {
      lastMessages = 0
      var rest = frame.payload
      var left = unread[frame.stream] ?? 0
      while true {
        if rest.count < left {
          unread[frame.stream] = left - rest.count
          return lastMessages
        }
        rest = rest.dropFirst(left)
        if left > 0 { lastMessages += 1 }
        guard rest.count >= 5 else {
          unread[frame.stream] = 0
          return lastMessages
        }
        left = 5 + rest.dropFirst().prefix(4).reduce(0) { $0 << 8 | Int($1) }
      }
    }

    /// The measures of one streamed answer.
    struct Streamed {
      var messages = 0
      var firstMilliseconds = 0.0
      var seconds = 0.0
    }

    /// Makes a call whose answer is a stream, and reads it to its end.
    func stream(_ method: String, _ message: [UInt8]) throws -> Streamed {
      let start = ContinuousClock.now
      try socket.send(Self.frames(method, message, newStream()))
      var result = Streamed()
      while true {
        let frame = try next()
        if frame.type == 0, frame.payload.count > 0 {
          if result.messages == 0 {
            result.firstMilliseconds = (ContinuousClock.now - start) / .milliseconds(1)
          }
          result.messages += messages(in: frame)
        }
        if frame.endsStream {
          result.seconds = (ContinuousClock.now - start) / .seconds(1)
          return result
        }
      }
    }

    // MARK: Many connections

    /// Sends the next call of a client that waits for each answer.
    func begin(_ method: String, _ message: [UInt8]) throws {
      try socket.send(Self.frames(method, message, newStream()))
    }

    var descriptor: Int32 { socket.descriptor }
  }
#endif

/// Finds the places between frames of HTTP/2 at which the bytes of a connection can be cut, so that
/// no more than some streams begin at once: fewer on a connection that resets its streams.
struct HTTP2FrameCuts {
  /// The most streams that begin at once on a connection: as many as may be open.
  private let most: Int
  /// The same on a connection that has reset more than a quarter of its streams.
  private let fewest: Int

  /// The bytes of the preface that a client sends first: `PRI * HTTP/2.0` and what follows it.
  private static let prefaceBytes = 24
  /// The head of a frame: length in 3 bytes, type, flags, stream in 4.
  private static let headBytes = 9
  /// The type of the frame that begins a stream; it may also end one.
  private static let headers: UInt8 = 1
  /// The type of the frame that resets a stream.
  private static let reset: UInt8 = 3

  /// The bytes left of the preface, or of the payload of a frame.
  private var left = Self.prefaceBytes
  /// The first bytes of a frame's head.
  private var head: [UInt8] = []
  /// The streams that the connection has begun, and those that it has reset.
  private var (begun, resets) = (0, 0)

  init(most: Int, fewest: Int) {
    self.most = most
    self.fewest = fewest
  }

  /// Returns the number of bytes at the start of `bytes` in which no more streams begin than may at
  /// once; what follows is to be given again, with what has come meanwhile behind it.
  ///
  /// A frame whose head came in two parts begins its stream in any case.
  mutating func prefix(of bytes: some RandomAccessCollection<UInt8>) -> Int {
    var (streams, index, start) = (0, bytes.startIndex, head.isEmpty ? bytes.startIndex : nil)
    while index < bytes.endIndex {
      if left > 0 {
        let count = min(left, bytes.distance(from: index, to: bytes.endIndex))
        index = bytes.index(index, offsetBy: count)
        left -= count
        continue
      }
      if head.isEmpty { start = index }
      head.append(bytes[index])
      index = bytes.index(after: index)
      // The type is known with the fourth byte; the frame is cut before its head, which is read
      // again then.
      if head.count == 4, head[3] == Self.headers {
        if streams >= (resets > begun / 4 ? fewest : most), let start {
          head = []
          return bytes.distance(from: bytes.startIndex, to: start)
        }
        streams += 1
        begun += 1
      } else if head.count == 4, head[3] == Self.reset {
        resets += 1
      }
      if head.count == Self.headBytes {
        left = head[..<3].reduce(0) { $0 << 8 | Int($1) }
        head.removeAll(keepingCapacity: true)
      }
    }
    return bytes.count
  }
}

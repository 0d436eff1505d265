/// Cuts the bytes of a gRPC stream into messages.
///
/// A message is a flag byte, 0 or 1 for compressed, its length in 4 bytes, most significant first,
/// and its bytes. Messages may span reads or share one.
/// Source: Docs/Formats/gateway.md, "gRPC".
struct GRPCMessageReader {
  /// An invalid stream of messages.
  enum Failure: Error, Equatable {
    /// The message is compressed, and the head of its call names no compression.
    case compressed
    /// The message does not decompress.
    case invalidCompression
    /// The flag is neither 0 nor 1.
    case invalidFlag(UInt8)
    /// The announced or the decompressed length is above the limit. A length is checked before
    /// any byte of the message is kept.
    case tooLarge(byteCount: Int, limit: Int)
  }

  /// The bytes before each message.
  static let headBytes = 5

  private let limit: Int
  /// Decompresses a message to at most so many bytes; `nil` when none may be compressed.
  private let decompress: ((_ message: [UInt8], _ limit: Int) throws(Failure) -> [UInt8])?
  /// The flag of the message that is being read.
  private var isCompressed = false
  /// The bytes so far of the next message's head; fewer than ``headBytes``.
  private var head: [UInt8] = []
  /// The message that is being read; `nil` before its head is complete.
  private var body: [UInt8]?
  /// The announced length of ``body``.
  private var bodyCount = 0

  /// - Parameters:
  ///   - limit: The most bytes of one message, compressed and not.
  ///   - decompress: Returns the bytes that a message was compressed from, at most so many.
  init(
    limit: Int,
    decompress: ((_ message: [UInt8], _ limit: Int) throws(Failure) -> [UInt8])? = nil
  ) {
    self.limit = limit
    self.decompress = decompress
  }

  /// The bytes that are held of an incomplete message.
  var heldBytes: Int { head.count + (body?.count ?? 0) }

  /// Hands on each message that is complete with these bytes, in order; also those before a
  /// failure.
  ///
  /// - Parameters:
  ///   - bytes: The next bytes of the stream, in pieces of any size.
  ///   - receive: Called with each whole message, decompressed.
  /// - Throws: The breach; the stream has no meaning behind it, and the reader must not be used
  ///   again.
  mutating func read(
    _ bytes: ArraySlice<UInt8>, _ receive: ([UInt8]) -> Void
  ) throws(Failure) {
    var rest = bytes
    while true {
      guard var message = exchange(&body, with: nil) else {
        let part = rest.prefix(Self.headBytes - head.count)
        head.append(contentsOf: part)
        rest = rest.dropFirst(part.count)
        guard head.count == Self.headBytes else { return }
        try begin()
        continue
      }
      let part = rest.prefix(bodyCount - message.count)
      message.append(contentsOf: part)
      rest = rest.dropFirst(part.count)
      if message.count < bodyCount {
        body = message
        return
      }
      if isCompressed, let decompress { message = try decompress(message, limit) }
      receive(message)
    }
  }

  /// Reads the head of a message. The flag is judged before the length, so an unknown flag wins.
  private mutating func begin() throws(Failure) {
    let count = head.dropFirst().reduce(0) { $0 << 8 | Int($1) }
    let flag = head[0]
    head.removeAll(keepingCapacity: true)
    if flag > 1 { throw .invalidFlag(flag) }
    isCompressed = flag == 1
    if isCompressed, decompress == nil { throw .compressed }
    if count > limit { throw .tooLarge(byteCount: count, limit: limit) }
    bodyCount = count
    body = []
  }
}

import CZlib

/// The compression of one message or body.
///
/// Source: Firestore server reference, sections 1.3 and 3.3.
enum MessageCoding: String, CaseIterable, Sendable {
  case gzip
  /// The format of zlib, as HTTP and gRPC name it.
  case deflate

  /// The failure of decompressing.
  enum Failure: Error, Equatable {
    /// The bytes are not exactly one compressed stream.
    case invalid
    case tooLarge(limit: Int)
  }

  /// The codings that are read, as a header lists them.
  static let accepted = (allCases.map(\.rawValue) + ["identity"]).joined(separator: ", ")

  /// The least bytes of a message that compression makes smaller. Below it the heads of the format
  /// and the work outweigh the gain.
  static let worthBytes = 1_024

  /// The most bytes that are reserved before it is known how many come out.
  private static let firstBytes = 64 << 10

  /// The window of the C library, which also tells the format.
  private var windowBits: Int32 {
    switch self {
    case .gzip: 15 + 16
    case .deflate: 15
    }
  }

  /// Returns the bytes that were compressed.
  ///
  /// - Parameter limit: The most bytes that may come out. No more than twice as many are written,
  ///   whatever the input is.
  /// - Throws: ``Failure/invalid`` for bytes that do not decompress or have others behind them,
  ///   ``Failure/tooLarge(limit:)`` for more output than the limit.
  func decompress(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    // The output size is unknown, so the buffer grows by four and starts over. A small input
    // that would expand enormously (a zip bomb) stops at the limit.
    var capacity = min(limit, max(bytes.count * 4, Self.firstBytes))
    while true {
      var count = 0
      var result: Int32 = -1
      let found = unsafe [UInt8](unsafeUninitializedCapacity: capacity + 1) { buffer, filled in
        guard let output = buffer.baseAddress else { return }
        result = unsafe tern_inflate(
          windowBits, bytes, bytes.count, output, capacity + 1, &count)
        filled = result == 0 ? count : 0
      }
      if result == 0, count <= limit { return found }
      if result < 0 { throw .invalid }
      if capacity >= limit { throw .tooLarge(limit: limit) }
      capacity = min(limit, capacity * 4)
    }
  }

  /// Returns the bytes compressed; `nil` when there is no memory for it.
  func compress(_ bytes: [UInt8]) -> [UInt8]? {
    let capacity = tern_deflate_bound(bytes.count)
    let found = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
      guard let output = buffer.baseAddress else { return }
      filled = unsafe tern_deflate(windowBits, bytes, bytes.count, output, capacity)
    }
    return found.isEmpty ? nil : found
  }

  /// The coding of a header's value; `nil` for another one, and for plain bytes.
  init?(header value: String) { self.init(rawValue: value.lowercased()) }

  /// Returns true when a header that lists codings has this one.
  func isListed(in value: String) -> Bool {
    value.split(separator: ",").contains { part in
      part.split(separator: ";").first?.filter { $0 != " " }.lowercased() == rawValue
    }
  }
}

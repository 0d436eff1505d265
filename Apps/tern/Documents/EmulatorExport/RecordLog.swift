/// Reads the records of a log file: the format in which exports of the Firestore emulator, and
/// managed exports of Cloud Firestore, hold their entities.
///
/// Blocks of 32 KiB hold pieces with a checksum, a length and a type. A record is one piece or
/// several. Source: LevelDB's log format.
struct RecordLog {
  /// The most bytes of one record: more than the largest document needs.
  static let recordBytes = 16 << 20

  private static let blockBytes = 32_768
  private static let headBytes = 7

  /// The position of a piece in its record.
  private enum Piece: UInt8 {
    case full = 1
    case first = 2
    case middle = 3
    case last = 4
  }

  private let refill: () throws -> [UInt8]
  private var block: ArraySlice<UInt8> = []
  private var pending: [UInt8] = []
  private var isAtEnd = false

  /// - Parameter refill: Answers the next bytes of the file, empty at the end.
  init(refill: @escaping () throws -> [UInt8]) { self.refill = refill }

  /// Returns the next record; `nil` behind the last one.
  ///
  /// - Throws: ``Failure`` for bytes that are not a log.
  mutating func next() throws -> [UInt8]? {
    var record: [UInt8]?
    while let (piece, bytes) = try nextPiece() {
      switch (piece, record) {
      case (.full, nil): return Array(bytes)
      case (.first, nil): record = Array(bytes)
      case (.middle, _?): record?.append(contentsOf: bytes)
      case (.last, let begun?): return begun + bytes
      default: throw Self.damaged
      }
      if record?.count ?? 0 > Self.recordBytes { throw Self.damaged }
    }
    if record != nil { throw Self.damaged }
    return nil
  }

  private static let damaged = Failure(.usage, "the export is damaged: a record is not whole")

  private mutating func nextPiece() throws -> (Piece, ArraySlice<UInt8>)? {
    while true {
      if block.count < Self.headBytes {
        // What is left of a block is padding.
        guard try readBlock() else { return nil }
        continue
      }
      let head = block.prefix(Self.headBytes)
      let start = head.startIndex
      let count = Int(head[start + 4]) | Int(head[start + 5]) << 8
      if head[start + 6] == 0, count == 0 {
        block = []
        continue
      }
      guard let piece = Piece(rawValue: head[start + 6]), block.count >= Self.headBytes + count
      else { throw Self.damaged }
      let body = block.dropFirst(Self.headBytes - 1).prefix(count + 1)
      var stored: UInt32 = 0
      for byte in head.prefix(4).reversed() { stored = stored << 8 | UInt32(byte) }
      guard Self.masked(Self.checksum(body)) == stored else {
        throw Failure(.usage, "the export is damaged: a checksum is wrong")
      }
      block = block.dropFirst(Self.headBytes + count)
      return (piece, body.dropFirst())
    }
  }

  /// Reads the next block; `false` at the end of the file.
  private mutating func readBlock() throws -> Bool {
    while pending.count < Self.blockBytes, !isAtEnd {
      let bytes = try refill()
      isAtEnd = bytes.isEmpty
      pending += bytes
    }
    if pending.isEmpty { return false }
    block = pending.prefix(Self.blockBytes)
    pending = Array(pending.dropFirst(Self.blockBytes))
    return true
  }

  /// CRC-32C of the type and the bytes of a piece.
  static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var sum = ~UInt32(0)
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 {
        let isOdd = sum & 1 == 1
        sum >>= 1
        if isOdd { sum ^= 0x82F6_3B78 }
      }
    }
    return ~sum
  }

  /// The form of a checksum in a log.
  static func masked(_ sum: UInt32) -> UInt32 {
    let rotated: UInt32 = sum >> 15 | sum << 17
    return rotated &+ 0xA282_EAD8
  }
}

package import TernCommitLog
package import TernLedger
import TernStorage

/// A batch as payloads of a log: one, or several for a batch that is too large.
///
/// Source: Docs/Formats/shared-log.md, section 1.
enum BatchParts {
  /// The format of the payloads.
  static let format: UInt8 = 1
  /// The most bytes of a part's head.
  static let headBytes = 12

  enum Kind {
    static let whole: UInt8 = 0
    static let part: UInt8 = 1
    static let last: UInt8 = 2
  }

  /// Cuts the bytes of a batch into payloads.
  ///
  /// - Throws: `valueTooLong` for a batch of more than ``SharedLedgerLimits/partsPerBatch`` parts.
  static func split(
    _ bytes: [UInt8], limit: Int = SharedLedgerLimits.partBytes
  ) throws(LedgerError) -> [[UInt8]] {
    let room = limit - headBytes
    if bytes.count <= room { return [[format, Kind.whole] + bytes] }
    let count = (bytes.count + room - 1) / room
    guard count <= SharedLedgerLimits.partsPerBatch else {
      throw .storage(.valueTooLong(bytes: bytes.count))
    }
    return (0..<count).map { index in
      var writer = ByteWriter()
      writer.append(format)
      writer.append(index == count - 1 ? Kind.last : Kind.part)
      writer.append(variable: UInt64(index))
      writer.append(bytes[index * room..<min(bytes.count, (index + 1) * room)])
      return writer.bytes
    }
  }
}

/// Puts the parts of batches together, in the order of the log.
package struct BatchAssembler {
  private var parts: [UInt8] = []
  private var expected: UInt64 = 0

  /// No part yet.
  package init() {}

  /// Adds the next batch of the log.
  ///
  /// Parts whose last one never came are dropped: their leader had lost its lease, or had ended.
  ///
  /// - Returns: The batch that is complete now; `nil` when parts are still to come.
  /// - Throws: ``LedgerError/newerFormat(found:supported:)``; `corruptRecord` for bytes that are no
  ///   batch.
  package mutating func add(_ batch: LogBatch) throws(LedgerError) -> ReplicatedBatch? {
    guard let format = batch.payload.first, batch.payload.count > 1 else {
      throw Self.invalid(batch)
    }
    guard format == BatchParts.format else {
      throw .newerFormat(found: Int(format), supported: Int(BatchParts.format))
    }
    let kind = batch.payload[1]
    var bytes: [UInt8]
    switch kind {
    case BatchParts.Kind.whole:
      bytes = Array(batch.payload.dropFirst(2))
      reset()
    case BatchParts.Kind.part, BatchParts.Kind.last:
      var reader = ByteReader(batch.payload, from: 2)
      guard let index = reader.variable() else { throw Self.invalid(batch) }
      if index == 0 { reset() }
      guard index == expected, index < UInt64(SharedLedgerLimits.partsPerBatch) else {
        throw Self.invalid(batch)
      }
      var head = ByteWriter()
      head.append(variable: index)
      parts += batch.payload.dropFirst(2 + head.bytes.count)
      expected += 1
      if kind == BatchParts.Kind.part { return nil }
      bytes = parts
      reset()
    default: throw Self.invalid(batch)
    }
    guard let whole = ReplicatedBatch(bytes) else { throw Self.invalid(batch) }
    return whole
  }

  /// Puts the batches of a page together with their places.
  mutating func place(_ page: [LogBatch]) throws(LedgerError) -> [EmbeddedLedger.PlacedBatch] {
    var placed: [EmbeddedLedger.PlacedBatch] = []
    for batch in page {
      guard let whole = try add(batch) else { continue }
      placed.append((ReplicaMark(position: batch.position.number, id: batch.id), whole))
    }
    return placed
  }

  private mutating func reset() {
    parts = []
    expected = 0
  }

  private static func invalid(_ batch: LogBatch) -> LedgerError {
    .unavailable(reason: "batch \(batch.position) of the shared log is invalid; restore the log")
  }
}

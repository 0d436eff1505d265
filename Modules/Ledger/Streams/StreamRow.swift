import TernStorage

/// The layout of a stream's state in the store. Source: Docs/Formats/ledger.md, section 3.
enum StreamRow {
  static let range = KeyRange(prefix: [LedgerKey.stream])

  static func key(_ stream: UInt128) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(LedgerKey.stream)
    writer.append(bigEndian: stream)
    return writer.bytes
  }

  /// The stream whose state lies under `key`; `nil` when the key is another one.
  static func stream(ofKey key: Span<UInt8>) -> UInt128? {
    guard key.count == 17, key[0] == LedgerKey.stream else { return nil }
    var stream: UInt128 = 0
    for index in 1..<17 { stream = stream << 8 | UInt128(key[index]) }
    return stream
  }

  static func read(
    _ stream: UInt128, in view: borrowing some StoreView & ~Copyable & ~Escapable
  ) throws(StorageError) -> StreamState? {
    let key = key(stream)
    guard let value = try view.get(key) else { return nil }
    guard let row = decode(value) else { throw .corruptRecord(key: key) }
    return row.state
  }

  /// - Parameter touched: When the stream was last written to, in milliseconds of lived time.
  static func encode(_ state: StreamState, touched: Int64) -> [UInt8] {
    var writer = ByteWriter()
    writer.append(bigEndian: touched)
    writer.append(variable: state.last)
    writer.append(variable: UInt64(state.outcomes.count))
    for outcome in state.outcomes {
      writer.append(bigEndian: outcome.payloadHash)
      writer.append(variable: outcome.version)
      writer.append(counted: outcome.detail)
    }
    return writer.bytes
  }

  static func decode(_ bytes: [UInt8]) -> (state: StreamState, touched: Int64)? {
    var reader = ByteReader(bytes)
    guard let touched = reader.bigEndian(Int64.self), let last = reader.variable(),
      let count = reader.variable(), count <= last, last < .max
    else { return nil }
    var outcomes: [StreamState.Outcome] = []
    for _ in 0..<count {
      guard let hash = reader.bigEndian(UInt64.self), let version = reader.variable(),
        let detail = reader.counted()
      else { return nil }
      outcomes.append(.init(payloadHash: hash, version: version, detail: detail))
    }
    return reader.isAtEnd ? (StreamState(last: last, outcomes: outcomes), touched) : nil
  }
}

/// The first bytes of the ledger's own keys.
package enum LedgerKey {
  /// The row that names the format.
  package static let format: [UInt8] = [0x00]
  package static let log: UInt8 = 0x01
  package static let stream: UInt8 = 0x02
  package static let journal: UInt8 = 0x03
  /// Milliseconds in which the store was served.
  package static let lived: [UInt8] = [0x05]
  /// The position in a shared log that the store is a copy of.
  package static let replica: [UInt8] = [0x06]
  /// Space that is kept for a full disk.
  package static let reserve: [UInt8] = [0x04]
}

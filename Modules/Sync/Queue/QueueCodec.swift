import TernStorage

/// The bytes of the write queue's records; see `Docs/Formats/write-queue.md`.
enum QueueCodec {
  static let version: UInt8 = 1

  /// The bookkeeping record.
  struct Header: Equatable, Sendable {
    var client: UInt128
    /// The first `client`; the same until the queue was purged.
    var origin: UInt128
    var nextID: UInt64
    var nextSequence: UInt64
  }

  /// The bookkeeping record of a queue; `nil` where there is no queue.
  ///
  /// - Throws: ``QueueError/damagedHeader``, ``QueueError/unreadable(reason:)``,
  ///   ``QueueError/storage(_:)``.
  static func header(
    _ keys: QueueKeys, in view: borrowing Snapshot
  ) throws(QueueError) -> Header? {
    do {
      if let bytes = try view.get(keys.header) { return try decodeHeader(bytes) }
      // Numbers must not begin anew beside rows that have some.
      guard try view.scan(keys.records, limit: 1).isEmpty else { throw QueueError.damagedHeader }
      return nil
    } catch let error as QueueError {
      throw error
    } catch StorageError.corruptRecord {
      throw .damagedHeader
    } catch let error as StorageError {
      throw .storage(error)
    } catch {
      throw .unreadable(reason: "\(error)")
    }
  }

  static func encode(_ header: Header) -> [UInt8] {
    var bytes = [version]
    bytes.append(integer: header.client)
    bytes.append(integer: header.nextID)
    bytes.append(integer: header.nextSequence)
    if header.origin != header.client { bytes.append(integer: header.origin) }
    return bytes
  }

  static func decodeHeader(_ bytes: [UInt8]) throws(QueueError) -> Header {
    var reader = RecordReader(bytes)
    guard let found = reader.byte() else { throw .damagedHeader }
    guard found <= version else {
      throw .unreadable(reason: "queue format \(found), this library knows \(version)")
    }
    guard
      let client: UInt128 = reader.integer(), let nextID: UInt64 = reader.integer(),
      let nextSequence: UInt64 = reader.integer(), found == version,
      nextID < .max, nextSequence < .max
    else { throw .damagedHeader }
    var origin = client
    if !reader.isAtEnd {
      guard let first: UInt128 = reader.integer(), reader.isAtEnd else { throw .damagedHeader }
      origin = first
    }
    return Header(client: client, origin: origin, nextID: nextID, nextSequence: nextSequence)
  }

  /// Encodes a record. A rejection's text is cut to what fits beside a large payload.
  static func encode(_ state: QueuedWrite.State, payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 16)
    switch state {
    case .pending(let sequence):
      bytes.append(1)
      bytes.append(integer: sequence)
    case .rejected(let rejection):
      // The state and the two lengths.
      let space = max(0, StorageLimits.valueBytes - payload.count - 9)
      let status = rejection.status.prefix(bytes: space)
      bytes.append(2)
      bytes.append(text: status)
      bytes.append(text: rejection.detail.prefix(bytes: space - status.utf8.count))
    case .kept:
      bytes.append(3)
    }
    bytes.append(contentsOf: payload)
    return bytes
  }

  static func decode(_ bytes: [UInt8], id: UInt64) throws(QueueError) -> QueuedWrite {
    var reader = RecordReader(bytes)
    let state: QueuedWrite.State
    switch reader.byte() {
    case 1:
      guard let sequence: UInt64 = reader.integer() else { throw .damaged(id: id) }
      state = .pending(sequence: sequence)
    case 2:
      guard let status = reader.text(), let detail = reader.text() else {
        throw .damaged(id: id)
      }
      state = .rejected(Rejection(status: status, detail: detail))
    case 3:
      state = .kept
    default:
      throw .damaged(id: id)
    }
    return QueuedWrite(id: id, state: state, payload: reader.rest())
  }
}

extension QueueCodec.Header {
  /// That of a new queue.
  init(client: UInt128) {
    self.init(client: client, origin: client, nextID: 1, nextSequence: 1)
  }
}

extension String {
  /// The longest beginning of whole characters with at most so many bytes of UTF-8.
  fileprivate func prefix(bytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var end = startIndex
    var count = 0
    for index in indices {
      count += self[index].utf8.count
      if count > limit { break }
      end = self.index(after: index)
    }
    return String(self[..<end])
  }
}

import TernCore
import TernStorage

/// Cached documents of one collection, packed side by side in memory.
///
/// A scan only reads its bytes: it allocates no rows and does not read the store. It holds all
/// documents of the collection, or those read so far.
///
/// Each document is its full key, then its stored value, in one buffer; ``Row`` has the offsets. A
/// changed document is appended again, and the old bytes stay as garbage until the table is
/// dropped.
struct HotCollection: Sendable {
  /// The offsets of one document.
  struct Row: Sendable {
    /// The offset of its key's text.
    var start: UInt32
    /// The offset of its stored value.
    var value: UInt32
    /// The offset of its fields; equal to `end` unless the document exists.
    var fields: UInt32
    var end: UInt32
    var isAlive = true
  }

  /// The memory of a row besides its bytes: the row itself and two slots in the hash table.
  private static let overheadBytes = 32
  /// The largest table, in bytes, because positions have 32 bits.
  static let byteLimit = Int(UInt32.max / 2)

  /// The path of the collection and a slash: the prefix of all keys.
  let keyPrefix: [UInt8]
  /// `true` if every document of the collection is here.
  var isComplete = false
  /// The time of its last use, in the table's own count.
  var lastUse: UInt64 = 0

  private(set) var rows: [Row] = []
  private(set) var bytes: [UInt8] = []
  private var deadCount = 0
  /// Row numbers plus one by the hash of the id, open addressing; zero is free.
  ///
  /// At most half of the slots are in use, so that searches end soon. The size is a power of two.
  private var slots: [UInt32] = []

  init(_ path: CollectionPath) { keyPrefix = Array(path.text.utf8) + [UInt8(ascii: "/")] }

  /// The memory in use.
  var byteCount: Int { bytes.count + rows.count * Self.overheadBytes }

  /// `true` if more rows are dead than alive, so that the table should be rebuilt.
  var isWorn: Bool { deadCount > 64 && deadCount > rows.count / 2 }

  /// The row of an id; `nil` when it is not here.
  func find(_ id: Span<UInt8>) -> Row? {
    guard let number = number(of: id) else { return nil }
    return rows[number]
  }

  /// Puts a document in the place of its older self.
  mutating func insert(_ id: Span<UInt8>, _ value: Span<UInt8>) {
    remove(id)
    append(id, value)
  }

  /// Adds a document that is known not to be here.
  mutating func append(_ id: Span<UInt8>, _ value: Span<UInt8>) {
    guard let row = DocumentRow(value) else { return }
    let start = bytes.count
    bytes.append(contentsOf: keyPrefix)
    bytes.append(copying: id)
    let valueStart = bytes.count
    bytes.append(copying: value)
    let fields = row.state == .found ? valueStart + row.fieldsOffset : bytes.count
    rows.append(
      Row(
        start: UInt32(start), value: UInt32(valueStart), fields: UInt32(fields),
        end: UInt32(bytes.count)))
    growSlots()
    let slot = freeSlot(for: id)
    slots[slot] = UInt32(rows.count)
  }

  /// Forgets a document.
  mutating func remove(_ id: Span<UInt8>) {
    guard let number = number(of: id) else { return }
    // Its slot stays, so that what was placed behind it is still found.
    rows[number].isAlive = false
    deadCount += 1
  }

  // MARK: Slots

  private func number(of id: Span<UInt8>) -> Int? {
    if slots.isEmpty { return nil }
    var slot = hash(of: id) & (slots.count - 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      let row = rows[number]
      if row.isAlive {
        let start = Int(row.start) + keyPrefix.count
        let own = bytes.span.extracting(start..<Int(row.value))
        if own.count == id.count, compareBytes(own, id) == 0 { return number }
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private func freeSlot(for id: Span<UInt8>) -> Int {
    var slot = hash(of: id) & (slots.count - 1)
    while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  private mutating func growSlots() {
    guard rows.count * 2 > slots.count else { return }
    slots = Array(repeating: 0, count: max(64, slots.count * 2))
    for number in rows.indices where rows[number].isAlive {
      let row = rows[number]
      let start = Int(row.start) + keyPrefix.count
      // The row that is being added gets its slot from its caller.
      if number == rows.count - 1 { continue }
      slots[freeSlot(for: bytes.span.extracting(start..<Int(row.value)))] = UInt32(number + 1)
    }
  }

  private func hash(of id: Span<UInt8>) -> Int {
    var hasher = Hasher()
    unsafe id.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return Int(UInt(bitPattern: hasher.finalize()) >> 1)
  }
}

/// The documents of several collections in memory, within a limit.
///
/// Collections are evicted as a whole, the least recently used first. Whatever is dropped is read
/// from the store again.
struct HotTable: Sendable {
  let limitBytes: Int
  private(set) var collections: [UInt64: HotCollection] = [:]
  private(set) var byteCount = 0
  /// Collections that were found to be too large: no scan tries to hold them again.
  private(set) var oversized: Set<UInt64> = []
  private var uses: UInt64 = 0

  /// The most collections remembered as too large; then they are tried again.
  private static let oversizedLimit = 1_000

  init(limitBytes: Int) { self.limitBytes = min(limitBytes, HotCollection.byteLimit) }

  /// The documents of a collection that are here; counts as a use.
  mutating func use(_ number: UInt64) -> HotCollection? {
    uses += 1
    collections[number]?.lastUse = uses
    return collections[number]
  }

  /// Puts a whole collection in the place of what is here of it, unless it is too large.
  mutating func replace(_ number: UInt64, with collection: HotCollection) {
    remove(number)
    guard collection.byteCount <= limitBytes else { return }
    uses += 1
    byteCount += collection.byteCount
    collections[number] = collection
    collections[number]?.lastUse = uses
    makeRoom(keeping: number)
  }

  /// Puts a document in the place of its older self.
  ///
  /// - Parameter isNew: Whether it was not in the store before; a collection that is not wholly
  ///   here takes up only what was asked for.
  mutating func update(_ number: UInt64, _ id: Span<UInt8>, _ value: Span<UInt8>?) {
    guard var collection = collections.removeValue(forKey: number) else { return }
    byteCount -= collection.byteCount
    if let value, collection.isComplete || collection.find(id) != nil {
      collection.insert(id, value)
    } else if value == nil {
      collection.remove(id)
    }
    putBack(number, collection)
  }

  /// Keeps a document that was read on its own.
  mutating func remember(
    _ number: UInt64, _ path: CollectionPath, _ id: Span<UInt8>, _ value: Span<UInt8>
  ) {
    var collection = collections.removeValue(forKey: number) ?? HotCollection(path)
    byteCount -= collection.rows.isEmpty ? 0 : collection.byteCount
    if !collection.isComplete { collection.insert(id, value) }
    uses += 1
    collection.lastUse = uses
    putBack(number, collection)
  }

  mutating func remove(_ number: UInt64) {
    if let old = collections.removeValue(forKey: number) { byteCount -= old.byteCount }
  }

  /// Notes that a collection does not fit.
  mutating func noteOversized(_ number: UInt64) {
    if oversized.count >= Self.oversizedLimit { oversized = [] }
    oversized.insert(number)
  }

  mutating func removeAll() {
    collections = [:]
    oversized = []
    byteCount = 0
  }

  /// Returns a table to the collections after a change, if it is still worth keeping.
  ///
  /// A table with too much garbage is dropped rather than compacted; the next scan builds it anew.
  private mutating func putBack(_ number: UInt64, _ collection: HotCollection) {
    if collection.isWorn || collection.byteCount > limitBytes { return }
    byteCount += collection.byteCount
    collections[number] = collection
    makeRoom(keeping: number)
  }

  private mutating func makeRoom(keeping number: UInt64) {
    while byteCount > limitBytes {
      let oldest = collections.filter { $0.key != number }.min {
        $0.value.lastUse < $1.value.lastUse
      }
      guard let oldest else { return remove(number) }
      remove(oldest.key)
    }
  }
}

extension [UInt8] {
  mutating func append(copying span: Span<UInt8>) {
    unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}

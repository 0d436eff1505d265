import TernStorage

/// One page of a ``MemoryTree``: sorted records in one buffer.
///
/// The buffer begins with one slot of eight bytes a record, in key order: where the record is, and
/// the *head* of its key: the four bytes after those all keys of the page share. Most comparisons
/// of a search end with the heads, which lie side by side.
///
/// Records grow from the end downwards: key length, value word, key, then the value or, when the
/// word says so, a reference that the page owns: to a ``MemoryValue`` in a leaf, to a page in a
/// branch. The first key of a branch counts as less than every key.
///
/// `@unchecked Sendable` is sound because a page changes only in the transaction that made it
/// (`owner`), before other threads can see it.
@safe
final class MemoryPage: @unchecked Sendable {
  /// A page with more bytes than this is split.
  static let targetBytes = 4_096
  /// Longer values are kept beside the page.
  static let inlineBytes = 1_024

  /// The key's length in 2 bytes, and the ``MemoryWord`` in 4.
  private static let headerBytes = 6
  /// The record's offset and the key's head, 4 bytes each.
  private static let slotBytes = 8
  private static let referenceBytes = unsafe MemoryLayout<UnsafeRawPointer>.size

  /// The transaction that may change the page.
  let owner: UInt64
  let isLeaf: Bool
  /// The first bytes that all keys of a leaf share; 0 in a branch.
  private(set) var prefixBytes = 0
  private(set) var count = 0
  /// The bytes of the records and their slots.
  private(set) var liveBytes = 0
  // Owned by the page, freed once in `deinit`.
  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  /// The offset of the lowest record; free space lies between the slots and this.
  private var heapStart: Int
  /// The number of records that own a reference. While it is 0, copying and freeing a page skip the
  /// records.
  private var references = 0

  init(owner: UInt64, isLeaf: Bool, capacity: Int = 512) {
    self.owner = owner
    self.isLeaf = isLeaf
    self.capacity = capacity
    heapStart = capacity
    unsafe base = .allocate(byteCount: capacity, alignment: 16)
  }

  deinit {
    if references > 0 {
      for index in 0..<count { releaseReference(at: index) }
    }
    unsafe base.deallocate()
  }

  /// A copy that transaction `owner` may change.
  ///
  /// - Complexity: O(bytes of the page). References are retained, not copied.
  func copy(owner: UInt64) -> MemoryPage {
    let copy = MemoryPage(owner: owner, isLeaf: isLeaf, capacity: liveBytes + liveBytes / 8 + 64)
    copy.take(0..<count, of: self)
    if references > 0 {
      for index in 0..<count { copy.retainReference(at: index) }
    }
    return copy
  }

  /// True when the page is to be split; it then has at least four records.
  var isOverfull: Bool { liveBytes > Self.targetBytes && count >= 4 }

  // MARK: Reading

  /// The key of a record; valid while the page is unchanged.
  @inline(__always)
  func key(_ index: Int) -> UnsafeRawBufferPointer {
    let record = unsafe record(index)
    let count = unsafe Int(record.loadUnaligned(as: UInt16.self))
    return unsafe UnsafeRawBufferPointer(start: record + Self.headerBytes, count: count)
  }

  /// The value of a leaf's record; valid while the page is unchanged.
  @inline(__always)
  func value(_ index: Int) -> UnsafeRawBufferPointer {
    let record = unsafe record(index)
    let keyCount = unsafe Int(record.loadUnaligned(as: UInt16.self))
    let word = unsafe record.loadUnaligned(fromByteOffset: 2, as: MemoryWord.self)
    let start = unsafe UnsafeRawPointer(record + Self.headerBytes + keyCount)
    if !word.isReference {
      return unsafe UnsafeRawBufferPointer(start: start, count: word.count)
    }
    let reference = unsafe start.loadUnaligned(as: UnsafeRawPointer.self)
    return unsafe Unmanaged<MemoryValue>.fromOpaque(reference)
      ._withUnsafeGuaranteedRef { unsafe $0.bytes }
  }

  /// A branch's child; it lives as long as the page holds it.
  @inline(__always)
  func child(_ index: Int) -> Unmanaged<MemoryPage> {
    let record = unsafe record(index)
    let keyCount = unsafe Int(record.loadUnaligned(as: UInt16.self))
    let reference = unsafe (record + Self.headerBytes + keyCount)
      .loadUnaligned(as: UnsafeRawPointer.self)
    return unsafe .fromOpaque(reference)
  }

  /// The head of a record's key.
  @inline(__always)
  func head(_ index: Int) -> UInt32 {
    unsafe base.load(fromByteOffset: index * Self.slotBytes + 4, as: UInt32.self)
  }

  /// The head `key` has in this page: four bytes after the shared ones, zeros past its end.
  @inline(__always)
  func head(of key: UnsafeRawBufferPointer) -> UInt32 {
    guard key.count >= prefixBytes + 4, let start = key.baseAddress else {
      var head: UInt32 = 0
      for place in 0..<4 where prefixBytes + place < key.count {
        head |= unsafe UInt32(key[prefixBytes + place]) << (24 - 8 * UInt32(place))
      }
      return head
    }
    return unsafe UInt32(
      bigEndian: start.loadUnaligned(fromByteOffset: prefixBytes, as: UInt32.self))
  }

  // MARK: Changing

  /// Inserts a leaf's record before the one at `index`.
  func insert(_ value: Span<UInt8>, for key: Span<UInt8>, at index: Int) {
    unsafe key.withUnsafeBytes { key in
      unsafe value.withUnsafeBytes { value in
        if value.count > Self.inlineBytes {
          let kept = unsafe Unmanaged.passRetained(MemoryValue(value)).toOpaque()
          unsafe insert(key, reference: kept, MemoryWord(value.count, isReference: true), at: index)
        } else {
          unsafe insert(key, payload: value, MemoryWord(value.count), at: index)
        }
      }
    }
  }

  /// Inserts a branch's record before the one at `index`.
  func insert(_ child: MemoryPage, for key: [UInt8], at index: Int) {
    let kept = unsafe Unmanaged.passRetained(child).toOpaque()
    unsafe key.withUnsafeBytes { key in
      unsafe insert(key, reference: kept, MemoryWord(0, isReference: true), at: index)
    }
  }

  /// Puts another value in place of a leaf's.
  ///
  /// A value of the same length is overwritten in place; any other one makes the old record a gap,
  /// which `reserve` closes later.
  func replace(_ value: Span<UInt8>, for key: Span<UInt8>, at index: Int) {
    let word = unsafe record(index).loadUnaligned(fromByteOffset: 2, as: MemoryWord.self)
    guard !word.isReference, word.count == value.count else {
      remove(index..<(index + 1))
      return insert(value, for: key, at: index)
    }
    let target = unsafe UnsafeMutableRawPointer(mutating: record(index))
    unsafe value.withUnsafeBytes { value in
      guard let source = value.baseAddress else { return }
      unsafe (target + Self.headerBytes + key.count).copyMemory(
        from: source, byteCount: value.count)
    }
  }

  /// Puts another child in place of a branch's.
  func replaceChild(_ index: Int, with child: MemoryPage) {
    let record = unsafe UnsafeMutableRawPointer(mutating: record(index))
    let old = unsafe self.child(index)
    let keyCount = unsafe Int(record.loadUnaligned(as: UInt16.self))
    unsafe record.storeBytes(
      of: UnsafeRawPointer(Unmanaged.passRetained(child).toOpaque()),
      toByteOffset: Self.headerBytes + keyCount, as: UnsafeRawPointer.self)
    unsafe old.release()
  }

  /// Removes records.
  func remove(_ range: Range<Int>) {
    for index in range { releaseReference(at: index) }
    forget(range)
  }

  /// Moves the records of `range`, which end the page, to the end of `other`.
  func move(_ range: Range<Int>, to other: MemoryPage) {
    other.take(range, of: self)
    forget(range)
  }

  // MARK: The buffer

  @inline(__always)
  private func record(_ index: Int) -> UnsafeRawPointer {
    let offset = unsafe base.load(fromByteOffset: index * Self.slotBytes, as: UInt32.self)
    return unsafe UnsafeRawPointer(base) + Int(offset)
  }

  @inline(__always)
  private func recordBytes(_ record: UnsafeRawPointer) -> Int {
    let keyCount = unsafe Int(record.loadUnaligned(as: UInt16.self))
    let word = unsafe record.loadUnaligned(fromByteOffset: 2, as: MemoryWord.self)
    return Self.headerBytes + keyCount + (word.isReference ? Self.referenceBytes : word.count)
  }

  private func insert(
    _ key: UnsafeRawBufferPointer, reference: UnsafeMutableRawPointer, _ word: MemoryWord,
    at index: Int
  ) {
    references += 1
    unsafe withUnsafeBytes(of: reference) { unsafe insert(key, payload: $0, word, at: index) }
  }

  private func insert(
    _ key: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, _ word: MemoryWord,
    at index: Int
  ) {
    let bytes = Self.headerBytes + key.count + payload.count
    reserve(bytes + Self.slotBytes)
    heapStart -= bytes
    let target = unsafe base + heapStart
    unsafe target.storeBytes(of: UInt16(key.count), as: UInt16.self)
    unsafe target.storeBytes(of: word, toByteOffset: 2, as: MemoryWord.self)
    if let source = key.baseAddress {
      unsafe (target + Self.headerBytes).copyMemory(from: source, byteCount: key.count)
    }
    if let source = payload.baseAddress {
      unsafe (target + Self.headerBytes + key.count).copyMemory(
        from: source, byteCount: payload.count)
    }
    if isLeaf { unsafe share(key) }
    let slot = unsafe base + index * Self.slotBytes
    unsafe (slot + Self.slotBytes).copyMemory(
      from: slot, byteCount: (count - index) * Self.slotBytes)
    unsafe slot.storeBytes(of: UInt32(heapStart), as: UInt32.self)
    unsafe slot.storeBytes(of: head(of: key), toByteOffset: 4, as: UInt32.self)
    count += 1
    liveBytes += bytes + Self.slotBytes
  }

  /// Appends copies of records of `other`; references count as moved.
  private func take(_ range: Range<Int>, of other: MemoryPage) {
    for index in range {
      let source = unsafe other.record(index)
      let bytes = unsafe recordBytes(source)
      reserve(bytes + Self.slotBytes)
      heapStart -= bytes
      unsafe (base + heapStart).copyMemory(from: source, byteCount: bytes)
      unsafe base.storeBytes(
        of: UInt32(heapStart), toByteOffset: count * Self.slotBytes, as: UInt32.self)
      if other.isReference(index) { references += 1 }
      count += 1
      liveBytes += bytes + Self.slotBytes
    }
    if count > 0 {
      unsafe setHeads(sharing: isLeaf ? commonBytes(key(0), key(count - 1)) : 0)
    }
  }

  /// Shortens what the keys share to what `key` has too.
  ///
  /// An insertion may only shorten the shared prefix; then the heads of all records change.
  private func share(_ key: UnsafeRawBufferPointer) {
    let common = unsafe count == 0 ? key.count : commonBytes(key, self.key(0))
    if count == 0 {
      prefixBytes = common
    } else if common < prefixBytes {
      setHeads(sharing: common)
    }
  }

  private func setHeads(sharing common: Int) {
    prefixBytes = common
    for index in 0..<count {
      unsafe base.storeBytes(
        of: head(of: key(index)), toByteOffset: index * Self.slotBytes + 4, as: UInt32.self)
    }
  }

  /// Takes records out of the slots; their references were moved or released.
  private func forget(_ range: Range<Int>) {
    for index in range {
      liveBytes -= unsafe recordBytes(record(index)) + Self.slotBytes
      if isReference(index) { references -= 1 }
    }
    let target = unsafe base + range.lowerBound * Self.slotBytes
    let rest = count - range.upperBound
    unsafe target.copyMemory(
      from: base + range.upperBound * Self.slotBytes, byteCount: rest * Self.slotBytes)
    count -= range.count
  }

  /// Makes room, if need be in a larger buffer without the gaps of removed records.
  ///
  /// A page that runs out of space gets half as much again as it needs.
  private func reserve(_ bytes: Int) {
    guard heapStart - count * Self.slotBytes < bytes else { return }
    let wanted = liveBytes + bytes
    let larger = max(wanted + wanted / 2, 512)
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    var start = larger
    for index in 0..<count {
      let source = unsafe record(index)
      let bytes = unsafe recordBytes(source)
      start -= bytes
      unsafe (buffer + start).copyMemory(from: source, byteCount: bytes)
      unsafe buffer.storeBytes(
        of: UInt32(start), toByteOffset: index * Self.slotBytes, as: UInt32.self)
      unsafe buffer.storeBytes(
        of: head(index), toByteOffset: index * Self.slotBytes + 4, as: UInt32.self)
    }
    unsafe base.deallocate()
    unsafe base = buffer
    capacity = larger
    heapStart = start
  }

  // MARK: References

  @inline(__always)
  private func isReference(_ index: Int) -> Bool {
    unsafe record(index).loadUnaligned(fromByteOffset: 2, as: MemoryWord.self).isReference
  }

  private func reference(_ index: Int) -> Unmanaged<AnyObject>? {
    guard isReference(index) else { return nil }
    return unsafe .fromOpaque(UnsafeRawPointer(child(index).toOpaque()))
  }

  private func retainReference(at index: Int) { _ = unsafe reference(index)?.retain() }

  private func releaseReference(at index: Int) { unsafe reference(index)?.release() }
}

private func commonBytes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  let limit = min(a.count, b.count)
  var common = 0
  while common < limit, unsafe a[common] == b[common] { common += 1 }
  return common
}

/// The length of a value, and whether it is kept beside the page.
struct MemoryWord: BitwiseCopyable {
  private let word: UInt32

  init(_ count: Int, isReference: Bool = false) {
    word = UInt32(count) | (isReference ? 1 << 31 : 0)
  }

  var isReference: Bool { word >> 31 == 1 }
  var count: Int { Int(word & 0x7FFF_FFFF) }
}

/// A long value, kept beside the page.
///
/// `@unchecked Sendable` is sound because the bytes never change after `init`, and are freed once
/// in `deinit`.
@safe
final class MemoryValue: @unchecked Sendable {
  let bytes: UnsafeRawBufferPointer

  init(_ source: UnsafeRawBufferPointer) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 16)
    unsafe copy.copyMemory(from: source)
    unsafe bytes = UnsafeRawBufferPointer(copy)
  }

  deinit { unsafe bytes.deallocate() }
}

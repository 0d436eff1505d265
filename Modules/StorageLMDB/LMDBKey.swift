import TernStorage

/// The mapping of keys of any length to LMDB keys of at most 511 bytes, in exact key order.
///
/// Every LMDB key begins with the *space* it is in. Space 0 holds keys from their first byte; a
/// bucket holds what is left of keys that share everything before. A rest that fits is a row; of
/// a longer one the space holds a *pointer*: the first bytes and 0xFF, 511 bytes in all, a length
/// no row has. The pointer names the bucket with the rests. Format: Docs/Formats/storage-lmdb.md.
enum LMDBKey {
  /// The longest LMDB key; only pointers have this length.
  static let pointerBytes = 511
  /// The first byte of the space of whole keys.
  static let rootTag: UInt8 = 0
  /// The first byte of a bucket's space, before its number.
  static let bucketTag: UInt8 = 1
  /// The first byte of what the store keeps about itself.
  static let metaTag: UInt8 = 2
  /// The last byte of a pointer.
  static let pointerMark: UInt8 = 0xFF
}

/// A part of the LMDB keys: the root, or one bucket.
enum LMDBSpace: Equatable {
  case root
  case bucket(UInt64)

  /// The bytes every LMDB key of the space begins with.
  var prefixBytes: Int {
    switch self {
    case .root: 1
    case .bucket: 9
    }
  }

  /// The longest rest that is a row here, and what a pointer takes of a longer one.
  var capacity: Int { LMDBKey.pointerBytes - 1 - prefixBytes }

  /// Writes the space's prefix to `target`.
  func write(to target: UnsafeMutableRawPointer) {
    switch self {
    case .root: unsafe target.storeBytes(of: LMDBKey.rootTag, as: UInt8.self)
    case .bucket(let number):
      unsafe target.storeBytes(of: LMDBKey.bucketTag, as: UInt8.self)
      unsafe target.storeBytes(of: number.bigEndian, toByteOffset: 1, as: UInt64.self)
    }
  }
}

/// Room for one LMDB key, reused for each lookup.
@safe
struct LMDBKeyBuffer: ~Copyable {
  // Holds the 511 bytes of the longest LMDB key; owned by this value, freed once in `deinit`.
  private let base = UnsafeMutableRawPointer.allocate(
    byteCount: LMDBKey.pointerBytes + 1, alignment: 16)

  init() {}

  deinit { unsafe base.deallocate() }

  /// The LMDB key of `rest` in `space`: of the row if it fits, else of its pointer.
  @inline(__always)
  func key(_ space: LMDBSpace, _ rest: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let prefix = space.prefixBytes
    let taken = min(rest.count, space.capacity)
    unsafe space.write(to: base)
    if let bytes = rest.baseAddress, taken > 0 {
      unsafe (base + prefix).copyMemory(from: bytes, byteCount: taken)
    }
    var count = prefix + taken
    if rest.count > taken {
      unsafe base.storeBytes(of: LMDBKey.pointerMark, toByteOffset: count, as: UInt8.self)
      count += 1
    }
    return unsafe UnsafeRawBufferPointer(start: base, count: count)
  }

  /// The first LMDB key after every key of `space`.
  func end(of space: LMDBSpace) -> UnsafeRawBufferPointer {
    switch space {
    case .root: unsafe base.storeBytes(of: LMDBKey.bucketTag, as: UInt8.self)
    case .bucket(.max): unsafe base.storeBytes(of: LMDBKey.metaTag, as: UInt8.self)
    case .bucket(let number):
      unsafe LMDBSpace.bucket(number + 1).write(to: base)
      return unsafe UnsafeRawBufferPointer(start: base, count: 9)
    }
    return unsafe UnsafeRawBufferPointer(start: base, count: 1)
  }
}

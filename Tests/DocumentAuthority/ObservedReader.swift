@testable import TernDocumentAuthority
@testable import TernStorage

/// A reader that counts what it reads, and ends reads that take too much.
final class ObservedReader: StoreReader, ReadMemory {
  private let base: any StoreReader
  private let scanLimit: Int
  private let memoryLimit: Int
  private(set) var scans = 0
  private(set) var scannedBytes = 0
  private(set) var held = 0

  init(_ base: any StoreReader, scanLimit: Int = .max, memoryLimit: Int = .max) {
    self.base = base
    self.scanLimit = scanLimit
    self.memoryLimit = memoryLimit
  }

  func hold(_ bytes: Int) -> Bool {
    if held + bytes > memoryLimit { return false }
    held += bytes
    return true
  }

  func withValue<R>(
    for key: Span<UInt8>, _ body: (Span<UInt8>) throws(StorageError) -> R
  ) throws(StorageError) -> R? {
    try base.withValue(for: key, body)
  }

  func fill(_ page: inout RowPage, from scan: borrowing Scan) throws(StorageError) {
    scans += 1
    if scans > scanLimit { throw .abandoned }
    let before = page.count
    try base.fill(&page, from: scan)
    for row in before..<page.count { scannedBytes += page.value(at: row).count }
  }
}

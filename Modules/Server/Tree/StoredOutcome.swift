import TernLedger
import TernStorage
import TernTreeWire

/// The answer to a write as the ledger keeps it: empty for a plain success.
///
/// Layout: the status and the detail, each as a count of bytes and that many bytes of UTF-8.
/// Nothing at all means `ok` without detail, which is what almost all writes store.
struct StoredOutcome: Equatable {
  var status: TreeStatus
  var detail: String

  init(status: TreeStatus, detail: String) {
    self.status = status
    self.detail = detail
  }

  /// Reads a stored outcome.
  ///
  /// Never fails: whatever is missing counts as `ok`, or as an empty detail.
  init(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    let status = reader.counted().map { String(decoding: $0, as: UTF8.self) }
    let detail = reader.counted().map { String(decoding: $0, as: UTF8.self) }
    self.init(status: status.map { TreeStatus(rawValue: $0) } ?? .ok, detail: detail ?? "")
  }

  /// At most ``LedgerLimits/outcomeBytes``: a long detail is cut.
  func encode() -> [UInt8] {
    if status == .ok, detail.isEmpty { return [] }
    var writer = ByteWriter()
    writer.append(counted: Array(status.rawValue.utf8))
    writer.append(counted: Array(detail.utf8.prefix(LedgerLimits.outcomeBytes / 2)))
    return writer.bytes
  }
}

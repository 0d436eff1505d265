public import TernAssembly
public import TernLedger
import TernStorage

/// The reason the parts of a server are not running. Everything opened before is closed again.
public enum ServerAssemblyError: Error, Sendable {
  /// The configuration is wrong, or the store or the transport cannot be opened; see the case for
  /// what to do.
  case parts(AssemblyError)
  /// The ledger in the store at `path` could not be read; see the case for what to do.
  case ledger(LedgerError, path: String)
  /// The authenticator or an endpoint, `kind` in `section`, did not open; `reason` says what to
  /// correct.
  case plugin(section: String, kind: String, reason: String)
}

extension ServerAssemblyError {
  /// True when the store of the ledger is corrupt; `TernServer.damagedRecords(in:)` lists the
  /// corrupt records.
  public var isDamagedLedger: Bool {
    switch self {
    case .ledger(.storage(let error), _), .parts(.storage(let error, _, _)): error.isCorruption
    case .ledger(.corrupt(_), _): true
    default: false
    }
  }
}

extension ServerAssemblyError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .parts(let error): error.description
    case .ledger(let error, let path): "the ledger at \(path): \(error.description)"
    case .plugin(let section, let kind, let reason): "\(section) \"\(kind)\": \(reason)"
    }
  }
}

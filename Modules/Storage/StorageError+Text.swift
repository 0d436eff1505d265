#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension StorageError: CustomStringConvertible {
  /// The failure and its remedy, for the messages of a program.
  public var description: String {
    switch self {
    case .keyTooLong(let bytes):
      "a key of \(bytes) bytes; the limit is \(StorageLimits.keyBytes)"
    case .valueTooLong(let bytes):
      "a value of \(bytes) bytes; the limit is \(StorageLimits.valueBytes)"
    case .corruptRecord(let key): "the record under \(key.hexText) is damaged; restore the folder"
    case .corruptStore(let reason):
      "the files are damaged or not ours: \(reason); restore the folder"
    case .newerFormat(let found, let supported):
      "the files have format \(found), this program reads up to \(supported); upgrade it"
    case .inUse: "another program has the folder open; end it, or take another folder"
    case .readOnly: "the folder may not be written; check its permissions"
    case .cannotOpen(_, let code): "the folder cannot be made or entered: \(Self.systemText(code))"
    case .diskFull: "the disk is full, or the store's limitBytes reached; free some space"
    case .tooManyReaders(let limit): "more than \(limit) readers at once"
    case .syncFailed(let code): "the disk failed (\(code)); open the folder again and look"
    case .failed: "the disk failed before; open the folder again"
    case .closed: "the store was closed"
    case .abandoned: "the change was given up"
    case .backend(let operation, let code): "\(operation) failed with \(code)"
    }
  }

  /// The system's words for an `errno`.
  private static func systemText(_ code: Int32) -> String {
    unsafe strerror(code).map { unsafe String(cString: $0) } ?? "errno \(code)"
  }
}

extension [UInt8] {
  /// The bytes as in a dump: two digits each.
  var hexText: String {
    map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined(separator: " ")
  }
}

import TernStorage

extension LedgerError: CustomStringConvertible {
  /// The failure and its remedy, for the messages of a program.
  public var description: String {
    switch self {
    case .storage(let error): error.description
    case .truncated(let first): "the log begins at \(first)"
    case .foreignStore: "the folder holds something else; choose another one"
    case .newerFormat(let found, let supported):
      "the data has format \(found), this program reads up to \(supported); upgrade it"
    case .unavailable(let reason): reason
    case .corrupt(let key):
      StorageError.corruptRecord(key: key).description
    }
  }
}

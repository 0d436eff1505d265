public import TernClient
public import TernStorage
public import TernTransport

/// The reason why a database did not open. Nothing was changed, and nothing is left open.
public enum OpenError: TernError {
  /// The text is no address of a server; the reason names what to write.
  case address(String, reason: String)
  /// An option is outside its range: correct it.
  case option(String, reason: String)
  /// The store in a folder cannot be opened; see its error for what to do.
  case storage(StorageError, folder: String)
  /// A queue of writes cannot be read; see its error for what to do.
  case opening(OpeningError)
  /// The transport cannot be made; see its error for what to do.
  case transport(TransportError)
  /// The token names no user, or cannot be kept.
  case token(AuthError)

  /// The reason, in words.
  public var description: String {
    switch self {
    case .address(let text, let reason): "\"\(text)\" is no address of a server: \(reason)"
    case .option(let name, let reason): "the option \(name): \(reason)"
    case .storage(let error, let folder): "the store in \(folder): \(error)"
    case .opening(let error): error.description
    case .transport(let error): error.description
    case .token(let error): error.description
    }
  }
}

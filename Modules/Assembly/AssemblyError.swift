public import TernClient
public import TernStorage
public import TernSync
public import TernTransport

/// The reason the parts of a configuration are not running. Everything opened before is closed
/// again.
public enum AssemblyError: Error, Sendable {
  /// The configuration is wrong; nothing was opened. Correct it.
  case configuration(ConfigurationError)
  /// A store could not be opened; see the case for what to do. `path` is the store's folder.
  case storage(StorageError, kind: String, path: String)
  /// The queue of writes in the store at `path` could not be read; see the case for what to do.
  case queue(QueueError, path: String)
  /// The transport could not be made or cannot listen; see the case for what to do.
  case transport(TransportError)
}

extension AssemblyError: TernError {
  public var description: String {
    switch self {
    case .configuration(let error): error.description
    case .storage(let error, let kind, let path): "\(kind) storage at \(path): \(error.description)"
    case .queue(let error, let path): "the queue at \(path): \(error.description)"
    case .transport(let error): error.description
    }
  }
}

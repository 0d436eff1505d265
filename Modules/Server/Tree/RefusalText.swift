import TernCore
import TernPresence
import TernQuery
import TernStorage
import TernTreeAuthority
import TernTreeWire

/// Texts of rejections that many requests share.
enum RefusalText {
  /// The rejection of a request that meets damaged records.
  static let damaged = "What is stored here is damaged."
  /// The rejection of writes while the disk is full.
  static let full = "The server's disk is full. Nothing is stored until it has room again."
  /// The end of listens whose windows have grown.
  static let grown = "What the query shows takes more memory than its listeners may hold."
  /// The end of listens for which too much would have to be read.
  static let tooLong = "What the query shows is too large to be read."
  /// The end of listens whose queries a write would have read anew, beside too many others.
  static let overtaken = "A write changes too many queries at once. Listen again."
  /// The rejection of what only the node that leads decides.
  static let follows = "This node does not lead. Try again."
  /// The rejection of requests of a writer whose record cannot be read.
  static let lostWriter = "What is known of this client's writes is damaged on the server."

  /// The rejection of a conditional write whose node is too large to be compared.
  static func incomparable(limitBytes: Int) -> String {
    "The data to compare are larger than \(limitBytes) bytes."
  }

  /// The rejection of a write that makes a row longer than stores take.
  static func excess(_ error: StorageError) -> String {
    "What is written cannot be stored: \(error)"
  }
}

// What clients are told when a request is refused for its form; one sentence a rule.

extension TreeRejection {
  var text: String {
    switch self {
    case .invalid(let error): error.text
    case .tooManyKeyBytes(let limit):
      "Invalid write: the paths of its values take more than \(limit) bytes together."
    }
  }
}

extension WireError.RequestError {
  var text: String {
    switch self {
    case .tree(let error): error.text
    case .query(let error): "Invalid query: \(error)"
    case .member(let name): "Invalid request: \(name) is missing or of a wrong type."
    }
  }
}

extension TreeError {
  var text: String {
    switch self {
    case .emptyKey: "Invalid key: it has no characters."
    case .invalidKey(let key):
      "Invalid key \(key.debugDescription): . # $ / [ ] and control characters are not allowed."
    case .keyTooLong(let bytes, let limit):
      "Invalid key: \(bytes) bytes are more than \(limit)."
    case .tooDeep(let count, let limit): "Invalid path: \(count) levels are more than \(limit)."
    case .stringTooLong(let bytes, let limit):
      "Invalid value: a string of \(bytes) bytes is longer than \(limit)."
    case .notFinite: "Invalid value: a number is not finite."
    case .invalidPriority: "Invalid priority: only strings and finite numbers are allowed."
    case .invalidLeaf: "Invalid value: .value is not a leaf, or stands beside children."
    case .invalidServerValue: "Invalid value: unknown server value."
    case .overlappingPaths(let first, let second):
      "Invalid update: /\(first) and /\(second) overlap."
    case .pathTooLong(_, let limit):
      "Invalid path: down to a value it has more than \(limit) bytes."
    case .readOnly(let path): "Invalid path: /\(path) cannot be written."
    case .json(let error): "Invalid value: \(error)"
    }
  }
}

extension DisconnectOperations.Refusal {
  var text: String {
    switch self {
    case .tooManyWrites(let limit): "More than \(limit) writes are left for the disconnect."
    case .tooManyBytes(let limit):
      "More than \(limit) bytes of writes are left for the disconnect."
    }
  }
}

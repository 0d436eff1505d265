import TernCore
import TernDocumentWire
import TernQuery
import TernStorage
import TernSync

extension WriteError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .invalid(let error): error.description
    case .coding(let error): error.description
    case .queue(let error): "the write was not stored: \(error)"
    case .closed: "the database is closed"
    }
  }
}

extension AcknowledgementError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .rejected(let rejection): "the server rejected the write: \(rejection)"
    case .purged: "the write was purged before the server answered"
    case .closed: "the database was closed before the server answered; the write stays queued"
    case .notStored(let error): "the write was not stored: \(error)"
    case .cancelled: "the wait was cancelled; the write goes on"
    case .timedOut(let limit):
      "the server did not answer within \(limit); the write stays queued"
    }
  }
}

extension ReadError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .invalid(let error): error.description
    case .invalidQuery(let error): error.description
    case .rejected(let rejection): "the server denied the read: \(rejection)"
    case .offline: "the server cannot be reached, and the cache does not hold the whole answer"
    case .tooManyWaiting(let limit): "\(limit) reads are unanswered; wait for some of them"
    case .cancelled: "the wait was cancelled"
    case .closed: "the database is closed"
    }
  }
}

extension ListenError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .invalid(let error): error.description
    case .invalidQuery(let error): error.description
    case .rejected(let rejection): "the server denied the listen: \(rejection)"
    case .overflow(let limit): "the reader is \(limit) events behind"
    case .closed: "the database is closed"
    }
  }
}

extension DisconnectError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .invalid(let error): error.description
    case .rejected(let rejection): "the server rejected the onDisconnect operation: \(rejection)"
    case .tooManyWaiting(let limit):
      "\(limit) onDisconnect operations are unconfirmed; wait for some of them"
    case .cancelled: "the wait was cancelled; the registration goes on"
    case .closed: "the database is closed"
    }
  }
}

extension OpeningError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .queue(let error): "the queue of the tree cannot be opened: \(error)"
    case .documentQueue(let error): "the queue of the documents cannot be opened: \(error)"
    }
  }
}

extension AuthError: TernError {
  /// The reason, in words.
  public var description: String {
    switch self {
    case .malformedToken: "the text is no token, or names no user"
    case .userTooLong(let bytes, let limit):
      "the user's id has \(bytes) bytes; the limit is \(limit)"
    case .notStored(let error): "the token cannot be kept on this device: \(error)"
    }
  }
}

extension SessionBusy: TernError {
  /// The limit, in words.
  public var description: String { "\(limit) calls wait already; let the database catch up" }
}

extension TreeCodingError: TernError {
  /// The place in the value, and the reason.
  public var description: String {
    switch self {
    case .invalid(let error): error.description
    case .encoding(let text), .decoding(let text): text
    }
  }
}

extension DocumentCodingError: TernError {
  /// The place in the value, and the reason.
  public var description: String {
    switch self {
    case .invalid(let error): error.text
    case .encoding(let text), .decoding(let text): text
    }
  }
}

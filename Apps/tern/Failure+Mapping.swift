import TernAssembly
import TernClient
import TernCore
import TernServerAssembly
import TernSharedLedger
import TernSync
import TernTransport

extension Failure {
  /// No server answered.
  static let unreachable = Failure(.unreachable, "the server cannot be reached")

  /// Puts any error a command meets into words, and picks its exit code.
  init(about error: any Error) {
    switch error {
    case let failure as Failure: self = failure
    case let error as AssemblyError: self.init(about: error)
    case let error as ServerAssemblyError: self.init(about: error)
    case let error as ShardTransferError: self.init(about: error)
    case let error as WriteError: self.init(about: error)
    case let error as JSONError: self.init(.usage, "not JSON at \(error)")
    case let error as AcknowledgementError: self.init(about: error)
    case let error as ReadError: self.init(about: error)
    case let error as ListenError: self.init(about: error)
    case let error as DocumentsError: self.init(about: error)
    case let error as QueueError: self.init(.failed, "the queue: \(error)")
    case let error as ImportError: self.init(.usage, error.text)
    case let error as JSONSyntaxError: self.init(.usage, ImportError.syntax(error).text)
    default: self.init(.failed, "\(error)")
    }
  }

  private init(about error: AssemblyError) {
    switch error {
    case .configuration: self.init(.usage, error.description)
    case .transport(.invalidOption): self.init(.usage, error.description)
    case .storage, .queue, .transport: self.init(.failed, error.description)
    }
  }

  private init(about error: ServerAssemblyError) {
    switch error {
    case .parts(let error): self.init(about: error)
    case .ledger: self.init(.failed, error.description)
    case .plugin: self.init(.usage, error.description)
    }
  }

  private init(about error: WriteError) {
    switch error {
    case .invalid(let error): self.init(.usage, error.rule)
    case .coding(let error): self.init(.usage, "\(error)")
    case .queue(let error): self.init(.failed, "the write was not stored: \(error)")
    case .closed: self.init(.failed, "the database was closed")
    }
  }

  private init(about error: AcknowledgementError) {
    switch error {
    case .rejected(let rejection): self.init(about: rejection)
    case .notStored(let error): self.init(.failed, "the write was not stored: \(error)")
    case .purged: self.init(.failed, "the write was given up")
    case .closed, .cancelled: self.init(.failed, "the database was closed")
    case .timedOut: self = .unreachable
    }
  }

  private init(about error: ReadError) {
    switch error {
    case .invalid(let error): self.init(.usage, error.rule)
    case .invalidQuery(let error): self.init(.usage, error.rule)
    case .rejected(let rejection): self.init(about: rejection)
    case .offline: self = .unreachable
    case .tooManyWaiting(let limit): self.init(.failed, "more than \(limit) reads wait")
    case .closed, .cancelled: self.init(.failed, "the database was closed")
    }
  }

  private init(about error: ListenError) {
    switch error {
    case .invalid(let error): self.init(.usage, error.rule)
    case .invalidQuery(let error): self.init(.usage, error.rule)
    case .rejected(let rejection): self.init(about: rejection)
    case .overflow(let limit): self.init(.failed, "more than \(limit) events wait to be printed")
    case .closed: self.init(.failed, "the database was closed")
    }
  }

  private init(about error: DocumentsError) {
    switch error {
    case .invalid, .invalidQuery, .coding: self.init(.usage, error.description)
    case .timedOut: self = .unreachable
    case .invalidBundle, .cancelled, .closed, .notOpened: self.init(.failed, error.description)
    case .queue(let error): self.init(.failed, "the write was not stored: \(error)")
    case .refused(let status) where status.code == .unavailable: self = .unreachable
    case .refused(let status) where status.code == .notFound:
      self.init(.refused, "the server refused it: \(Self.missing(status.message))")
    case .refused: self.init(.refused, "the server refused it: \(error)")
    }
  }

  /// The service's words about a document that is not there, with its path alone.
  private static func missing(_ message: String) -> String {
    guard let end = message.firstRange(of: "/documents/")?.upperBound else { return message }
    return "there is no document \(message[end...])"
  }

  private init(about rejection: Rejection) {
    let detail = rejection.detail.isEmpty ? "" : ": \(rejection.detail)"
    if rejection.isOutcomeUnknown {
      self.init(.failed, "nobody knows what became of it\(detail) It is kept: tern pending")
      return
    }
    let missing = rejection.status == "notFound" ? Self.missing(rejection.detail) : nil
    self.init(
      .refused, "the server refused it: \(missing ?? "\(rejection.status)\(detail)")")
  }
}

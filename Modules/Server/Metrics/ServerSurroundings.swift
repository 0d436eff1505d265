import Synchronization

/// The parts of a program around a server that operators see together with it: what the process and
/// the store take, the latest denials, and the sink of the access log.
///
/// Safe to use from any thread. Functions that are stored here are called outside the lock.
package final class ServerSurroundings: Sendable {
  private struct State {
    var figures: @Sendable () -> SystemFigures = { SystemFigures() }
    var accessLog: (@Sendable (AccessRecord) -> Void)?
    var denials: [RecentDenial] = []
    var version = ""
    var isDraining = false
    var endedBackup: EndedBackup?
    var moreFigures: (@Sendable (inout MetricsText) -> Void)?
    var servingChanged: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Figures of the system, read when they are asked for.
  package var figures: SystemFigures { state.withLock { $0.figures }() }

  /// Lets a function read the figures of the system.
  package func read(_ figures: @escaping @Sendable () -> SystemFigures) {
    state.withLock { $0.figures = figures }
  }

  /// Adds the figures of other parts of the program to those of the server; `nil` for none.
  package var moreFigures: (@Sendable (inout MetricsText) -> Void)? {
    get { state.withLock { $0.moreFigures } }
    set { state.withLock { $0.moreFigures = newValue } }
  }

  /// Called, on the server's executor, when the server begins or ceases to serve clients because of
  /// its node's part in a cluster; `nil` for no call.
  package var servingChanged: (@Sendable () -> Void)? {
    get { state.withLock { $0.servingChanged } }
    set { state.withLock { $0.servingChanged = newValue } }
  }

  /// The version of the program, for the status.
  package var version: String {
    get { state.withLock { $0.version } }
    set { state.withLock { $0.version = newValue } }
  }

  /// True once the server takes no further clients because it is to stop.
  package internal(set) var isDraining: Bool {
    get { state.withLock { $0.isDraining } }
    set { state.withLock { $0.isDraining = newValue } }
  }

  /// The latest backup that the server ended before it was whole; `nil` for none.
  var endedBackup: EndedBackup? {
    get { state.withLock { $0.endedBackup } }
    set { state.withLock { $0.endedBackup = newValue } }
  }

  /// Receives each request over HTTP once it is answered; `nil` while that is switched off.
  package var accessLog: (@Sendable (AccessRecord) -> Void)? {
    get { state.withLock { $0.accessLog } }
    set { state.withLock { $0.accessLog = newValue } }
  }

  /// The denials that are kept.
  package static let mostDenials = 50

  /// The latest denials that were explained, the newest last.
  package var denials: [RecentDenial] { state.withLock { $0.denials } }

  /// Keeps a denial, in the place of the oldest one.
  package func add(_ denial: RecentDenial) {
    state.withLock { state in
      if state.denials.count >= Self.mostDenials { state.denials.removeFirst() }
      state.denials.append(denial)
    }
  }
}

/// One denial, as an operator's log tells it.
package struct RecentDenial: Sendable {
  /// The id that the client was shown; `nil` for none.
  package var id: String?
  /// In milliseconds since 1970.
  package var time: Int64
  /// The first line of the explanation.
  package var text: String

  /// The most bytes of the text.
  package static let textBytes = 500

  /// A denial; a longer text is cut.
  package init(id: String?, time: Int64, text: String) {
    self.id = id
    self.time = time
    let line = text.prefix { $0 != "\n" }
    self.text = String(decoding: line.utf8.prefix(Self.textBytes), as: UTF8.self)
  }
}

/// One request over HTTP, for the access log. It holds no credential and no data: of the target
/// only the path is told.
package struct AccessRecord: Sendable {
  /// The method.
  package var method: String
  /// The path, without its query.
  package var path: String
  /// The status; 0 when the connection ended before the answer.
  package var status: Int
  /// The bytes of the answer's body; of a call of gRPC those of its messages.
  package var bytes: Int
  /// The time from the head's arrival until the answer was handed over; of a call of gRPC until it
  /// ended.
  package var microseconds: Int64
  /// The client's address, without a port.
  package var address: String
  /// The id of a denial, by which its explanation is found.
  package var denial: String?
  /// The status that a call of gRPC ended with; `nil` for other requests.
  package var grpcStatus: Int?

  /// A record of an answered request.
  package init(
    method: String, path: String, status: Int, bytes: Int, microseconds: Int64, address: String,
    denial: String? = nil, grpcStatus: Int? = nil
  ) {
    self.method = method
    self.path = path
    self.status = status
    self.bytes = bytes
    self.microseconds = microseconds
    self.address = address
    self.denial = denial
    self.grpcStatus = grpcStatus
  }
}

/// The resources that the process and the store take; `nil` for those not known.
package struct SystemFigures: Sendable {
  /// The id of the process.
  package var processID: Int?
  /// The memory that the process has in use.
  package var residentBytes: Int?
  /// Its open descriptors, and how many it may have.
  package var descriptors: Int?
  package var descriptorLimit: Int?
  /// The processor time that it has used, in seconds.
  package var cpuSeconds: Double?
  /// The kind of the store.
  package var storeKind: String?
  /// The folder of the store.
  package var storePath: String?
  /// The bytes of its files.
  package var storeBytes: Int?
  /// The bytes that its file system has left.
  package var freeBytes: Int?

  /// Figures of which nothing is known.
  package init() {}
}

import CPostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// One connection to a database, used by one thread at a time. Every call returns by its deadline,
/// in milliseconds of the injected clock.
///
/// It uses libpq's asynchronous calls and waits on the socket itself, so that deadlines hold and a
/// closed log ends every wait within 50 ms. Statements and results are binary.
///
/// Life cycle: `init` starts to connect, ``finishConnecting(patience:deadline:)`` completes it,
/// `deinit` closes the connection. After an error for which ``PostgresFailure/endsConnection`` is
/// true, the connection must not be used again, because an answer may still be on its way.
@safe
final class PostgresConnection {
  /// The clock and the end of a log, as its connections see them.
  struct Conditions: Sendable {
    let uptime: @Sendable () -> Int64
    let isClosed: @Sendable () -> Bool
  }

  private let library: PostgresLibrary
  private let conditions: Conditions
  /// The names of the statements that the session keeps.
  private var kept: Set<String> = []
  /// False once the session has turned out not to keep statements.
  ///
  /// Poolers in transaction mode hand each transaction to another session, in which a kept
  /// statement is missing. The first such failure switches to unnamed statements for good.
  private var keepsStatements = true
  private var isInTransaction = false
  // Owned by this object and freed once, in `deinit`.
  @safe private let connection: OpaquePointer

  /// Begins to connect; ``finishConnecting(patience:deadline:)`` goes on.
  ///
  /// - Parameter parameters: Keywords of libpq and their values; a connection string as `dbname`
  ///   overrides what is before it.
  /// - Throws: ``PostgresFailure/unreachable(_:)``.
  init(
    _ parameters: [(keyword: String, value: String)], conditions: Conditions
  ) throws(PostgresFailure) {
    library = try PostgresLibrary()
    self.conditions = conditions
    // Safe: the strings and the lists live through the call.
    let keywords = unsafe parameters.map { unsafe strdup($0.keyword) }
    let values = unsafe parameters.map { unsafe strdup($0.value) }
    defer {
      for index in unsafe keywords.indices {
        unsafe free(keywords[index])
        unsafe free(values[index])
      }
    }
    let names = unsafe keywords.map { unsafe UnsafePointer($0) } + [nil]
    let texts = unsafe values.map { unsafe UnsafePointer($0) } + [nil]
    guard let connection = unsafe library.table.connectStartParams(names, texts, 1) else {
      throw .unreachable("libpq has no memory")
    }
    unsafe self.connection = connection
    unsafe tern_pq_ignore_notices(library.table, connection)
  }

  deinit { unsafe library.table.finish(connection) }

  /// False when the other end has closed the connection meanwhile, which it may announce first.
  ///
  /// Called before each operation. It reads whatever the server has sent meanwhile, such as the
  /// notice of a shutdown, up to 16 times.
  var isAlive: Bool {
    for _ in 0..<16 {
      let socket = unsafe library.table.socket(connection)
      guard unsafe library.table.status(connection) == TERN_PQ_CONNECTION_OK, socket >= 0 else {
        return false
      }
      var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      // Safe: one entry, which lives through the call.
      guard unsafe poll(&entry, 1, 0) > 0 else { return true }
      guard unsafe library.table.consumeInput(connection) == 1 else { return false }
    }
    return false
  }

  /// Runs a statement and returns its rows.
  ///
  /// - Parameters:
  ///   - values: The parameters, in the order of `$1`, `$2` and so on.
  ///   - deadline: The moment on the injected clock by which the call returns.
  /// - Returns: All rows. Statements of this library bound their results by a limit.
  /// - Throws: ``PostgresFailure/refused(state:message:)``, ``PostgresFailure/lost(_:)``,
  ///   ``PostgresFailure/closed``.
  @discardableResult
  func run(
    _ statement: PostgresStatement, _ values: [PostgresValue] = [], deadline: Int64
  ) throws(PostgresFailure) -> PostgresRows {
    // An error would end a transaction, and not be made good by another try.
    if let name = statement.name, keepsStatements, !isInTransaction {
      do throws(PostgresFailure) {
        if !kept.contains(name) {
          try prepare(statement, name, values)
          try finish(deadline: deadline)
          kept.insert(name)
        }
        try send(statement, values, keptAs: name)
        return try finish(deadline: deadline)
      } catch {
        guard error.isOfKeptStatement else { throw error }
        keepsStatements = false
      }
    }
    try send(statement, values)
    return try finish(deadline: deadline)
  }

  /// Waits for the end of what was sent, and returns its rows.
  ///
  /// All results are read also after a failure: libpq accepts the next statement only then.
  @discardableResult
  private func finish(deadline: Int64) throws(PostgresFailure) -> PostgresRows {
    try flush(deadline: deadline)
    var rows: PostgresRows?
    var failure: PostgresFailure?
    while true {
      while unsafe library.table.isBusy(connection) == 1 {
        try awaitSocket(POLLIN, deadline: deadline)
        try consume()
      }
      guard let result = unsafe library.table.getResult(connection) else { break }
      defer { unsafe library.table.clear(result) }
      do throws(PostgresFailure) { rows = unsafe try read(result) } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
    guard let rows else { throw .lost(message) }
    return rows
  }

  /// Runs `body` in a transaction: committed when it returns, rolled back when it throws.
  ///
  /// - Parameters:
  ///   - begin: The statement that begins it, which sets the isolation level.
  ///   - body: Runs statements on this connection. It may run again by a caller's repetition, so it
  ///     has no effect outside the database.
  /// - Throws: ``PostgresFailure/lost(_:)`` only if the commit was sent; what fails before it is
  ///   rolled back and thrown as ``PostgresFailure/unreachable(_:)``.
  func transaction<R>(
    _ begin: PostgresStatement = .begin, deadline: Int64, _ body: () throws(PostgresFailure) -> R
  ) throws(PostgresFailure) -> R {
    let result: R
    isInTransaction = true
    defer { isInTransaction = false }
    do throws(PostgresFailure) {
      try run(begin, deadline: deadline)
      result = try body()
    } catch {
      if case .lost(let reason) = error { throw .unreachable(reason) }
      if error.endsConnection { throw error }
      // A connection on which the transaction cannot be ended is not used again.
      do throws(PostgresFailure) { try run(.rollback, deadline: deadline) } catch {
        throw .unreachable("the transaction cannot be ended")
      }
      throw error
    }
    try run(.commit, deadline: deadline)
    return result
  }
}

extension PostgresConnection {
  /// The newest error of the connection, on one line.
  private var message: String {
    guard let text = unsafe library.table.errorMessage(connection) else { return "" }
    return Self.line(unsafe String(cString: text))
  }

  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { $0.trimmed }.joined(separator: "; ")
  }

  /// Connects to the first host that takes the connection.
  ///
  /// - Parameter patience: The time for which one host is waited for, in milliseconds. libpq leaves
  ///   a host that refuses, and waits for one that is silent.
  /// - Throws: ``PostgresFailure/unreachable(_:)``, ``PostgresFailure/closed``.
  func finishConnecting(patience: Int64, deadline: Int64) throws(PostgresFailure) {
    // CONNECTION_BAD: the parameters are invalid, or no address could be tried.
    guard unsafe library.table.status(connection) != 1 else { throw .unreachable(message) }
    var awaited = Int32(POLLOUT)
    var (tried, end) = (host, conditions.uptime() + patience)
    while true {
      do throws(PostgresFailure) { try awaitSocket(awaited, deadline: min(end, deadline)) } catch {
        if case .lost(let reason) = error { throw .unreachable(reason) }
        throw error
      }
      switch unsafe library.table.connectPoll(connection) {
      case Int32(TERN_PQ_POLLING_READING): awaited = POLLIN
      case Int32(TERN_PQ_POLLING_WRITING): awaited = POLLOUT
      case Int32(TERN_PQ_POLLING_OK):
        _ = unsafe library.table.setNonBlocking(connection, 1)
        return
      default: throw .unreachable(message)
      }
      let next = host
      if next != tried { (tried, end) = (next, conditions.uptime() + patience) }
    }
  }

  private func prepare(
    _ statement: PostgresStatement, _ name: String, _ values: [PostgresValue]
  ) throws(PostgresFailure) {
    // Safe: libpq copies names and types in the call.
    let isSent = unsafe library.table.sendPrepare(
      connection, name, statement.text, Int32(values.count), values.map(\.type))
    if isSent != 1 { throw .lost(message) }
  }

  /// Sends a statement.
  ///
  /// All values are written to one buffer, and libpq gets pointers into it. Formats are 1, binary,
  /// in both directions.
  ///
  /// - Parameter name: The name under which the session keeps it; `nil` for its text.
  private func send(
    _ statement: PostgresStatement, _ values: [PostgresValue], keptAs name: String? = nil
  ) throws(PostgresFailure) {
    var bytes: [UInt8] = []
    var lengths: [Int32] = []
    for value in values {
      let start = bytes.count
      value.write(to: &bytes)
      lengths.append(Int32(bytes.count - start))
    }
    let isSent = unsafe bytes.withUnsafeBytes { buffer in
      // Safe: libpq copies the values in the call; an empty value may have any address but nil.
      let base = unsafe buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
      var end = 0
      let pointers = unsafe lengths.map { length in
        defer { end += Int(length) }
        return unsafe base.map { unsafe ($0 + end).assumingMemoryBound(to: CChar.self) }
      }
      let formats = values.map { _ in Int32(1) }
      if let name {
        return unsafe library.table.sendQueryPrepared(
          connection, name, Int32(values.count), pointers, lengths, formats, 1)
      }
      return unsafe library.table.sendQueryParams(
        connection, statement.text, Int32(values.count), values.map(\.type), pointers, lengths,
        formats, 1)
    }
    if isSent != 1 { throw .lost(message) }
  }

  /// Sends what libpq has buffered.
  ///
  /// A large statement may fill the socket in both directions. Reading while writing avoids the
  /// deadlock in which each end waits for the other.
  private func flush(deadline: Int64) throws(PostgresFailure) {
    while true {
      switch unsafe library.table.flush(connection) {
      case 0: return
      case 1:
        // The server may have to get rid of what it has written before it reads on.
        if try awaitSocket(POLLIN | POLLOUT, deadline: deadline) & POLLIN != 0 { try consume() }
      default: throw .lost(message)
      }
    }
  }

  private func consume() throws(PostgresFailure) {
    if unsafe library.table.consumeInput(connection) != 1 { throw .lost(message) }
  }

  /// Waits until the socket is ready. Looks for the end of the log every 50 ms.
  ///
  /// - Returns: The events that `poll` reported.
  /// - Throws: ``PostgresFailure/lost(_:)`` at the deadline, ``PostgresFailure/closed`` once the
  ///   log is closed.
  @discardableResult
  private func awaitSocket(_ events: Int32, deadline: Int64) throws(PostgresFailure) -> Int32 {
    while true {
      if conditions.isClosed() { throw .closed }
      let left = deadline - conditions.uptime()
      guard left > 0 else { throw .lost("no answer in time") }
      let socket = unsafe library.table.socket(connection)
      guard socket >= 0 else { throw .lost(message) }
      var entry = pollfd(fd: socket, events: Int16(events), revents: 0)
      // Safe: one entry, which lives through the call.
      if unsafe poll(&entry, 1, Int32(min(left, 50))) > 0 { return Int32(entry.revents) }
    }
  }

  /// Reads a result that libpq lends.
  ///
  /// - Throws: ``PostgresFailure/refused(state:message:)`` with the SQLSTATE. An error without one
  ///   comes from libpq itself, and means that the connection is lost.
  private func read(_ result: OpaquePointer) throws(PostgresFailure) -> PostgresRows {
    let status = unsafe library.table.resultStatus(result)
    guard status == TERN_PQ_COMMAND_OK || status == TERN_PQ_TUPLES_OK else {
      let message = unsafe library.table.resultErrorMessage(result)
      let line = Self.line(unsafe message.map { unsafe String(cString: $0) } ?? "")
      guard
        let state = unsafe library.table.resultErrorField(
          result, Int32(TERN_PQ_DIAG_SQLSTATE))
      else { throw .lost(line) }
      throw .refused(state: unsafe String(cString: state), message: line)
    }
    let count = unsafe library.table.ntuples(result)
    let columns = unsafe library.table.nfields(result)
    var cells: [[UInt8]?] = []
    cells.reserveCapacity(Int(count * columns))
    for row in 0..<count {
      for column in 0..<columns {
        guard unsafe library.table.getisnull(result, row, column) == 0,
          let value = unsafe library.table.getvalue(result, row, column)
        else {
          cells.append(nil)
          continue
        }
        // Safe: the cell has so many bytes, and they are copied.
        let length = unsafe Int(library.table.getlength(result, row, column))
        cells.append(unsafe [UInt8](UnsafeRawBufferPointer(start: value, count: length)))
      }
    }
    return PostgresRows(count: Int(count), columns: Int(columns), cells: cells)
  }
}

extension Substring {
  /// The text without spaces at its ends.
  fileprivate var trimmed: Substring {
    var text = drop { $0.isWhitespace }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text
  }
}

extension PostgresConnection {
  /// The host that is tried, or that the connection leads to.
  var host: PostgresHost {
    // Safe: libpq's strings last until the connection is used again, and are copied.
    let texts = unsafe [
      library.table.host(connection), library.table.hostaddr(connection),
      library.table.port(connection),
    ].map { text in unsafe text.map { unsafe String(cString: $0) } ?? "" }
    return PostgresHost(name: texts[0], address: texts[1], port: texts[2])
  }

  /// The hosts of the connection's settings, whatever they come from.
  var hosts: [PostgresHost] {
    let texts = ["host", "hostaddr", "port"].map { keyword in
      // Safe: the copy is ours, and freed once.
      let text = unsafe tern_pq_setting(library.table, connection, keyword)
      defer { unsafe free(text) }
      return unsafe text.map { unsafe String(cString: $0) } ?? ""
    }
    return PostgresHost.list(names: texts[0], addresses: texts[1], ports: texts[2])
  }

  /// Blocks the thread for so many milliseconds at most.
  static func block(milliseconds: Int32) {
    _ = poll(nil, 0, milliseconds)
  }
}

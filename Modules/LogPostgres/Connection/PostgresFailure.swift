import TernCommitLog

/// The reason a statement failed.
///
/// The cases differ in what is known about the effect: `refused`, `unreachable`, `newerSchema`,
/// `tooManyRows` changed nothing; after `lost` and `unexpected` it is not known.
enum PostgresFailure: Error, Hashable {
  /// The database, or a pooler before it, answered with this SQLSTATE: it changed nothing, but for
  /// those of ``mayHaveChanged``.
  case refused(state: String, message: String)
  /// The connection was lost, or the deadline has passed, after the statement was sent.
  case lost(String)
  /// There is no connection; nothing was sent.
  case unreachable(String)
  /// The answer is not of the expected shape.
  case unexpected(String)
  /// The schema is of a later version of this library.
  case newerSchema(version: Int)
  /// More rows are to be removed than one transaction may remove, or can in its time. Nothing was
  /// changed.
  case tooManyRows
  /// The log was closed.
  case closed
}

extension PostgresFailure {
  /// The database's or libpq's own words.
  var text: String {
    switch self {
    case .refused(let state, let message): "\(message) (\(state))"
    case .lost(let reason), .unreachable(let reason), .unexpected(let reason): reason
    case .newerSchema(let version): "the schema has version \(version)"
    case .tooManyRows: "too many rows for one transaction"
    case .closed: "closed"
    }
  }

  /// True when the statement may succeed if it is run again over a new connection.
  var isRetriable: Bool {
    switch self {
    case .lost, .unreachable: true
    case .refused(let state, _): Self.isTransient(state)
    case .unexpected, .newerSchema, .tooManyRows, .closed: false
    }
  }

  /// True when the session does not have a statement that it was to keep, has another one of that
  /// name, or has it for tables that were changed since. The statement changed nothing.
  var isOfKeptStatement: Bool {
    guard case .refused(let state, _) = self else { return false }
    return ["26000", "42P05", "0A000"].contains(state)
  }

  /// True when a change may have taken effect.
  var mayHaveChanged: Bool {
    switch self {
    // With 40003 the database does not know itself. Class 08 is about a connection, and comes from
    // poolers: theirs to the database may have been lost behind the statement.
    case .refused(let state, _): state == "40003" || state.hasPrefix("08")
    case .lost, .unexpected: true
    case .unreachable, .newerSchema, .tooManyRows, .closed: false
    }
  }

  /// The error for a caller whose call changes nothing.
  var ofRead: CommitLogError {
    switch self {
    // Rights on tables; identity and password.
    case .refused("42501", _), .refused("28000", _), .refused("28P01", _): .denied(reason: text)
    case .refused, .lost, .unreachable, .unexpected, .tooManyRows: .unavailable(reason: text)
    case .newerSchema(let version): .incompatible(version: version)
    case .closed: .closed
    }
  }

  /// The error for a caller whose change may have taken effect if it was sent.
  var ofChange: CommitLogError { mayHaveChanged ? .unknownOutcome : ofRead }

  /// True for errors of connections, resources and conflicts, and of servers that shut down, start
  /// or have become a standby. The statement was rolled back.
  ///
  /// SQLSTATE 25006 read-only transaction; 40001 serialization failure; 40P01 deadlock; 57P01,
  /// 57P02, 57P03 and 57P05 shutdown, crash, start and idle timeout; class 08 connections; class 53
  /// resources.
  private static func isTransient(_ state: String) -> Bool {
    switch state {
    case "25006", "40001", "40P01", "57P01", "57P02", "57P03", "57P05": true
    default: state.hasPrefix("08") || state.hasPrefix("53")
    }
  }

  /// True when the connection is of no use after the error.
  var endsConnection: Bool {
    switch self {
    case .lost, .unreachable, .unexpected, .closed, .newerSchema: true
    case .tooManyRows: false
    case .refused(let state, _):
      state == "25006" || state.hasPrefix("57P") || state.hasPrefix("08")
        || state.hasPrefix("25")
    }
  }
}

/// One step from a version of the schema to the next.
struct PostgresMigration: Sendable {
  /// The version after the step.
  let version: Int64
  /// The statements of the step, run in one transaction together with the change of the version.
  let statements: [PostgresStatement]

  /// All steps, oldest first. The last one's version is the one that this library works with.
  static let all = [
    PostgresMigration(version: 1, statements: PostgresStatement.tables),
    PostgresMigration(version: 2, statements: PostgresStatement.buckets),
  ]
}

/// Brings the schema of a database to the version of this library.
struct PostgresSchema {
  let migrations: [PostgresMigration]

  /// The version that this library works with.
  var target: Int64 { migrations.last?.version ?? 0 }

  /// Creates or upgrades the schema if it is missing or older. Safe while other nodes do the same.
  ///
  /// The version is read first without a lock; almost every connection ends there. Otherwise the
  /// row of the version is locked, so that one node migrates and the others find the new version.
  ///
  /// - Throws: ``PostgresFailure/newerSchema(version:)`` and whatever running statements throws.
  func prepare(_ connection: PostgresConnection, deadline: Int64) throws(PostgresFailure) {
    if try version(connection, deadline: deadline) == target { return }
    do throws(PostgresFailure) {
      try connection.run(.createVersions, deadline: deadline)
    } catch {
      // Two nodes create the same table: one of them hears of a duplicate in the catalog.
      guard case .refused(let state, _) = error, ["23505", "42P07", "42710"].contains(state) else {
        throw error
      }
    }
    try connection.run(.insertVersion, deadline: deadline)
    try connection.transaction(deadline: deadline) { () throws(PostgresFailure) in
      let rows = try connection.run(.lockVersion, deadline: deadline)
      let version = try rows.number(0, 0)
      try check(version)
      guard version < target else { return }
      for step in migrations where step.version > version {
        for statement in step.statements { try connection.run(statement, deadline: deadline) }
      }
      try connection.run(.setVersion, [.number(target)], deadline: deadline)
    }
  }

  /// Returns the version of the database's schema, 0 when there is none.
  private func version(
    _ connection: PostgresConnection, deadline: Int64
  ) throws(PostgresFailure) -> Int64 {
    do throws(PostgresFailure) {
      let rows = try connection.run(.version, deadline: deadline)
      guard rows.count > 0 else { return 0 }
      let version = try rows.number(0, 0)
      try check(version)
      return version
    } catch {
      // No such table.
      if case .refused("42P01", _) = error { return 0 }
      throw error
    }
  }

  private func check(_ version: Int64) throws(PostgresFailure) {
    if version > target { throw .newerSchema(version: Int(version)) }
  }
}

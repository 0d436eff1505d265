import Foundation
public import TernSpecReplay

/// Recorded programs of requests over REST, against a server in this process.
public enum RESTGroup: FirestoreSpecGroup {
  public static let name = "rest"

  public static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport {
    #if canImport(Glibc)
      let programs = try recordings.cases("rest/programs.json").map { try RESTProgram($0) }
      let database = try await ServedDatabase()
      var entries: [SpecReport.Entry] = []
      for (index, program) in programs.enumerated() {
        do {
          entries += try await apart {
            try RESTProgramRun.replay(
              program, project: "rest-\(index)", port: database.port, wait: database.wait)
          }
        } catch {
          entries.append(.init(name: program.name, verdict: .failed("  \(error)")))
        }
      }
      await database.stop()
      return SpecReport(entries)
    #else
      throw SpecError("the group needs sockets of Linux")
    #endif
  }

  /// Runs what waits for a socket on a thread of its own: tasks share as many threads as there are
  /// cores, and the server needs one.
  private static func apart<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
  ) async throws -> Result {
    try await withCheckedThrowingContinuation { done in
      Thread.detachNewThread { done.resume(with: Swift.Result { try body() }) }
    }
  }
}

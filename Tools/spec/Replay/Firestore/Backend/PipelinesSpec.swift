import TernCore

/// Pipelines, which another edition of the service has: here the method answers UNIMPLEMENTED.
enum PipelinesSpec: FirestoreSpecGroup {
  static let name = "pipelines"

  static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport {
    let server = try SpecServer(try DocumentDatabase(projectID: "P"))
    let status = try server.status(ofMethod: "ExecutePipeline")
    let verdict: SpecReport.Verdict =
      status?.code == .unimplemented
      ? .skipped("ExecutePipeline answers 12, as the Standard edition does")
      : .failed("  expected that ExecutePipeline is unimplemented, found \(status as Any)")
    return SpecReport(
      try (recordings.json("pipelines/cases.json")["cases"]?.list ?? []).map { recorded in
        SpecReport.Entry(name: recorded["name"]?.text ?? "?", verdict: verdict)
      })
  }
}

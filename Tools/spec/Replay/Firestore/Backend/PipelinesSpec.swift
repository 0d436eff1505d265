import TernCore

/// Pipelines, which another edition of the service has: here the method answers UNIMPLEMENTED.
enum PipelinesSpec: FirestoreSpecGroup {
  static let name = "pipelines"

  static func replay(_ recordings: FirestoreRecordings) async throws -> SpecReport {
    SpecReport(
      try (recordings.json("pipelines/cases.json")["cases"]?.list ?? []).map { recorded in
        SpecReport.Entry(
          name: recorded["name"]?.text ?? "?",
          verdict: .skipped("ExecutePipeline answers 12, as the Standard edition does"))
      })
  }
}

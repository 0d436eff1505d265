#if TCP && canImport(Glibc)
  import Testing

  @testable import TernGateway

  @Suite("Documents over REST")
  struct DocumentTableTests {
    /// One line of the table.
    private struct Row {
      let request: Substring
      let body: Substring
      let status: Int
      let parts: [String]

      init?(_ line: Substring) {
        let columns = line.split(separator: "|", maxSplits: 3, omittingEmptySubsequences: false)
          .map { $0.trimmed }
        guard columns.count == 4, let status = Int(columns[2]) else { return nil }
        (request, body, self.status) = (columns[0], columns[1], status)
        parts = columns[3].split(separator: " & ")
          .map { String($0).replacing("{root}", with: DocumentClient.root) }
      }

      /// Returns the first part that the body lacks, or that it must not have.
      func difference(_ body: String) -> String? {
        parts.first { part in
          part.hasPrefix("!") ? body.contains(part.dropFirst()) : !body.contains(part)
        }
      }
    }

    @Test("requests have the answers of the table", .timeLimit(.minutes(10)))
    func table() async throws {
      try await withGateway { gateway in
        let client = try DocumentClient(gateway)
        var count = 0
        for line in DocumentTable.all.flatMap({ $0.split(separator: "\n") }) {
          let row = try #require(Row(line), "\(line)")
          let words = row.request.split(separator: " ", maxSplits: 1)
          let answer = try client.send(String(words[0]), String(words[1]), String(row.body))
          count += 1
          #expect(answer.status == row.status, "\(line)\n\(answer.status) \(answer.body)")
          if let part = row.difference(answer.body) {
            Issue.record("\(line)\nhas: \(part)\n\(answer.body)")
          }
        }
        #expect(count >= 200)
      }
    }
  }
#endif

import ArgumentParser
import TernClient
import TernCore
import TernQuery

extension DocumentCommands {
  /// `tern doc query`: some documents in an order, once; or numbers about them.
  struct Query: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the documents that a query selects, one a line, in its order.",
      discussion: """
        tern doc query cities --where 'state == "CA"' --order-by 'population desc' --limit 3
        tern doc query reviews --group --where 'stars >= 4' --count --average stars
        --count, --sum and --average print numbers that the server computes instead, at most five \
        in all. --explain says instead how the cache of this device answers the query. Exits with \
        5 when the query selects nothing.
        """)

    @Argument(help: "Which collection, such as cities; with --group its id.")
    var collection: String

    @OptionGroup var query: DocumentQueryOptions

    @Flag(help: "Print how many there are.")
    var count = false

    @Option(help: ArgumentHelp("Print the sum of a field; may be repeated.", valueName: "field"))
    var sum: [String] = []

    @Option(help: ArgumentHelp("Print the mean of a field; may be repeated.", valueName: "field"))
    var average: [String] = []

    @Flag(help: "Print how the cache answers, instead of asking the server.")
    var explain = false

    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func validate() throws {
      guard !explain || client.cache != nil else {
        throw ValidationError("--explain needs --cache: without it there is nothing to explain")
      }
    }

    func run() async throws {
      try client.checkDocuments()
      let aggregations = try aggregations
      try await client.withClient { run in
        let text = DocumentText(run.tern.documents.database, isTyped: form.typed)
        let query = run.tern.documents.query(try self.query.query(collection, text))
        if explain {
          await run.tern.documents.goOffline()
          printLine("\(try await query.explain())")
        } else if aggregations.isEmpty {
          try await list(query, run, text)
        } else {
          let values = try await run.read { () async throws(DocumentsError) in
            try await query.aggregate(aggregations)
          }
          print(values, of: aggregations, text)
        }
      }
    }

    private func list(
      _ query: DocumentQueryReference, _ run: ClientRun, _ text: DocumentText
    ) async throws {
      let snapshot = try await run.read(from: run.source) {
        (source) async throws(DocumentsError) in
        try await query.get(from: source)
      }
      for document in snapshot.documents {
        printLine(DocumentLine(document).line(text, asJSON: client.json))
      }
      if snapshot.count == 0 {
        throw Failure(.notFound, "the query selects nothing in \(collection)")
      }
    }

    /// The numbers that are asked for, each named as it is printed.
    private var aggregations: [DocumentAggregation] {
      get throws(Failure) {
        var wanted: [DocumentAggregation] = []
        if count { wanted.append(DocumentAggregation("count", .count(upTo: nil))) }
        for field in sum {
          wanted.append(DocumentAggregation("sum(\(field))", .sum(try fieldPath(field))))
        }
        for field in average {
          wanted.append(DocumentAggregation("average(\(field))", .average(try fieldPath(field))))
        }
        return wanted
      }
    }

    private func print(
      _ values: DocumentMap, of aggregations: [DocumentAggregation], _ text: DocumentText
    ) {
      var writer = JSONWriter()
      writer.beginObject()
      for aggregation in aggregations {
        let value = values[aggregation.alias] ?? .null
        writer.key(aggregation.alias)
        text.write(value, to: &writer)
        if !client.json { printLine("\(aggregation.alias) \(text.line(value))") }
      }
      writer.endObject()
      if client.json { printLine(String(decoding: writer.bytes, as: UTF8.self)) }
    }
  }
}

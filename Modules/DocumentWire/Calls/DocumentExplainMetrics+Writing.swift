/// `ExplainMetrics`. Source: firestore server reference, section 2.7.
///
/// The fields: 1 plan summary {1 indexes used, each a `Struct`}, 2 execution stats {1 results
/// returned, 3 duration, 4 read operations, 5 debug stats, a `Struct`}. Numbers in a `Struct` are
/// texts, as the service has them.
extension DocumentExplainMetrics {
  /// Writes the metrics; statistics only for a query that ran.
  func write(_ field: Int, to writer: inout ProtoWriter) {
    let mark = writer.begin(field)
    let plan = writer.begin(1)
    let index = writer.begin(1)
    Self.entry("query_scope", scope, &writer)
    Self.entry("properties", properties, &writer)
    writer.end(index)
    writer.end(plan)
    if let statistics { Self.write(statistics, to: &writer) }
    writer.end(mark)
  }

  /// Writes `ExecutionStats`. Each document and each index entry that was read counts as billable.
  private static func write(_ statistics: Statistics, to writer: inout ProtoWriter) {
    let mark = writer.begin(2)
    writer.int(1, statistics.returned)
    // Not measured: batches know no clock but that of their beginning.
    let duration = writer.begin(3)
    writer.end(duration)
    writer.int(4, statistics.documentsRead)
    let debug = writer.begin(5)
    entry("indexes_entries_scanned", "\(statistics.entriesRead)", &writer)
    entry("documents_scanned", "\(statistics.documentsRead)", &writer)
    let billing = writer.begin(1)
    writer.string(1, "billing_details")
    let value = writer.begin(2)
    let details = writer.begin(5)
    entry("documents_billable", "\(statistics.documentsRead)", &writer)
    entry("index_entries_billable", "\(statistics.entriesRead)", &writer)
    entry("small_ops", "0", &writer)
    entry("min_query_cost", "0", &writer)
    writer.end(details)
    writer.end(value)
    writer.end(billing)
    writer.end(debug)
    writer.end(mark)
  }

  /// Writes one member of a `google.protobuf.Struct`, a text.
  private static func entry(_ name: String, _ text: String, _ writer: inout ProtoWriter) {
    let mark = writer.begin(1)
    writer.string(1, name)
    let value = writer.begin(2)
    writer.put(3, text)
    writer.end(value)
    writer.end(mark)
  }
}

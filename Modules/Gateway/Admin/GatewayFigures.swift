import TernServer

/// The figures of requests over HTTP.
struct GatewayFigures {
  /// Answers by the first digit of their status. Index 0 counts those without a status; 1 to 5 are
  /// the classes `1xx` to `5xx`.
  private var answers = [Int](repeating: 0, count: 6)
  /// The times from a request's head until its answer was handed over.
  private var time = Histogram.durations
  /// The connections and bytes held now.
  var connections = 0
  /// The bytes of requests' bodies.
  var bodyBytes = 0
  /// The bytes of answers that clients have not taken.
  var answerBytes = 0

  /// Counts one answer. O(1).
  mutating func count(status: Int, microseconds: Int64) {
    answers[min(max(status / 100, 0), 5)] += 1
    time.record(Int(clamping: microseconds))
  }

  /// Adds the figures to those of the server.
  func add(to text: inout MetricsText, limits: GatewayLimits) {
    text.add(
      .counter, "tern_http_responses_total", "Answers over HTTP.", by: "class",
      (1...5).map { ("\($0)xx", answers[$0]) })
    text.add(
      "tern_http_duration_seconds", "Time from a request's head to its answer.", unit: 1e-6,
      [("", time)])
    text.add(.gauge, "tern_http_connections", "Open connections over HTTP.", connections)
    text.add(
      .gauge, "tern_http_connection_limit", "The most connections over HTTP.", limits.connections)
    text.add(
      .gauge, "tern_http_held_bytes", "Bytes held for requests over HTTP.", by: "use",
      [("bodies", bodyBytes), ("answers", answerBytes)])
  }
}

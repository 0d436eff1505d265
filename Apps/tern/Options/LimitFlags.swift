import ArgumentParser
import TernAssembly

/// How much clients may ask of a server.
struct LimitFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Requests a second from one address.", valueName: "count"))
  var limitAddress: Int?

  @Option(help: ArgumentHelp("Requests a second of one user.", valueName: "count"))
  var limitIdentity: Int?

  @Option(
    help: ArgumentHelp(
      "Bytes of one request over REST: 64 MiB if not given, 256 MiB at most.", valueName: "bytes"))
  var limitBody: Int?

  @Option(
    help: ArgumentHelp(
      "Memory that all clients may make the server hold: a quarter of what there is if not given.",
      valueName: "bytes"))
  var limitMemory: Int?

  /// Sets what was given; the rest stays as the configuration says.
  func apply(to configuration: inout Configuration) throws(ConfigurationError) {
    let given = [
      ("requestsPerAddress", limitAddress), ("requestsPerIdentity", limitIdentity),
      ("bodyBytes", limitBody), ("memoryBytes", limitMemory),
    ]
    for case (let key, let count?) in given {
      try configuration.set(
        .integer(Int64(count)), for: key, in: "limits", origin: "flag \(key)")
    }
  }
}

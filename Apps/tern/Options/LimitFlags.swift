import ArgumentParser
import TernAssembly

/// The flags for the limits of a server's clients.
struct LimitFlags: ParsableArguments {
  @Option(help: ArgumentHelp("Requests a second from one address.", valueName: "count"))
  var limitAddress: Int?

  @Option(help: ArgumentHelp("Requests a second of one user.", valueName: "count"))
  var limitIdentity: Int?

  @Option(
    help: ArgumentHelp(
      "Bytes of one request over REST: 64MiB if not given, 256MiB at most.", valueName: "size"))
  var limitBody: SizeArgument?

  @Option(
    help: ArgumentHelp(
      "Memory that all clients may make the server hold: a quarter of what there is if not given.",
      valueName: "size"))
  var limitMemory: SizeArgument?

  /// Sets what was given; the rest stays as the configuration says.
  func apply(to configuration: inout Configuration) throws(ConfigurationError) {
    let given = [
      ("requestsPerAddress", limitAddress), ("requestsPerIdentity", limitIdentity),
      ("bodyBytes", limitBody?.bytes), ("memoryBytes", limitMemory?.bytes),
    ]
    for case (let key, let count?) in given {
      try configuration.set(
        .integer(Int64(count)), for: key, in: "limits", origin: "flag \(key)")
    }
  }
}

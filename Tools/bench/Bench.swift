/// Measures rates beside a baseline, in one run on one machine, and prints the ratios.
///
/// `swift run -c release --disable-default-traits tern-bench [section ...] [--rows N]`
@main
struct Bench {
  /// Every section by name; a new one adds a line.
  static let sections: [(name: String, run: @Sendable (BenchOptions) throws -> [BenchLine])] = [
    ("storage", { try StorageSection.run($0) })
  ]

  static func main() throws {
    let options = BenchOptions(CommandLine.arguments.dropFirst())
    var hasMissed = false
    for section in sections
    where options.sections.isEmpty || options.sections.contains(section.name) {
      print("\(section.name), \(options.rows) rows")
      print(BenchLine.heading)
      for line in try section.run(options) {
        print(line.text)
        if !line.isMet { hasMissed = true }
      }
    }
    if hasMissed { print("some targets were missed") }
  }
}

/// What the command line says.
struct BenchOptions {
  var sections: [String] = []
  /// The rows in the stores that are measured.
  var rows = 1_000_000

  init(_ arguments: some Sequence<String>) {
    var wantsRows = false
    for argument in arguments {
      if wantsRows {
        rows = Int(argument) ?? rows
        wantsRows = false
      } else if argument == "--rows" {
        wantsRows = true
      } else {
        sections.append(argument)
      }
    }
  }
}

import ArgumentParser
import Foundation

/// `tern-fuzz`: hands damaged input to what reads bytes from clients, until it fails or time is
/// up.
///
/// Every input follows from the seed and its number alone, so that a failure can be played again.
@main
struct Fuzz: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tern-fuzz",
    abstract: "Hands damaged input to what reads bytes from clients.",
    discussion: """
      TARGET is one of \(FuzzTarget.all.map(\.name).joined(separator: ", ")), or all, which takes \
      turns. A failure, a trap included, is told with the seed and the number of the input; \
      --number plays that one again, and prints it first.
      """)

  @Argument(help: "What is to read the input.")
  var target: String

  @Option(help: "For how long, in seconds.")
  var seconds: Double = 60

  @Option(help: "Decides every input.")
  var seed: UInt64 = 1

  @Option(help: "Play only this input.")
  var number: UInt64?

  /// No input may take longer than this: what is written for clients must not be slow either.
  static let slowest = Duration.seconds(10)

  func run() throws {
    let targets = FuzzTarget.all.filter { target == "all" || $0.name == target }
    guard !targets.isEmpty else {
      throw ValidationError("There is no target named \(target).")
    }
    for target in targets { try play(target) }
  }

  private func play(_ target: FuzzTarget) throws {
    print("\(target.name): seed \(seed)")
    CrashReport.prepare(target.name, seed: seed)
    let mutator = Mutator(target, seed: seed)
    if let number { return try check(number, target, mutator, isShown: true) }
    let clock = ContinuousClock()
    let start = clock.now
    let end = start.advanced(by: .seconds(seconds))
    var played: UInt64 = 0
    while clock.now < end {
      try check(played, target, mutator, isShown: false)
      played += 1
    }
    print("\(target.name): \(played) inputs in \(start.duration(to: clock.now)), none failed")
  }

  private func check(
    _ number: UInt64, _ target: FuzzTarget, _ mutator: Mutator, isShown: Bool
  ) throws {
    let input = mutator.input(number)
    if isShown { print(Self.text(of: input)) }
    CrashReport.note(number)
    let clock = ContinuousClock()
    let start = clock.now
    var failure = target.check(input)
    let time = start.duration(to: clock.now)
    if failure == nil, time > Self.slowest { failure = "it took \(time)" }
    guard let failure else { return }
    print("FAILED \(target.name): \(failure)")
    print("  again: tern-fuzz \(target.name) --seed \(seed) --number \(number)")
    print(Self.text(of: input))
    throw ExitCode.failure
  }

  /// An input as text, where it is some, and as bytes.
  private static func text(of input: [UInt8]) -> String {
    let bytes = input.map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
    let text = String(decoding: input, as: UTF8.self).debugDescription
    return "  \(input.count) bytes: \(bytes)\n  as text: \(text)"
  }
}

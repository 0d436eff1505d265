package import TernLedger

/// The decision about a batch: commits to make, then outputs to perform.
///
/// The server commits ``commits`` in one transaction, compares the versions with ``versions``,
/// performs ``outputs``, starts ``reads``, and puts ``deferred`` back into the inbox.
package struct ServerPlan: Sendable {
  /// In order.
  package internal(set) var commits: [Commit] = []
  /// In order.
  package internal(set) var outputs: [ServerOutput] = []
  /// The version each commit has to get.
  package internal(set) var versions: [Version] = []
  /// Inputs that were not decided, in order: what was made for their links, or altogether, is to
  /// be sent first.
  package internal(set) var deferred: [ServerInput] = []
  /// The inputs whose decision took long work, and how much.
  package internal(set) var costs: [InputCost] = []
  /// Reads that go on beside the server's executor, once the commits are durable; each comes back
  /// as ``ServerInput/read(slot:_:)``.
  package internal(set) var reads: [ReadJob] = []
  /// Reads that are done, and further links that they serve: to be put in as
  /// ``ServerInput/read(slot:_:)``.
  package internal(set) var shared: [(slot: Int, job: ReadJob)] = []
  /// True when work is left that a further batch goes on with; ``ServerInput/goOn`` begins one.
  package internal(set) var isUnfinished = false
  /// The inputs that were decided, if any was not.
  var decided: [ServerInput] = []

  /// The writes among the inputs, while these are followed.
  var writes: [TracedWrite] = []
  /// The times at which the batch took its steps.
  var times = BatchTimes()

  /// The inputs that were decided, in order.
  package func decided(of inputs: [ServerInput]) -> [ServerInput] {
    deferred.isEmpty ? inputs : decided
  }
}

/// The output of one batch after which inputs wait for the next one.
///
/// Smaller portions make the server fairer, larger ones make it faster.
package struct BatchPortion: Sendable {
  /// The bytes for one link after which its further inputs wait.
  package var linkBytes: Int
  /// The bytes for all links after which all further inputs wait.
  package var totalBytes: Int
  /// The steps of long work after which what is left of it, and all further inputs, wait. A step
  /// takes about a microsecond: it ends one listen, or reads 256 bytes; a row takes two. Work that
  /// is short for every input, such as that of a small write, is not counted.
  package var steps: Int
  /// The rows after which a read is given up, to be done beside the server's executor.
  package var rows: Int

  /// Limits in bytes, steps and rows.
  package init(linkBytes: Int, totalBytes: Int, steps: Int = .max, rows: Int = .max) {
    self.linkBytes = linkBytes
    self.totalBytes = totalBytes
    self.steps = steps
    self.rows = rows
  }

  /// No limits.
  package static let unlimited = BatchPortion(linkBytes: .max, totalBytes: .max)

  /// The steps of long work between which other clients have their turn: about 200 microseconds.
  package static let sliceSteps = 200

  /// The rows of a read that is done at once: about 500 microseconds.
  package static let readRows = 256
}

/// A mistake that a node makes on purpose, so that tests can show that they would notice it.
///
/// No public declaration leads here. Off, each costs a comparison with `nil` on a path that talks
/// to the log or to the disk.
package enum PlantedFault: String, CaseIterable, Sendable {
  /// A leader applies a batch to its copy before the log has it.
  case appliesBeforeAppending
  /// A leader answers before its copy has the batch, and goes on without it.
  case answersWithoutApplying
  /// The checkpoint is moved without the states of writers.
  case forgetsWriters
  /// The checkpoint is moved without what was removed.
  case forgetsRemovals
}

/// A mistake that the server of a node makes on purpose, so that tests can show that they would
/// notice it.
///
/// No public declaration leads here. Off, each costs a comparison with `nil` where a node follows
/// or a session ends. Source: Docs/Decisions/0059-planted-faults-of-nodes.md.
package enum PlantedServerFault: String, CaseIterable, Sendable {
  /// A node that follows passes on the leader's answers before its copy has what they tell of.
  case answersBeforeCatchingUp
  /// A node that follows serves new sessions from its copy as it is.
  case servesOldCopy
  /// A node that follows tells listeners of batches that its copy does not get.
  case tellsWithoutApplying
  /// A node that follows keeps a change of the user to itself.
  case keepsFormerUser
  /// A node that follows goes on with sessions although the leader has lost their other half.
  case keepsSessionsWithoutLeader
  /// A node decides what is about databases of other shards.
  case decidesForOtherShards
  /// A leader does not forget the onDisconnect operations that it has carried out.
  case keepsFiredOperations
}

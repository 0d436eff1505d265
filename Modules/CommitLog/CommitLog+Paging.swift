extension CommitLog {
  public func page(
    in shard: ShardID, after position: LogPosition, limit: Int
  ) async throws(CommitLogError) -> LogPage {
    let head = try await open(shard).position
    let batches = try await batches(in: shard, after: position, limit: limit)
    return LogPage(batches: batches, head: max(head, batches.last?.position ?? .start))
  }
}

extension CommitLog {
  public func page(
    in shard: ShardID, after position: LogPosition, following id: UInt128?, limit: Int
  ) async throws(CommitLogError) -> LogPage {
    let head = try await open(shard).position
    let batches = try await batches(in: shard, after: position, following: id, limit: limit)
    return LogPage(batches: batches, head: max(head, batches.last?.position ?? .start))
  }
}

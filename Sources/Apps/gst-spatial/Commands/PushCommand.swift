// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
internal import Glibc
internal import PipelineFile
internal import Web

struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push",
    abstract: "Send a stream to a web server while it is being written, by HTTP PUT.",
    discussion: """
      Follows a folder that mvhevchlssink writes into. New segments are sent first, then the \
      playlists that list them; files that leave the folder are deleted on the server. It ends \
      with the stream (EXT-X-ENDLIST), or by Ctrl-C after the files that are there.

      The pipeline never waits for the server. If that is away, it is tried again, at least every \
      8 seconds, and gets what is in the folder then; segments that it never gets are gaps in its \
      playlists, and are told and counted.

      EXAMPLES
        gst-spatial push live https://ingest.example/live --header-file secret.txt
        gst-spatial push live http://127.0.0.1:8090/news --json
        gst-spatial push live https://BUCKET.s3.eu-central-1.amazonaws.com/news \
          --s3-region eu-central-1
      """)

  @Argument(help: "The folder of the stream.", completion: .directory)
  var folder: String

  @Argument(help: "The address of the folder on the server.")
  var address: String

  @Option(
    name: .customLong("header-file"),
    help: """
      A file with headers for each request, such as 'Authorization: Bearer TOKEN'; it is read \
      again when it changes.
      """,
    completion: .file())
  var headerFile: String?

  @Option(
    name: .customLong("ca-file"),
    help: "A file with the certificates of the authorities to trust, instead of the system's.",
    completion: .file())
  var authorities: String?

  @Option(
    name: .customLong("s3-region"),
    help: """
      The region of a bucket of Amazon S3, or of a store of its kind: requests are signed. The \
      keys are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials.
      """)
  var region: String?

  @Option(help: "The number of connections to the server.")
  var connections = 4

  @Flag(help: "Print events as JSON on standard output, one per line.")
  var json = false

  func validate() throws {
    guard (1...64).contains(connections) else {
      throw ValidationError("--connections must be a number from 1 to 64.")
    }
  }

  func run() async throws {
    let report = PushReport(isJSON: json)
    let headers = try headerFile.map {
      try SecretValue($0) { text in try HTTPPushServer.headers(in: text) }
    }
    let signature = try region.map(StorageKeys.signature)
    let servers = try (0..<connections).map { _ in
      do {
        return try HTTPPushServer(address, authorities: authorities, signature: signature) {
          headers?.current ?? []
        }
      } catch {
        Terminal.error.line("error: '\(address)': \(error)")
        throw ExitCode.mistakes
      }
    }
    if headerFile != nil, address.hasPrefix("http://") {
      Terminal.error.line("warning: the headers of '\(headerFile ?? "")' are sent unencrypted")
    }
    if region != nil, address.hasPrefix("http://") {
      Terminal.error.line("warning: the stream is sent unencrypted, and can be changed on the way")
    }
    let stopped = Locked(false)
    let pushing = Locked<StreamPush?>(nil)
    let manager = ServiceManager()
    let signals = EndSignals { _ in
      stopped.withLock { $0 = true }
      pushing.current?.stop()
    }
    defer { signals.stop() }
    let pinging = manager.keepAlive()
    defer { pinging?.cancel() }
    guard let push = try await waitForFolder(servers, stopped) else { return }
    pushing.withLock { $0 = push }
    if stopped.current { push.stop() }
    manager.tell(.ready(status: "pushing \(push.folder)"))
    report.begin(push.folder, address)
    let telling = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: .seconds(10))
        report.progress(push.counts)
        manager.tell(.status(PushReport.text(push.counts)))
      }
    }
    let isComplete = await push.run { report.show($0) }
    telling.cancel()
    manager.tell(.stopping)
    report.end(push.counts)
    guard isComplete, push.counts.lost == 0 else { throw ExitCode.runFailed }
  }

  /// Waits until the pipeline has made the folder; returns nil if the command is stopped before.
  private func waitForFolder(
    _ servers: [HTTPPushServer], _ stopped: Locked<Bool>
  ) async throws -> StreamPush? {
    var hasTold = false
    while !stopped.current {
      do {
        return try StreamPush(folder: folder, to: servers)
      } catch {
        guard error.code == ENOENT else {
          Terminal.error.line("error: '\(folder)' cannot be pushed: \(error)")
          throw ExitCode.mistakes
        }
        if !hasTold { Terminal.error.line("note: waiting for '\(folder)'") }
        hasTold = true
        try await Task.sleep(for: .milliseconds(250))
      }
    }
    return nil
  }
}

/// The words and lines about a push.
private struct PushReport: Sendable {
  let isJSON: Bool

  func begin(_ folder: String, _ address: String) {
    if isJSON {
      line([("event", "begin"), ("folder", .string(folder)), ("address", .string(address))])
    } else {
      Terminal.output.line("pushing \(folder) to \(address)")
    }
  }

  func progress(_ counts: StreamPush.Counts) {
    if isJSON { line([("event", "progress")] + Self.fields(counts)) }
  }

  func end(_ counts: StreamPush.Counts) {
    if isJSON {
      line([("event", "end")] + Self.fields(counts))
    } else {
      Terminal.output.line(Self.text(counts))
    }
  }

  func show(_ event: StreamPush.Event) {
    var fields: [(String, JSON)]
    let text: String
    switch event {
    case .interrupted(let reason):
      fields = [("event", "interrupted"), ("reason", .string(reason))]
      text = "warning: the server takes nothing at present, and is tried again: \(reason)"
    case .resumed:
      fields = [("event", "resumed")]
      text = "note: the server takes files again"
    case .lost(let path, let reason):
      fields = [("event", "lost"), ("path", .string(path)), ("reason", .string(reason))]
      text = "warning: the server never gets '\(path)': \(reason)"
    case .refused(let path, let reason):
      fields = [("event", "refused"), ("path", .string(path)), ("reason", .string(reason))]
      text = "warning: '\(path)' cannot be brought up to date on the server: \(reason)"
    case .missingFolder:
      fields = [("event", "missing-folder")]
      text = "warning: the folder cannot be read; the server keeps what it has"
    case .hasParts:
      fields = [("event", "parts")]
      text =
        "warning: the stream has parts (part-duration), so the server has to hold requests for "
        + "them; a plain web server does not"
    }
    guard isJSON else { return Terminal.error.line(text) }
    fields.append(("time", JSON(Int(time(nil)))))
    line(fields)
  }

  private func line(_ fields: [(String, JSON)]) { Terminal.output.line(JSON.object(fields).line) }

  private static func fields(_ counts: StreamPush.Counts) -> [(String, JSON)] {
    [
      ("files", JSON(counts.files)), ("bytes", JSON(counts.bytes)),
      ("deleted", JSON(counts.deleted)), ("retries", JSON(counts.retries)),
      ("lost", JSON(counts.lost)), ("waiting", JSON(counts.waiting)),
      ("interrupted", .bool(counts.isInterrupted)),
    ]
  }

  static func text(_ counts: StreamPush.Counts) -> String {
    var facts = ["\(counts.files) files sent (\(NumberFormat.size(counts.bytes)))"]
    if counts.deleted > 0 { facts.append("\(counts.deleted) deleted") }
    if counts.lost > 0 { facts.append("\(counts.lost) lost") }
    if counts.waiting > 0 { facts.append("\(counts.waiting) waiting") }
    return facts.joined(separator: ", ")
  }
}

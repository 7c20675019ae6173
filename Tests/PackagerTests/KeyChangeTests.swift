// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import Testing

/// Keys that change while segments are written.
struct KeyChangeTests {
  /// An encryption whose ciphertext is the number of the key, over and over; that of audio is
  /// greater by 100.
  private struct Keys: ContentEncrypting {
    let number: UInt8

    func encryptor(of rendition: Rendition) throws -> any SampleEncrypting<[UInt8]> {
      var number = number
      if case .audio = rendition.content { number += 100 }
      return try Encryptor(number)
    }
  }

  private struct Encryptor: SampleEncrypting {
    let key: ContentKey
    private let number: UInt8

    init(_ number: UInt8) throws {
      self.number = number
      let bytes = [UInt8](repeating: number, count: 16)
      let protection = try #require(TrackProtection(keyID: bytes, initializationVector: bytes))
      key = ContentKey(protection, deliveries: [KeyDelivery(uri: "skd://\(number)", format: "x")])
    }

    mutating func encrypt(_ payload: [UInt8]) throws -> EncryptedSample<[UInt8]> {
      EncryptedSample(payload.map { _ in number }, subsamples: [])
    }
  }

  /// A stream that comes later than its times say.
  private typealias Source = (
    rendition: Rendition, samples: [PackagedSample<[UInt8]>], latency: Int64
  )

  /// Plays sources, and encrypts by keys from points in time on; nil stands for no key.
  private func play(
    _ settings: PackagerSettings, _ sources: [Source], keys: [(time: Int64, number: UInt8?)]
  ) throws -> Disk {
    var packager = Packager<[UInt8]>(settings)
    packager.date = 0
    let disk = Disk()
    var keys = keys[...]
    func changeKeys(at now: Int64) {
      while let next = keys.first, next.time <= now {
        packager.encrypt(by: next.number.map(Keys.init))
        keys.removeFirst()
      }
    }
    changeKeys(at: 0)
    let indices = try sources.map { try packager.add($0.rendition) }
    var queues = sources.map { $0.samples[...] }
    for now in stride(from: 0, to: 60 * second, by: Int(second / 20)) {
      changeKeys(at: now)
      for (number, source) in sources.enumerated() {
        while let sample = queues[number].first, sample.decodeTime + source.latency <= now {
          queues[number].removeFirst()
          try packager.append(sample, to: indices[number])
        }
      }
      try disk.take(&packager)
    }
    for index in indices { try packager.end(index) }
    try disk.take(&packager)
    return disk
  }

  /// The number of the key of each segment of a rendition, 0 for none, as playlist, initialization
  /// section and content say alike. A discontinuity begins where it changes, and nowhere else.
  private func keys(_ disk: Disk, _ name: String) throws -> [Int] {
    let list = try disk.playlist("\(name)/index.m3u8")
    var numbers: [Int] = []
    for segment in list.segments where !segment.isGap {
      let uri = segment.keyTags.first?.firstMatch(of: /URI="skd:\/\/(\d+)"/)?.output.1
      let number = uri.flatMap { Int($0) } ?? 0
      let address = try #require(segment.map).uri
      let map = try #require(disk.files["\(name)/\(address)"])
      let identifier = [UInt8](repeating: UInt8(number), count: 16)
      #expect(map.contains(Array("tenc".utf8)) == (number > 0), "\(name) \(segment.uri)")
      #expect(number == 0 || map.contains(identifier), "\(name) \(segment.uri)")
      let bytes = try #require(disk.files["\(name)/\(segment.uri)"])
      let contents = bytes.split(separator: Array("mdat".utf8)).dropFirst()
      #expect(!contents.isEmpty)
      if number > 0 {
        #expect(bytes.last == UInt8(number), "\(name) \(segment.uri)")
        #expect(contents.allSatisfy { $0.first == UInt8(number) }, "\(name) \(segment.uri)")
      }
      if let last = numbers.last {
        #expect((last != number) == segment.startsDiscontinuity, "\(name)\n\(list.text)")
      }
      numbers.append(number)
    }
    return numbers
  }

  @Test(
    "another key begins with the next segment, at the same time in all renditions",
    arguments: [0, 1, 7, 15] as [Int64], [0, 250_000_000] as [UInt64])
  func change(tenths: Int64, part: UInt64) throws {
    var settings = PackagerSettings(.event, target: 1)
    settings.partDuration = part
    settings.names.manifest = "manifest.mpd"
    let late = tenths * second / 10
    let disk = try play(
      settings,
      [
        (video("a", iFrames: true), pictures(240), 0), (video("b"), pictures(240), late / 2),
        (audio("c"), packets(375), late),
      ],
      // Of two that come at once, the second one is taken.
      keys: [(0, 1), (second * 5 / 2, 2), (second * 13 / 5, 3), (second * 9 / 2, 4)])
    let wanted = [1, 1, 1, 3, 3, 4, 4, 4]
    #expect(try keys(disk, "a") == wanted)
    #expect(try keys(disk, "b") == wanted)
    #expect(try keys(disk, "c") == wanted.map { $0 + 100 })
    let manifest = try disk.text("manifest.mpd")
    let periods = manifest.split(separator: "<Period ").dropFirst()
    #expect(periods.count == 3)
    for (period, number) in zip(periods, [1, 3, 4] as [UInt8]) {
      for identifier in [number, number + 100] {
        let text = String(repeating: hexadecimal(identifier), count: 4)
        #expect(period.contains("cenc:default_KID=\"\(text)-"), "\(period)")
      }
    }
    let main = try disk.text("main.m3u8")
    #expect(main.contains("skd://4") && main.contains("skd://104") && !main.contains("skd://1\""))
  }

  private func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  @Test("encryption begins and ends within a run")
  func clear() throws {
    let disk = try play(
      PackagerSettings(.event, target: 1),
      [(video("a"), pictures(180), 0), (audio("c"), packets(281), 0)],
      keys: [(second * 3 / 2, 1), (second * 7 / 2, nil)])
    #expect(try keys(disk, "a") == [0, 0, 1, 1, 0, 0])
    #expect(try keys(disk, "c") == [0, 0, 101, 101, 0, 0])
  }

  @Test("a rendition that is silent when the key changes comes back with the new one")
  func silent() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.event, target: 1))
    packager.encrypt(by: Keys(number: 1))
    let disk = Disk()
    let (first, other) = (try packager.add(video("a")), try packager.add(video("b")))
    let all = pictures(240)
    for (number, sample) in all.enumerated() {
      if number == 60 { try packager.passOver(other) }
      if number == 100 { packager.encrypt(by: Keys(number: 2)) }
      try packager.append(sample, to: first)
      if number < 60 || number >= 180 { try packager.append(sample, to: other) }
      try disk.take(&packager)
    }
    for index in [first, other] { try packager.end(index) }
    try disk.take(&packager)
    for name in ["a", "b"] {
      let list = try disk.playlist("\(name)/index.m3u8")
      let keys = list.segments.filter { !$0.isGap }.map { segment in
        segment.keyTags.first?.contains("skd://2") ?? false ? 2 : 1
      }
      #expect(keys == (name == "a" ? [1, 1, 1, 1, 2, 2, 2, 2] : [1, 1, 2]), "\(list.text)")
      for segment in list.segments where !segment.isGap {
        let number: UInt8 = segment.keyTags.first?.contains("skd://2") ?? false ? 2 : 1
        let bytes = try #require(disk.files["\(name)/\(segment.uri)"])
        #expect(bytes.suffix(50).allSatisfy { $0 == number }, "\(name) \(segment.uri)")
      }
    }
  }
}

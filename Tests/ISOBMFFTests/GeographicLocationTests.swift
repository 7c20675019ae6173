// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

struct GeographicLocationTests {
  @Test(
    "the texts of phones are read, and written again as they were",
    arguments: [
      ("+37.3349-122.0090+021.000/", 37.3349, -122.009, 21.0),
      ("-33.8567+151.2152-003.250/", -33.8567, 151.2152, -3.25),
      ("+00.0000+000.0000/", 0, 0, nil), ("+48.85770123-000.0001/", 48.857_701_23, -0.0001, nil),
    ] as [(String, Double, Double, Double?)])
  func texts(text: String, latitude: Double, longitude: Double, altitude: Double?) throws {
    let location = try #require(GeographicLocation(iso6709: text))
    #expect(location.latitude == latitude)
    #expect(location.longitude == longitude)
    #expect(location.altitude == altitude)
    #expect(location.iso6709 == text)
  }

  @Test(
    "minutes, seconds and a reference system are understood",
    arguments: ["+4030-07345CRSWGS_84/", "+403000-0734500/", "+40.5-073.75", "+4030.0-07345.00/"])
  func otherForms(text: String) throws {
    let location = try #require(GeographicLocation(iso6709: text))
    #expect(location.latitude == 40.5)
    #expect(location.longitude == -73.75)
  }

  @Test(
    "text that is no location gives nil",
    arguments: [
      "", "/", "+", "+40", "40.5-73.75", "+91.0+000.0/", "+40.0+181.0/", "+nan+000/", "+1e1+000/",
      "+40.0+000.0+1+2/", "+40.0+000.0+999999999/", "+40..0+000.0/", "somewhere",
      String(repeating: "+1", count: 1000),
    ])
  func nonsense(text: String) {
    #expect(GeographicLocation(iso6709: text) == nil)
    #expect(GeographicLocation(latitude: .nan, longitude: 0) == nil)
  }
}

import { crc32, inflateRawSync } from 'node:zlib'

/** The files of a ZIP archive by name, as its directory lists them. */
export function unzipped(archive: Buffer): Record<string, string> {
  const end = archive.lastIndexOf(Buffer.from('PK\u0005\u0006'))
  const files: Record<string, string> = {}
  let place = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const [packed, bytes] = [archive.readUInt32LE(place + 20), archive.readUInt32LE(place + 24)]
    const [nameLength, extra] = [archive.readUInt16LE(place + 28), archive.readUInt16LE(place + 30)]
    const name = archive.toString('utf8', place + 46, place + 46 + nameLength)
    const from = archive.readUInt32LE(place + 42)
    const data = from + 30 + archive.readUInt16LE(from + 26) + archive.readUInt16LE(from + 28)
    const content = inflateRawSync(archive.subarray(data, data + packed))
    if (content.length !== bytes || crc32(content) !== archive.readUInt32LE(place + 16))
      throw new Error(`${name} is damaged`)
    files[name] = content.toString()
    place += 46 + nameLength + extra
  }
  return files
}

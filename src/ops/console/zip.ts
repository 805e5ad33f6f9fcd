import { once } from 'node:events'
import { crc32, createDeflateRaw, type DeflateRaw } from 'node:zlib'

type ArchivedFile = { name: Buffer; offset: bigint; crc: number; packed: bigint; bytes: bigint }

/** From here on, a number is in the fields of ZIP64. */
const large = 0xffff_ffff

/** Sizes follow the data; names are UTF-8. */
const flags = 0x0808
const deflated = 8
/** 1980-01-01, so that the same content gives the same bytes. */
const day = 0x0021

/**
 * A ZIP archive that is sent while it is made, one file after the other. Format: APPNOTE.TXT of PKWARE, 6.3.10.
 * @param send is awaited, so that a slow receiver slows down the writer
 */
export class ZipWriter {
  readonly #send: (chunk: Buffer) => Promise<void>
  readonly #files: ArchivedFile[] = []
  #open: { file: ArchivedFile; deflate: DeflateRaw; ready: Buffer[] } | null = null
  #offset = 0n

  constructor(send: (chunk: Buffer) => Promise<void>) {
    this.#send = send
  }

  /** Begins a file, after the one before has ended. */
  async begin(name: string): Promise<void> {
    const file = { name: Buffer.from(name), offset: this.#offset, crc: 0, packed: 0n, bytes: 0n }
    const [deflate, ready]: [DeflateRaw, Buffer[]] = [createDeflateRaw(), []]
    deflate.on('data', (chunk: Buffer) => ready.push(chunk))
    this.#open = { file, deflate, ready }
    const head = fields([4, 0x0403_4b50], ...shared(file, { crc: 0, packed: 0n, bytes: 0n }), [2, 0])
    await this.#put(Buffer.concat([head, file.name]))
  }

  async write(data: Buffer): Promise<void> {
    const { file, deflate } = this.#opened()
    file.crc = crc32(data, file.crc)
    file.bytes += BigInt(data.length)
    await new Promise((done) => deflate.write(data, done))
    await this.#drain()
  }

  async end(): Promise<void> {
    const { file, deflate } = this.#opened()
    deflate.end()
    await once(deflate, 'end')
    await this.#drain()
    this.#open = null
    this.#files.push(file)
    const width = isLarge(file.packed, file.bytes) ? 8 : 4
    await this.#put(fields([4, 0x0807_4b50], [4, file.crc], [width, file.packed], [width, file.bytes]))
  }

  /** A whole file at once. */
  async file(name: string, text: string): Promise<void> {
    await this.begin(name)
    await this.write(Buffer.from(text))
    await this.end()
  }

  /** The directory, without which there is no archive. */
  async finish(): Promise<void> {
    const from = this.#offset
    for (const file of this.#files) await this.#put(entryOf(file))
    const [count, size] = [BigInt(this.#files.length), this.#offset - from]
    if (isLarge(size, from) || count >= 0xffffn) await this.#put(largeEnd(count, size, from))
    const shown = count < 0xffffn ? count : 0xffffn
    await this.#put(
      fields([4, 0x0605_4b50], [4, 0], [2, shown], [2, shown], [4, least(size)], [4, least(from)], [2, 0]),
    )
  }

  #opened() {
    if (this.#open === null) throw new Error('invariant broken: a file of the archive is open')
    return this.#open
  }

  async #drain(): Promise<void> {
    const { file, ready } = this.#opened()
    for (const chunk of ready.splice(0)) {
      file.packed += BigInt(chunk.length)
      await this.#put(chunk)
    }
  }

  async #put(chunk: Buffer): Promise<void> {
    this.#offset += BigInt(chunk.length)
    await this.#send(chunk)
  }
}

type Field = readonly [bytes: 2 | 4 | 8, value: number | bigint]

/** In the order of the lowest byte first. */
function fields(...all: readonly Field[]): Buffer {
  return Buffer.concat(
    all.map(([bytes, value]) => {
      const field = Buffer.alloc(8)
      field.writeBigUInt64LE(BigInt(value))
      return field.subarray(0, bytes)
    }),
  )
}

type Sizes = Pick<ArchivedFile, 'crc' | 'packed' | 'bytes'>

/** Of both heads of a file. */
function shared({ name }: ArchivedFile, { crc, packed, bytes }: Sizes): Field[] {
  return [
    [2, 45],
    [2, flags],
    [2, deflated],
    [2, 0],
    [2, day],
    [4, crc],
    [4, least(packed)],
    [4, least(bytes)],
    [2, name.length],
  ]
}

function entryOf(file: ArchivedFile): Buffer {
  const { offset, packed, bytes } = file
  const more = isLarge(offset, packed, bytes)
  // Either all three numbers are large, or none is.
  const shown = more ? { ...file, packed: BigInt(large), bytes: BigInt(large) } : file
  const extra = more ? fields([2, 1], [2, 24], [8, bytes], [8, packed], [8, offset]) : Buffer.alloc(0)
  const head = fields(
    [4, 0x0201_4b50],
    [2, 45],
    ...shared(file, shown),
    [2, extra.length],
    [8, 0],
    [2, 0],
    [4, more ? large : offset],
  )
  return Buffer.concat([head, file.name, extra])
}

/** The end of a ZIP64 directory, and where it is. */
function largeEnd(count: bigint, size: bigint, from: bigint): Buffer {
  return fields(
    [4, 0x0606_4b50],
    [8, 44],
    [2, 45],
    [2, 45],
    [8, 0],
    [8, count],
    [8, count],
    [8, size],
    [8, from],
    [4, 0x0706_4b50],
    [4, 0],
    [8, from + size],
    [4, 1],
  )
}

function isLarge(...numbers: readonly bigint[]): boolean {
  return numbers.some((number) => number >= BigInt(large))
}

function least(number: bigint): bigint {
  return number < BigInt(large) ? number : BigInt(large)
}

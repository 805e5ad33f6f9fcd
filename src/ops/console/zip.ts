import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { ZipFile } from 'yazl'

/** For every file, so that the same content gives the same bytes. */
const options = { mtime: new Date(1980, 0, 1), forceDosTimestamp: true }

/** A ZIP archive that is read while it is made, one file after the other. A slow reader slows down the writer. */
export class ZipWriter {
  readonly #zip = new ZipFile()
  readonly #reader = new AbortController()
  #file = new PassThrough()

  get output(): Readable {
    return this.#zip.outputStream as Readable
  }

  /** The reader is gone: what is under way or comes later fails with this error. */
  abort(error: unknown): void {
    this.#reader.abort(error)
  }

  begin(name: string): void {
    this.#reader.signal.throwIfAborted()
    this.#file = new PassThrough()
    this.#zip.addReadStream(this.#file, name, options)
  }

  async write(data: Buffer): Promise<void> {
    const { signal } = this.#reader
    signal.throwIfAborted()
    if (!this.#file.write(data)) await once(this.#file, 'drain', { signal })
  }

  end(): void {
    this.#file.end()
  }

  /** A whole file at once. */
  async file(name: string, text: string): Promise<void> {
    this.begin(name)
    await this.write(Buffer.from(text))
    this.end()
  }

  /** Writes the directory, without which there is no archive. */
  finish(): void {
    this.#zip.end()
  }
}

import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, messageOf } from '../../core/errors.ts'

export type WrittenFile = { name: string; bytes: number; sha256: string }

const manifestName = 'manifest.json'

/** The growing file gets its name when it is complete, so that a part is not mistaken for the whole. */
export class ExportFolder implements AsyncDisposable {
  readonly #folder: string
  readonly #file: string
  readonly #handle: FileHandle
  readonly #hash = createHash('sha256')
  #bytes = 0

  private constructor(folder: string, file: string, handle: FileHandle) {
    this.#folder = folder
    this.#file = file
    this.#handle = handle
  }

  /**
   * Starts over if the folder contains an interrupted export of the same file.
   * @throws Fault `usage_bad` if it contains anything else
   */
  static async open(folder: string, file: string): Promise<ExportFolder> {
    const names = await namesIn(folder)
    if (names.includes(manifestName))
      throw refusal(`--out already contains a complete export: ${folder}`, 'choose another folder')
    // A complete file without a manifest is another's, unless the export ended between the two names.
    const own = [partOf(file), newOf(manifestName), ...(names.includes(newOf(manifestName)) ? [file] : [])]
    if (names.some((name) => !own.includes(name)))
      throw refusal(`--out is not empty: ${folder}`, 'choose an empty folder')
    return new ExportFolder(folder, file, await open(join(folder, partOf(file)), 'w'))
  }

  async write(text: string): Promise<void> {
    const data = Buffer.from(text)
    await this.#handle.writeFile(data)
    this.#hash.update(data)
    this.#bytes += data.length
  }

  async finish<Manifest extends object>(manifest: (file: WrittenFile) => Manifest): Promise<Manifest> {
    await this.#handle.datasync()
    const document = manifest({ name: this.#file, bytes: this.#bytes, sha256: this.#hash.digest('hex') })
    const path = join(this.#folder, manifestName)
    await writeFile(newOf(path), `${JSON.stringify(document, null, 2)}\n`, { flush: true })
    await rename(join(this.#folder, partOf(this.#file)), join(this.#folder, this.#file))
    await rename(newOf(path), path)
    return document
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

function partOf(file: string): string {
  return `${file}.part`
}

function newOf(path: string): string {
  return `${path}.new`
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    await mkdir(folder, { recursive: true })
    return await readdir(folder)
  } catch (error) {
    throw refusal(`--out cannot be written: ${messageOf(error)}`, 'choose a folder that can be written')
  }
}

function refusal(problem: string, fix: string): Fault {
  return new Fault('usage_bad', { problem, fix })
}

import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, messageOf } from '../../core/errors.ts'
import type { ExportFormat } from './exported-journal.ts'

export type WrittenFile = { name: string; bytes: number; sha256: string }

const manifestName = 'manifest.json'

type ExportedFiles = Pick<ExportFormat, 'file' | 'head' | 'linesMax'>

/** Growing files get their names when all are complete, so that a part is not mistaken for the whole. */
export class ExportFolder implements AsyncDisposable {
  readonly #folder: string
  readonly #files: ExportedFiles
  readonly #written: WrittenFile[] = []
  #growing: GrowingFile

  private constructor(folder: string, files: ExportedFiles, first: GrowingFile) {
    this.#folder = folder
    this.#files = files
    this.#growing = first
  }

  /**
   * Starts over if the folder contains an interrupted export of the same files.
   * @throws Fault `usage_bad` if it contains anything else
   */
  static async open(folder: string, files: ExportedFiles): Promise<ExportFolder> {
    const names = await namesIn(folder)
    if (names.includes(manifestName))
      throw refusal(`--out already contains a complete export: ${folder}`, 'choose another folder')
    // A complete file without a manifest is another's, unless the export ended while files got their names.
    const isEnding = names.includes(newOf(manifestName))
    const isOwn = (name: string) =>
      name === newOf(manifestName) ||
      (isOfSeries(name.replace(/\.part$/, ''), files.file) && (isEnding || name.endsWith('.part')))
    if (!names.every(isOwn)) throw refusal(`--out is not empty: ${folder}`, 'choose an empty folder')
    for (const name of names) await rm(join(folder, name))
    return new ExportFolder(folder, files, await GrowingFile.begin(folder, files))
  }

  /** A piece stays in one file. */
  async write(pieces: readonly string[]): Promise<void> {
    const { linesMax } = this.#files
    if (linesMax === undefined) return this.#growing.write(pieces.join(''))
    for (const piece of pieces) {
      if (this.#growing.lines + linesIn(piece) > linesMax) await this.#startNext()
      await this.#growing.write(piece)
    }
  }

  async #startNext(): Promise<void> {
    this.#written.push(await this.#growing.end())
    const file = nameInSeries(this.#files.file, this.#written.length + 1)
    this.#growing = await GrowingFile.begin(this.#folder, { ...this.#files, file })
  }

  async finish<Manifest extends object>(
    manifest: (files: readonly WrittenFile[]) => Manifest,
  ): Promise<Manifest> {
    const files = [...this.#written, await this.#growing.end()]
    const document = manifest(files)
    const path = join(this.#folder, manifestName)
    await writeFile(newOf(path), `${JSON.stringify(document, null, 2)}\n`, { flush: true })
    for (const { name } of files) await rename(join(this.#folder, partOf(name)), join(this.#folder, name))
    await rename(newOf(path), path)
    return document
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#growing[Symbol.asyncDispose]()
  }
}

class GrowingFile implements AsyncDisposable {
  readonly #name: string
  readonly #handle: FileHandle
  readonly #hash = createHash('sha256')
  #bytes = 0
  lines = 0

  private constructor(name: string, handle: FileHandle) {
    this.#name = name
    this.#handle = handle
  }

  static async begin(folder: string, { file, head }: ExportedFiles): Promise<GrowingFile> {
    const growing = new GrowingFile(file, await open(join(folder, partOf(file)), 'w'))
    await growing.write(head)
    return growing
  }

  async write(text: string): Promise<void> {
    const data = Buffer.from(text)
    await this.#handle.writeFile(data)
    this.#hash.update(data)
    this.#bytes += data.length
    this.lines += linesIn(text)
  }

  async end(): Promise<WrittenFile> {
    await this.#handle.datasync()
    await this.#handle.close()
    return { name: this.#name, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  /** Closing twice does nothing. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

function linesIn(text: string): number {
  return text.split('\n').length - 1
}

/** `journals.csv`, `journals-2.csv`. */
function nameInSeries(file: string, number: number): string {
  return number === 1 ? file : file.replace(/(\.\w+)$/, `-${number}$1`)
}

function isOfSeries(name: string, file: string): boolean {
  const number = Number(/-(\d{1,9})\.\w+$/.exec(name)?.[1] ?? 1)
  return name === file || name === nameInSeries(file, number)
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

import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, messageOf } from '../../core/errors.ts'
import type { ExportFormat } from './exported-journal.ts'

export type WrittenFile = { name: string; bytes: number; sha256: string }

export const manifestName = 'manifest.json'

export type ExportedFiles = Pick<ExportFormat, 'file' | 'head' | 'linesMax'>

/** Where an export goes. A piece stays in one file. */
export type ExportTarget = AsyncDisposable & {
  write: (pieces: readonly string[]) => Promise<void>
  finish: <Manifest extends object>(
    manifest: (files: readonly WrittenFile[]) => Manifest,
  ) => Promise<Manifest>
}

/** Takes the bytes of one file. To dispose of it twice does nothing. */
export type FileSink = AsyncDisposable & {
  write: (data: Buffer) => Promise<void>
  end: () => Promise<void>
}

type OpenSink = (name: string) => Promise<FileSink>

/** The files of one export, one after the other. */
export class ExportFiles implements AsyncDisposable {
  readonly #files: ExportedFiles
  readonly #open: OpenSink
  readonly #written: WrittenFile[] = []
  #growing: GrowingFile

  private constructor(files: ExportedFiles, openNamed: OpenSink, first: GrowingFile) {
    this.#files = files
    this.#open = openNamed
    this.#growing = first
  }

  static async begin(files: ExportedFiles, openNamed: OpenSink): Promise<ExportFiles> {
    return new ExportFiles(files, openNamed, await GrowingFile.begin(files, openNamed))
  }

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
    this.#growing = await GrowingFile.begin({ ...this.#files, file }, this.#open)
  }

  async end(): Promise<readonly WrittenFile[]> {
    return [...this.#written, await this.#growing.end()]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#growing[Symbol.asyncDispose]()
  }
}

/** Growing files get their names when all are complete, so that a part is not mistaken for the whole. */
export class ExportFolder implements ExportTarget {
  readonly #folder: string
  readonly #files: ExportFiles

  private constructor(folder: string, files: ExportFiles) {
    this.#folder = folder
    this.#files = files
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
    return new ExportFolder(
      folder,
      await ExportFiles.begin(files, (name) => openSink(join(folder, partOf(name)))),
    )
  }

  write(pieces: readonly string[]): Promise<void> {
    return this.#files.write(pieces)
  }

  async finish<Manifest extends object>(
    manifest: (files: readonly WrittenFile[]) => Manifest,
  ): Promise<Manifest> {
    const files = await this.#files.end()
    const document = manifest(files)
    const path = join(this.#folder, manifestName)
    await writeFile(newOf(path), manifestText(document), { flush: true })
    for (const { name } of files) await rename(join(this.#folder, partOf(name)), join(this.#folder, name))
    await rename(newOf(path), path)
    return document
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#files[Symbol.asyncDispose]()
  }
}

export function manifestText(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

async function openSink(path: string): Promise<FileSink> {
  const handle = await open(path, 'w')
  return {
    write: (data) => handle.writeFile(data),
    async end() {
      await handle.datasync()
      await handle.close()
    },
    [Symbol.asyncDispose]: () => handle.close(),
  }
}

class GrowingFile implements AsyncDisposable {
  readonly #name: string
  readonly #sink: FileSink
  readonly #hash = createHash('sha256')
  #bytes = 0
  lines = 0

  private constructor(name: string, sink: FileSink) {
    this.#name = name
    this.#sink = sink
  }

  static async begin({ file, head }: ExportedFiles, openNamed: OpenSink): Promise<GrowingFile> {
    const growing = new GrowingFile(file, await openNamed(file))
    await growing.write(head)
    return growing
  }

  async write(text: string): Promise<void> {
    const data = Buffer.from(text)
    await this.#sink.write(data)
    this.#hash.update(data)
    this.#bytes += data.length
    this.lines += linesIn(text)
  }

  async end(): Promise<WrittenFile> {
    await this.#sink.end()
    return { name: this.#name, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sink[Symbol.asyncDispose]()
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

import { createHash, type Hash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { Fault, messageOf } from '../../core/errors.ts'

/** `bytes` are synced to the disk; `state` continues from there. */
export type Checkpoint<State> = { bytes: number; sha256: string; state: State }

export type WrittenFile = { name: string; bytes: number; sha256: string }

const manifestName = 'manifest.json'
const checkpointName = 'unfinished.json'

/** The growing file gets its name when it is complete, so that a part is not mistaken for the whole. */
export class ExportFolder<State> implements AsyncDisposable {
  readonly #folder: string
  readonly #file: string
  readonly #handle: FileHandle
  readonly #hash: Hash
  #bytes: number
  /** Left by an interrupted export; null for a new one. */
  readonly resumed: State | null

  private constructor(folder: string, file: string, opened: ExportFile<State>) {
    this.#folder = folder
    this.#file = file
    this.#handle = opened.handle
    this.#hash = opened.hash
    this.#bytes = opened.bytes
    this.resumed = opened.state
  }

  /** @throws Fault `usage_bad` if the folder holds something else, or an interrupted export and `resume` is not set. */
  static async open<State>(
    folder: string,
    { file, resume }: { file: string; resume: boolean },
  ): Promise<ExportFolder<State>> {
    const names = await namesIn(folder)
    if (names.includes(manifestName))
      throw refusal(`--out already contains a complete export: ${folder}`, 'choose another folder')
    const isUnfinished = names.includes(checkpointName)
    if (isUnfinished && !resume)
      throw refusal(
        `--out contains an interrupted export: ${folder}`,
        'continue it with --resume, or choose another folder',
      )
    if (!isUnfinished && names.some((name) => name !== partOf(file)))
      throw refusal(`--out is not empty: ${folder}`, 'choose an empty folder')
    const opened = isUnfinished
      ? await reopen<State>(folder, file)
      : await begin<State>(join(folder, partOf(file)))
    return new ExportFolder(folder, file, opened)
  }

  get bytes(): number {
    return this.#bytes
  }

  async write(text: string): Promise<void> {
    const data = Buffer.from(text)
    await this.#handle.writeFile(data)
    this.#hash.update(data)
    this.#bytes += data.length
  }

  async checkpoint(state: State): Promise<void> {
    await this.#handle.datasync()
    const checkpoint = { bytes: this.#bytes, sha256: this.#hash.copy().digest('hex'), state }
    await this.#put(checkpointName, `${JSON.stringify(checkpoint)}\n`)
  }

  async finish<Manifest extends object>(manifest: (file: WrittenFile) => Manifest): Promise<Manifest> {
    await this.#handle.datasync()
    const sha256 = this.#hash.copy().digest('hex')
    const document = manifest({ name: this.#file, bytes: this.#bytes, sha256 })
    await rename(join(this.#folder, partOf(this.#file)), join(this.#folder, this.#file))
    await this.#put(manifestName, `${JSON.stringify(document, null, 2)}\n`)
    await rm(join(this.#folder, checkpointName), { force: true })
    return document
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }

  /** Whole or not at all. */
  async #put(name: string, text: string): Promise<void> {
    const path = join(this.#folder, name)
    await writeFile(`${path}.new`, text, { flush: true })
    await rename(`${path}.new`, path)
  }
}

type ExportFile<State> = { handle: FileHandle; hash: Hash; bytes: number; state: State | null }

function partOf(file: string): string {
  return `${file}.part`
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    await mkdir(folder, { recursive: true })
    return (await readdir(folder)).filter((name) => !name.endsWith('.new'))
  } catch (error) {
    throw refusal(`--out cannot be written: ${messageOf(error)}`, 'choose a folder that can be written')
  }
}

async function begin<State>(path: string): Promise<ExportFile<State>> {
  return { handle: await open(path, 'w'), hash: createHash('sha256'), bytes: 0, state: null }
}

/** Data written after the checkpoint is cut off and written again. */
async function reopen<State>(folder: string, file: string): Promise<ExportFile<State>> {
  const path = join(folder, partOf(file))
  // The export was interrupted between renaming the file and writing the manifest.
  if (existsSync(join(folder, file))) await rename(join(folder, file), path)
  const text = await readFile(join(folder, checkpointName), 'utf8')
  const { bytes, sha256, state } = JSON.parse(text) as Checkpoint<State>
  const hash = createHash('sha256')
  if (bytes > 0 && existsSync(path))
    for await (const data of createReadStream(path, { end: bytes - 1 })) hash.update(data as Buffer)
  if (!existsSync(path) || hash.copy().digest('hex') !== sha256)
    throw refusal(
      `the file of the interrupted export is missing or altered: ${path}`,
      'export again into another folder',
    )
  await truncate(path, bytes)
  return { handle: await open(path, 'a'), hash, bytes, state }
}

function refusal(problem: string, fix: string): Fault {
  return new Fault('usage_bad', { problem, fix })
}

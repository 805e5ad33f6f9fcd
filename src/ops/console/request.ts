import type { UploadedFile } from '../../store/mismatches/attachments.ts'
import type { ConsolePage } from './page.ts'
import type { ConsolePeople, ConsoleUser } from './people.ts'
import { missing } from './query.ts'
import type { ConsoleReader } from './reader.ts'
import type { ZipWriter } from './zip.ts'

export type ConsoleRequest = {
  reader: ConsoleReader
  people: ConsolePeople
  search: URLSearchParams
  /** Empty if the route has no id. */
  id: string
  /** Of the browser; null if it holds none. */
  token: string | null
  user: ConsoleUser | null
  /** Of the form; empty if it is missing. */
  field: (name: string) => string
  /** Of a form that takes one; null if none was chosen. */
  file: UploadedFile | null
}

/** With a `token`, the browser holds it from now on; with an empty one, it drops what it held. */
export type ConsoleAnswer = ConsolePage | { redirect: string; token?: string } | ConsoleDownload

/**
 * A file with this name. The end of the name gives the type of a text; bytes are of a person, and have none. An archive is
 * sent while it is written.
 */
export type ConsoleDownload =
  | { download: string; text: string }
  | { download: string; bytes: Buffer }
  | { download: string; write: (archive: ZipWriter) => Promise<void> }

/** @throws Fault `request_refused` or `usage_bad` if the request is invalid or the page does not exist */
export type ConsoleHandler = (asked: ConsoleRequest) => Promise<ConsoleAnswer>

/** @throws Fault `request_refused` if there is none of this number */
export async function readNumbered<Shown>(
  what: string,
  id: string,
  read: (id: bigint) => Promise<Shown | null>,
): Promise<Shown> {
  const shown = /^[1-9]\d{0,17}$/.test(id) ? await read(BigInt(id)) : null
  if (shown === null) throw missing(what, id)
  return shown
}

import { isMap, isSeq, LineCounter, type Node, parseDocument, type YAMLSeq } from 'yaml'
import { idAmongServices, type Owner, type ServiceName, serviceOf } from '../core/evidence.ts'
import { parseTime } from '../core/time.ts'

export type OwnerFileRow = {
  line: number
  id: string
  network: string
  address: string
  forward: { network: string; asset: string; recipient: string } | null
  createdAt?: Date
  validFrom?: Date
}

export type LineFault = { line: number; problem: string }

/** Empty and null fields are left out. */
type LinedFields = { line: number; fields: ReadonlyMap<string, string> }

type OwnerFileReading<Row> = { rows: Row[]; faults: LineFault[] }

const ofEvery = ['id', 'network', 'address']
const createdField = 'created_at'
const validField = 'valid_from'
const ofChannels = ['forward_network', 'forward_asset', 'forward_recipient']
/** Additional fields of our own `channels list --json`. */
const ofLists = ['service', 'book']
/** Not taken from a file. */
const history = [
  'valid_until',
  'added_at',
  'added_by',
  'approved_by',
  'ended_at',
  'ended_by',
  'end_approved_by',
  'end_reason',
  'decision_id',
  'end_decision_id',
]
const columns = [...ofEvery, ...ofChannels, createdField, validField, ...ofLists]
const known = [...columns, ...history]

/** Also accepts a page of `channels list --json`. All problems are reported with their lines. */
export function readOwnersFile(
  text: string,
  { format, kind }: { format: 'csv' | 'json'; kind: Owner['kind'] },
): OwnerFileReading<OwnerFileRow> {
  const { rows: lined, faults } = format === 'csv' ? fieldsOfCsv(text) : fieldsOfJson(text)
  const rows = lined.flatMap(({ line, fields }) => {
    const problem = problemOf(fields, kind)
    if (problem === null) return [rowOf({ line, fields }, kind)]
    faults.push({ line, problem })
    return []
  })
  if (rows.length === 0 && faults.length === 0) faults.push({ line: 1, problem: 'the file is empty' })
  return { rows, faults }
}

function fieldsOfCsv(text: string): OwnerFileReading<LinedFields> {
  const reading = readCsv(text)
  if (reading.kind === 'unclosed')
    return { rows: [], faults: [{ line: reading.line, problem: 'a quote is not closed' }] }
  const [head, ...rest] = reading.rows
  const names = head?.cells ?? []
  const strange = names.filter((name) => !known.includes(name))
  if (strange.length > 0) {
    const problem = `knows no column ${strange.map((name) => JSON.stringify(name)).join(', ')}; known are ${columns.join(', ')}`
    return { rows: [], faults: [{ line: head?.line ?? 1, problem }] }
  }
  const [rows, faults]: [LinedFields[], LineFault[]] = [[], []]
  for (const { line, cells } of rest) {
    if (cells.length === names.length)
      rows.push({ line, fields: filled(names.map((name, place) => [name, cells[place] ?? ''])) })
    else faults.push({ line, problem: `has ${cells.length} cells, and the first line names ${names.length}` })
  }
  return { rows, faults }
}

/** JSON is valid YAML, and the YAML parser knows line numbers. */
function fieldsOfJson(text: string): OwnerFileReading<LinedFields> {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) {
    const problem = `is no JSON: ${error.message.replace(/ at line [^]*|:?\n[^]*/, '')}`
    return { rows: [], faults: [{ line: lines.linePos(error.pos[0]).line, problem }] }
  }
  const list = listIn(document.contents)
  if (typeof list === 'string') return { rows: [], faults: [{ line: 1, problem: list }] }
  const [rows, faults]: [LinedFields[], LineFault[]] = [[], []]
  for (const item of list.items) {
    const { line } = lines.linePos(item.range?.[0] ?? 0)
    const fields = isMap(item) ? textsOf(item.toJSON() as object) : 'is no object'
    if (typeof fields === 'string') faults.push({ line, problem: fields })
    else rows.push({ line, fields })
  }
  return { rows, faults }
}

function listIn(contents: unknown): YAMLSeq<Node> | string {
  const list = isMap(contents) ? contents.get('items') : contents
  if (!isSeq<Node>(list)) return 'is no list of channels or wallets'
  const isCut = isMap(contents) && typeof contents.get('next') === 'string'
  return isCut ? 'is one page of a list that goes on; list all with a higher --limit' : list
}

function textsOf(item: object): ReadonlyMap<string, string> | string {
  const entries = Object.entries(item).filter(([, value]) => value !== null)
  const odd = entries.find(([, value]) => typeof value !== 'string')
  if (odd !== undefined) return `${odd[0]} is no text`
  const strange = entries.find(([name]) => !known.includes(name))
  return strange === undefined ? filled(entries as [string, string][]) : `there is no field ${strange[0]}`
}

function filled(entries: readonly (readonly [string, string])[]): ReadonlyMap<string, string> {
  return new Map(entries.filter(([, value]) => value !== ''))
}

function problemOf(fields: ReadonlyMap<string, string>, kind: Owner['kind']): string | null {
  const wanted = kind === 'channel' ? [...ofEvery, ...ofChannels] : ofEvery
  const missing = wanted.filter((name) => !fields.has(name))
  if (missing.length > 0) return `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing`
  if (kind === 'stable_wallet' && ofChannels.some((name) => fields.has(name)))
    return 'a StableWallet forwards nowhere'
  const odd = [createdField, validField].find((name) => parseTime(fields.get(name) ?? '2026-11-20') === null)
  if (odd !== undefined) return `${odd} is neither a day nor a time, like 2026-11-20 or 2026-11-20T08:00:00Z`
  if (fields.has('valid_until'))
    return 'valid_until cannot be imported: leave the entry out, or import it without, and retire it'
  return problemOfId(fields.get('id') ?? '', fields.get('service') as ServiceName | undefined)
}

function problemOfId(id: string, service: ServiceName | undefined): string | null {
  if (service !== undefined && serviceOf(id) !== service)
    return `the id ${id} is not of the service ${service}; write ${idAmongServices(service, id)}`
  return /^[^\p{Cc}\p{Cs}]{1,200}$/u.test(id)
    ? null
    : 'id is longer than 200 characters, or holds some that cannot be kept'
}

function rowOf({ line, fields }: LinedFields, kind: Owner['kind']): OwnerFileRow {
  const field = (name: string) => fields.get(name) ?? ''
  const forward = {
    network: field('forward_network'),
    asset: field('forward_asset'),
    recipient: field('forward_recipient'),
  }
  const [createdAt, validFrom] = [parseTime(field(createdField)), parseTime(field(validField))]
  return {
    line,
    id: field('id'),
    network: field('network'),
    address: field('address'),
    forward: kind === 'channel' ? forward : null,
    ...(createdAt !== null && { createdAt }),
    ...(validFrom !== null && { validFrom }),
  }
}

type CsvRow = { line: number; cells: readonly string[] }

type CsvReading = { kind: 'rows'; rows: readonly CsvRow[] } | { kind: 'unclosed'; line: number }

/** RFC 4180. Empty lines are skipped; `line` is the line on which a row begins, counted from 1. */
export function readCsv(text: string): CsvReading {
  const rows: CsvRow[] = []
  let line = 1
  let begun = { line, cells: [] as string[] }
  // A cell and its terminator. Every text matches, so nothing is skipped; an unclosed quote remains a cell.
  const cellForm = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/gy
  for (const [whole, quoted, plain = '', end] of text.replace(/^\uFEFF/, '').matchAll(cellForm)) {
    if (quoted === undefined && plain.startsWith('"')) return { kind: 'unclosed', line }
    begun.cells.push(quoted?.replaceAll('""', '"') ?? plain.trim())
    line += lineBreaksIn(whole)
    if (end === ',') continue
    if (begun.cells.some((cell) => cell !== '')) rows.push(begun)
    begun = { line, cells: [] }
  }
  return { kind: 'rows', rows }
}

function lineBreaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0
}

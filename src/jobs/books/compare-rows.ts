import {
  type AlteredField,
  alteredFields,
  leafOf,
  markOf,
  type SealedRow,
  splitMarks,
  withField,
} from '../../ledger/sealed-row.ts'
import { sealedTable } from '../../ledger/sealed-tables.ts'
import type { Database } from '../../store/database.ts'
import { otherValues, readSealedRows } from '../../store/ledger/sealed-rows.ts'
import { hashesIn, marksOfSeal, type Seal } from '../../store/ledger/seals.ts'
import type { Tables } from '../../store/tables.ts'

/** Altered rows whose fields are named. */
const namedMax = 20

/** With its place in the seal. */
type AlteredRow = { row: SealedRow; place: number }

type RowsFound = {
  count: number
  seen: Set<bigint>
  altered: AlteredRow[]
  added: bigint[]
  /** Ids of several rows. */
  doubled: bigint[]
  withoutRow: bigint[]
}

/** What is wrong with the rows of a seal, in sentences; `rows` is how many there are. */
export async function compareRows(
  db: Database<Tables>,
  seal: Seal,
): Promise<{ rows: number; faults: string[] }> {
  const { table, ids, hashes } = seal
  const sealed = new Map(
    hashesIn(hashes).map((hash, place) => [ids.readBigInt64BE(place * 8), { hash, place }]),
  )
  const found = await readRows(db, seal, sealed)
  const missing = [...sealed.keys()].filter((id) => !found.seen.has(id))
  const [one, several] = sealedTable(table).names
  const report = (of: readonly bigint[], [isOne, areSeveral]: readonly [string, string]) =>
    of.length === 0
      ? []
      : [of.length === 1 ? `${one} ${of[0]} ${isOne}` : `${several} ${listOf(of)} ${areSeveral}`]
  const [named, others] = [found.altered.slice(0, namedMax), found.altered.slice(namedMax)]
  return {
    rows: found.count,
    faults: [
      ...(named.length === 0 ? [] : await nameFields(db, seal, named)),
      ...report(
        others.map(({ row }) => row.id),
        ['is altered', 'are altered'],
      ),
      ...report(missing, ['is missing', 'are missing']),
      ...report(found.added, ['was added later', 'were added later']),
      ...(found.doubled.length === 0 ? [] : [`several ${several} have the number ${listOf(found.doubled)}`]),
      ...(found.withoutRow.length === 0
        ? []
        : [`${sealedTable(table).lines?.table} refers to missing ${several}: ${listOf(found.withoutRow)}`]),
    ],
  }
}

type SealedLeaf = { hash: Buffer; place: number }

async function readRows(
  db: Database<Tables>,
  { table, after, last }: Seal,
  sealed: ReadonlyMap<bigint, SealedLeaf>,
): Promise<RowsFound> {
  const found: RowsFound = { count: 0, seen: new Set(), altered: [], added: [], doubled: [], withoutRow: [] }
  for await (const { rows, withoutRow } of readSealedRows(db, { table, after, last })) {
    found.withoutRow.push(...withoutRow)
    for (const row of rows) addRow(found, row, sealed.get(row.id))
  }
  return found
}

function addRow(found: RowsFound, row: SealedRow, before: SealedLeaf | undefined): void {
  found.count++
  if (found.seen.has(row.id)) found.doubled.push(row.id)
  else if (before === undefined) found.added.push(row.id)
  else if (!before.hash.equals(leafOf(row))) found.altered.push({ row, place: before.place })
  found.seen.add(row.id)
}

async function nameFields(
  db: Database<Tables>,
  seal: Seal,
  altered: readonly AlteredRow[],
): Promise<string[]> {
  const marks = splitMarks(await marksOfSeal(db, seal.number))
  const [one] = sealedTable(seal.table).names
  const named: string[] = []
  for (const { row, place } of altered) {
    const fields = alteredFields(row, marks[place] ?? Buffer.of())
    const hash = hashesIn(seal.hashes)[place] ?? Buffer.of()
    named.push(
      `${one} ${row.id} is altered${fields === null ? ': its number of lines' : await describe(db, { row, fields, hash })}`,
    )
  }
  return named
}

type NamedRow = { row: SealedRow; fields: readonly AlteredField[]; hash: Buffer }

async function describe(db: Database<Tables>, altered: NamedRow): Promise<string> {
  const former = await formerValues(db, altered)
  const words = altered.fields.map(({ name, value }) => {
    const was = former.get(name)
    return `${name} is ${shownValue(value)}${was === undefined ? '' : `, was ${shownValue(was)}`}`
  })
  return words.length === 0 ? '' : `: ${words.join('; ')}`
}

const candidatesMax = 1000

/** Of each altered field the value that was sealed, if other rows still hold it; empty if the leaf does not prove them. */
async function formerValues(
  db: Database<Tables>,
  { row, fields, hash }: NamedRow,
): Promise<ReadonlyMap<string, string | null>> {
  const former = new Map<string, string | null>()
  for (const { name, sealedMark } of fields) {
    const values = await otherValues(db, row.table, { name, limit: candidatesMax })
    const was = values.find((value) => markOf({ name, value }).equals(sealedMark))
    if (was !== undefined) former.set(name, was)
  }
  const restored = [...former].reduce((made, [name, value]) => withField(made, name, value), row)
  return leafOf(restored).equals(hash) ? former : new Map()
}

const shownMax = 80

function shownValue(value: string | null): string {
  if (value === null) return 'empty'
  return JSON.stringify(value.length > shownMax ? `${value.slice(0, shownMax)}…` : value)
}

const runsMax = 20

/** Consecutive numbers as a run: `1, 4 to 9 and 12`. */
function listOf(ids: readonly bigint[]): string {
  const runs: [first: bigint, last: bigint][] = []
  for (const id of ids) {
    const run = runs.at(-1)
    if (run !== undefined && run[1] + 1n === id) run[1] = id
    else runs.push([id, id])
  }
  const words = runs
    .slice(0, runsMax)
    .map(([first, last]) => (first === last ? `${first}` : `${first} to ${last}`))
  const left = runs.slice(runsMax).reduce((sum, [first, last]) => sum + last - first + 1n, 0n)
  const all = left > 0n ? [...words, `${left} more`] : words
  return all.length === 1 ? `${all[0]}` : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`
}

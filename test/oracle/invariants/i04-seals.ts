import { createHash } from 'node:crypto'
import type { Client } from 'pg'

type Row = Readonly<Record<string, string | null>>
type Seal = Row & { leaves: Buffer }
type Broken = { seal: string | null | undefined; problem: string }

/** I4: every seal is over the journals that stand now, and over the seal before it, by what docs/seals.md says. */
export async function brokenSeals(client: Client): Promise<Broken[]> {
  const { rows: seals } = await client.query<Seal>(sealRows)
  const broken: Broken[] = []
  let before: Seal | null = null
  for (const seal of seals) {
    const problems = [...faultsOfChain(seal, before), ...(await faultsOfContent(client, seal))]
    broken.push(...problems.map((problem) => ({ seal: seal.number, problem })))
    before = seal
  }
  return broken
}

const columns = ['number', 'after', 'last', 'journals', 'root', 'previous', 'sealedAt']

function faultsOfChain(seal: Seal, before: Seal | null): string[] {
  const own = hash(2, encode(columns.map((name) => [name, seal[name] ?? ''])))
  const wanted =
    before === null
      ? ['1', '0', '0'.repeat(64)]
      : [`${BigInt(before.number ?? 0) + 1n}`, before.last, before.hash]
  const found = [seal.number, seal.after, seal.previous]
  return [
    ...(own.toString('hex') === seal.hash ? [] : ['its hash is another']),
    ...(found.join() === wanted.join()
      ? []
      : [`it is behind ${found.join()}, and should be behind ${wanted.join()}`]),
  ]
}

async function faultsOfContent(client: Client, seal: Seal): Promise<string[]> {
  // Of the first seal also what has no number above zero.
  const after = seal.number === '1' ? '-9223372036854775808' : seal.after
  const { rows: journals } = await client.query<Row>(journalRows, [after, seal.last])
  const { rows: legs } = await client.query<Row>(legRows, [after, seal.last])
  const leaves = journals.map((journal) => {
    const own = legs.filter(({ journal_id }) => journal_id === journal.id)
    return hash(
      0,
      encode([...pairs(journal), ...own.map(({ journal_id: _id, ...leg }) => ['leg', encode(pairs(leg))])]),
    )
  })
  const stored = leaves.map((leaf, place) => Buffer.concat([numbered(journals[place]?.id), leaf]))
  return [
    ...(leaves.length.toString() === seal.journals
      ? []
      : [`there are ${leaves.length} journals, not ${seal.journals}`]),
    ...(leaves.length > 0 && treeOf(leaves).toString('hex') === seal.root ? [] : ['its root is another']),
    ...(Buffer.concat(stored).equals(seal.leaves) ? [] : ['its leaves are others']),
  ]
}

function hash(what: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const sha = createHash('sha256').update(Buffer.of(what))
  for (const part of parts) sha.update(part)
  return sha.digest()
}

function encode(named: readonly (readonly string[])[]): string {
  return named
    .flat()
    .map((text) => `${Buffer.byteLength(text)}:${text},`)
    .join('')
}

function pairs(row: Row): string[][] {
  return Object.entries(row).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
}

function numbered(id: string | null | undefined): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64BE(BigInt(id ?? 0))
  return bytes
}

/** RFC 9162, 2.1.1. */
function treeOf(leaves: readonly Buffer[]): Buffer {
  const [only = Buffer.of()] = leaves
  if (leaves.length === 1) return only
  const split = 2 ** Math.ceil(Math.log2(leaves.length) - 1)
  return hash(1, treeOf(leaves.slice(0, split)), treeOf(leaves.slice(split)))
}

const time = (name: string) => `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
const text = (...names: string[]) => names.map((name) => `${name}::text`).join(', ')
const times = `${time('event_at')} as event_at, ${time('recorded_at')} as recorded_at, period::text`

const sealRows = `
  select ${text('number')}, after_journal::text as after, last_journal::text as last, ${text('journals')}, root,
    previous, ${time('sealed_at')} as "sealedAt", hash, leaves
  from ledger_seal order by ledger_seal.number`

const journalRows = `
  select ${text('id', 'posting_key', 'kind', 'deposit_id', 'transfer', 'reverses')}, ${times},
    reason, made_by, approved_by
  from ledger_journal left join manual_journal on journal_id = id
  where id > $1 and id <= $2 order by ledger_journal.id`

const legRows = `
  select ${text('journal_id', 'leg', 'debit', 'credit', 'asset', 'amount')}, ${times}
  from ledger_transfer where journal_id > $1 and journal_id <= $2
  order by ledger_transfer.journal_id, ledger_transfer.leg`

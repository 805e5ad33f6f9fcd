import { createHash } from 'node:crypto'
import type { Client } from 'pg'

type Row = Readonly<Record<string, string | null>>
type Seal = {
  number: string
  sealed_table: string
  after_id: string | null
  last_id: string
  first_leaf: string
  leaves: number
  ids: Buffer
  hashes: Buffer
}
type Broken = { seal: string; problem: string }

/** I4: the log is over the rows that stand now, and each checkpoint over the log, by what docs/seals.md says. */
export async function brokenSeals(client: Client): Promise<Broken[]> {
  const { rows: seals } = await client.query<Seal>('select * from seal order by seal.number')
  const { rows: checkpoints } = await client.query<{ size: string; root: Buffer }>(
    'select size, root from checkpoint',
  )
  const broken: Broken[] = []
  const leaves: Buffer[] = []
  const lastOf = new Map<string, string>()
  for (const [place, seal] of seals.entries()) {
    const found = [seal.number, seal.first_leaf, seal.after_id].map(String).join()
    const wanted = [place + 1, leaves.length, lastOf.get(seal.sealed_table) ?? null].map(String).join()
    if (found !== wanted)
      broken.push({ seal: String(seal.number), problem: `it is ${found}, and should be ${wanted}` })
    const rows = await rowsOf(client, seal)
    if (!Buffer.concat(rows.map(({ leaf }) => leaf)).equals(seal.hashes))
      broken.push({ seal: String(seal.number), problem: 'its leaves are others' })
    if (!Buffer.concat(rows.map(({ id }) => numbered(id))).equals(seal.ids))
      broken.push({ seal: String(seal.number), problem: 'its ids are others' })
    lastOf.set(seal.sealed_table, seal.last_id)
    for (let at = 0; at < seal.hashes.length; at += 32) leaves.push(seal.hashes.subarray(at, at + 32))
  }
  for (const { size, root } of checkpoints)
    if (Number(size) > leaves.length || !treeOf(leaves.slice(0, Number(size))).equals(root))
      broken.push({ seal: `checkpoint ${size}`, problem: 'its root is another' })
  return broken
}

async function rowsOf(client: Client, { sealed_table: table, after_id: after, last_id: last }: Seal) {
  const from = after ?? '-9223372036854775808'
  const { rows } = await client.query<Row>(queries[table] ?? '', [from, last])
  const { rows: lines } = lineQueries[table]
    ? await client.query<Row>(lineQueries[table], [from, last])
    : { rows: [] }
  return rows.map((row) => {
    const own = lines.filter(({ parent }) => parent === row[table === 'owner' ? 'number' : 'id'])
    const encoded = encode([
      ['table', table],
      ...pairs(row),
      ...own.map(({ parent: _parent, ...line }) => ['line', encode(pairs(line))]),
    ])
    return { id: row[table === 'owner' ? 'number' : 'id'], leaf: hash(0, encoded) }
  })
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

/** RFC 6962, 2.1. */
function treeOf(leaves: readonly Buffer[]): Buffer {
  const [only = Buffer.of()] = leaves
  if (leaves.length === 1) return only
  const split = 2 ** Math.ceil(Math.log2(leaves.length) - 1)
  return hash(1, treeOf(leaves.slice(0, split)), treeOf(leaves.slice(split)))
}

const time = (name: string) =>
  `to_char(${name} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as ${name}`
const text = (...names: string[]) => names.map((name) => `${name}::text`).join(', ')
const of = (table: string, columns: string, key = 'id') =>
  `select ${columns} from ${table} where ${table}.${key} > $1 and ${table}.${key} <= $2 order by ${table}.${key}`

const queries: Readonly<Record<string, string>> = {
  inbox: of(
    'inbox',
    `${text('id', 'source', 'source_key', 'service')}, encode(sha256(body), 'hex') as body, headers::text,
      ${time('received_at')}, ${time('stored_at')}`,
  ),
  ledger_journal: `select ${text('id', 'posting_key', 'kind', 'deposit_id', 'transfer', 'reverses')}, ${time('event_at')},
      ${time('recorded_at')}, period::text, decision_id::text, reason, made_by, approved_by
    from ledger_journal left join manual_journal on journal_id = id
    where id > $1 and id <= $2 order by ledger_journal.id`,
  credit_safety: of(
    'credit_safety',
    `${text('id', 'deposit_id', 'number', 'action', 'journal_id', 'account', 'asset', 'amount', 'height', 'block_hash')},
      ${time('final_at')}, reason, ${time('at')}`,
  ),
  mismatch_event: of(
    'mismatch_event',
    `${text('id', 'mismatch_id')}, ${time('at')}, ${text('actor', 'action', 'text', 'approved_by', 'decision_id', 'before', 'after', 'undoes', 'mentions')}`,
  ),
  mismatch_attachment: of(
    'mismatch_attachment',
    `${text('id', 'mismatch_id', 'name')}, encode(sha256(content), 'hex') as content, ${text('sha256', 'added_by')}, ${time('at')}`,
  ),
  ledger_period_event: of(
    'ledger_period_event',
    `${text('id', 'period', 'action')}, ${time('at')}, ${text('decision_id', 'actor', 'approved_by', 'reason', 'severe_open', 'forced', 'last_journal')},
      ${time('cut_at')}, sha256`,
  ),
  decision: of('decision', `${text('id', 'uuid', 'kind', 'people', 'text')}, ${time('requested_at')}`),
  decision_event: of(
    'decision_event',
    `${text('id', 'decision_id', 'action', 'person', 'signature', 'reason')}, ${time('at')}`,
  ),
  access_event: of('access_event', `${text('id', 'person', 'action', 'detail', 'login')}, ${time('at')}`),
  owner: of(
    'owner',
    `${text('number', 'kind', 'id', 'forward_network', 'forward_asset', 'forward_recipient')}, ${time('created_at')}, ${time('added_at')},
      ${text('added_by', 'approved_by', 'decision_id')}`,
    'number',
  ),
  address_book: of(
    'address_book',
    `${text('id', 'network', 'address', 'role', 'owner_kind', 'owner_id')}, ${time('added_at')}, ${text('added_by', 'approved_by')},
      ${time('valid_from')}, decision_id::text`,
  ),
  address_end: of(
    'address_end',
    `${text('id', 'address_id')}, ${time('valid_until')}, ${text('reason', 'ended_by', 'approved_by', 'decision_id')}, ${time('at')}`,
  ),
  price: of(
    'price',
    `${text('id', 'asset', 'currency')}, ${time('at')}, ${text('price', 'source')}, ${time('imported_at')}`,
  ),
  rule_set: of(
    'rule_set',
    `${text('id', 'rules')}, ${time('since')}, ${text('requested_by', 'approved_by', 'decision_id')}`,
  ),
  opening_lot: of(
    'opening_lot',
    `${text('id', 'journal_id', 'account', 'asset')}, ${time('acquired_at')}, ${text('units', 'cost', 'currency')}, ${time('recorded_at')}`,
  ),
  valuation_rule: of(
    'valuation_rule',
    `${text('id', 'currency')}, extract(epoch from max_age)::text as max_age, ${text('own_accounts', 'method', 'pool')}, ${time('since')}`,
  ),
}

const lineQueries: Readonly<Record<string, string>> = {
  ledger_journal: `select journal_id::text as parent, ${text('leg', 'debit', 'credit', 'asset', 'amount')},
      ${time('event_at')}, ${time('recorded_at')}, period::text
    from ledger_transfer where journal_id > $1 and journal_id <= $2 order by journal_id, ledger_transfer.leg`,
  ledger_period_event: `select event_id::text as parent, ${text('account', 'asset', 'debit', 'credit')}
    from ledger_period_balance where event_id > $1 and event_id <= $2
    order by event_id, account collate "C", asset collate "C"`,
}

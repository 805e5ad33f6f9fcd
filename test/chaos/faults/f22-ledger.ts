import { randomBytes } from 'node:crypto'
import { Client, escapeIdentifier } from 'pg'
import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { changesOf, inserts, type LedgerAttack } from '../hostile/ledger-attacks.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld } from '../world.ts'

const tablesMin = 12

/** By enumeration over the catalog: a table that is new is asked for with the others. */
export const ledgerAttacked: Fault = {
  name: 'F22',
  title:
    'update, delete, truncate, unbalanced and late rows, as the role of the daemon and as a member of it',
  ground: 'shared',
  async strike(world) {
    const owner = await world.connect()
    await using stack = new AsyncDisposableStack()
    stack.defer(() => owner.end())
    await untilBooked(world, owner)
    const before = await digestOf(owner)
    const tables = await ledgerTables(owner)
    if (tables.size < tablesMin) throw new Error(`the catalog names ${tables.size} tables of the ledger`)
    for (const [who, session] of await sessionsOf(world, owner, stack)) {
      for (const [table, columns] of tables)
        for (const attack of changesOf(table, columns))
          await holdRefused(session, attack, `${who} on ${table}`)
      for (const [what, attack] of Object.entries(inserts))
        await holdRefused(session, attack, `${who}, ${what}`)
    }
    mustBeSame('what was booked before', await digestOf(owner, before.last), before)
  },
}

async function untilBooked(world: ChaosWorld, owner: Client): Promise<void> {
  const isBooked = async () =>
    (await owner.query(`select from ledger_journal where kind = 'deposit' limit 1`)).rowCount === 0
      ? null
      : true
  if ((await isBooked()) === null) await world.pay(3)
  await until('something is booked', isBooked, 120_000)
}

async function ledgerTables(owner: Client): Promise<Map<string, string[]>> {
  const { rows } = await owner.query<{ name: string; columns: string[] }>(
    `select c.oid::regclass::text as name, array_agg(quote_ident(attname) order by attnum) as columns
     from pg_class c join pg_attribute a on attrelid = c.oid and attnum > 0 and not attisdropped
     where relname ~ '^(ledger_|manual_journal$)' and relkind in ('r', 'p')
       and relnamespace = 'public'::regnamespace
     group by c.oid`,
  )
  return new Map(rows.map(({ name, columns }) => [name, columns]))
}

/** The login of the daemon in its role, and one that is a member of that role and of nothing else. */
async function sessionsOf(
  { databaseUrl }: ChaosWorld,
  owner: Client,
  stack: AsyncDisposableStack,
): Promise<[string, Client][]> {
  const login = `member_${randomBytes(6).toString('hex')}`
  const password = randomBytes(12).toString('hex')
  await owner.query(
    `create role ${escapeIdentifier(login)} login password '${password}' in role depositd_daemon`,
  )
  stack.defer(async () => {
    await owner.query(`drop role ${escapeIdentifier(login)}`)
  })
  const url = new URL(databaseUrl)
  url.username = login
  url.password = password
  const role = '-c role=depositd_daemon'
  const member = new Client({ connectionString: url.href })
  const memberInRole = new Client({ connectionString: url.href, options: role })
  const daemon = new Client({ connectionString: databaseUrl, options: role })
  for (const client of [member, memberInRole, daemon]) {
    await client.connect()
    stack.defer(() => client.end())
  }
  return [
    ['a member', member],
    ['a member in the role', memberInRole],
    ['the daemon', daemon],
  ]
}

/** In a transaction that is undone, so that what is not refused spoils nothing. */
async function holdRefused(
  session: Client,
  { statements, refusal }: LedgerAttack,
  what: string,
): Promise<void> {
  await session.query('begin')
  const reported = await attempt(session, statements)
  await session.query('rollback')
  if (reported === null) throw new Error(`${what} was not refused: ${statements}`)
  if (!refusal.test(reported))
    throw new Error(`${what} was refused for another reason: ${reported}: ${statements}`)
}

async function attempt(session: Client, statements: string): Promise<string | null> {
  try {
    for (const statement of statements.split(';')) await session.query(statement)
    await session.query('set constraints all immediate')
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

type Digest = { last: string; journals: string; transfers: string }

/** Of everything up to a journal; of all that there is without one. */
async function digestOf(owner: Client, last = '9223372036854775807'): Promise<Digest> {
  const { rows } = await owner.query<Digest>(
    `with upto as (select coalesce(max(id), 0) as id from ledger_journal where id <= $1)
     select upto.id::text as last,
       (select md5(string_agg(j::text, ';' order by j.id)) from ledger_journal j where j.id <= upto.id) as journals,
       (select md5(string_agg(t::text, ';' order by journal_id, leg)) from ledger_transfer t
        where journal_id <= upto.id) as transfers
     from upto`,
    [last],
  )
  const [digest] = rows
  if (digest === undefined) throw new Error('the books were not read')
  return digest
}

import { mapBounded } from '../../../src/chain/map-bounded.ts'
import { patientPolicy } from '../../support/patient-policy.ts'
import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { type BooksBeside, openBooksBeside } from '../hostile/books-beside.ts'
import { type Falsehood, falsehoods } from '../hostile/false-deposits.ts'
import { send, sign } from '../hostile/webhook-sender.ts'
import { mustBeSame } from '../until-same.ts'
import type { PaidDeposit } from '../world.ts'

/** A claim whose payment is not on chain is missed then, and not an hour later. */
const policy = { ...patientPolicy, chainWithin: '2s' }
const namedWithinMs = 60_000

/** Somebody has the secret, or the service is no longer itself: what it says is heard, and the chain is believed. */
export const falseDeposits: Fault = {
  name: 'F20',
  title: 'deposits that are not so, rightly signed',
  ground: 'own',
  async strike(world) {
    await using stack = new AsyncDisposableStack()
    const books = await openBooksBeside(world, stack, { policy })
    await untilReading(books)
    const paid = await world.pay(6)
    const [real, other] = paid.filter(({ network }) => network !== 'solana')
    if (real === undefined || other === undefined) throw new Error('nothing was paid on an EVM network')
    const reported = falsehoods(`${process.pid}-${Date.now()}`, real, other)
    for (const { what, id, body } of reported) {
      const answer = await send(
        { url: books.target.intake.url },
        sign({ secret: world.intake.secret }, id, body),
      )
      mustBeSame(`the answer to ${what}`, answer.status, 202)
    }
    await untilBooked(books, paid)
    await untilNamed(books, reported)
    await holdBooks(books, world.paid)
    await books.hold()
  },
}

/** What is paid before a network is read for the first time is not looked for. */
async function untilReading({ query }: BooksBeside): Promise<void> {
  await until(
    'every network is read',
    async () => {
      const rows = await query(`select from stream where name like 'scan/%' and cursor is not null`)
      return rows.length >= 3 ? true : null
    },
    namedWithinMs,
  )
}

async function untilBooked(books: BooksBeside, paid: readonly PaidDeposit[]): Promise<void> {
  await until(
    'every payment is booked',
    async () => {
      const booked = new Set((await bookedOf(books)).map(lineOf))
      return paid.every((one) => booked.has(lineOf(one))) ? true : null
    },
    namedWithinMs,
  )
}

/** Each is under a mismatch that names it. */
async function untilNamed(books: BooksBeside, reported: readonly Falsehood[]): Promise<void> {
  let unnamed: string[] = []
  const look = async () => {
    unnamed = await mapBounded(reported, 1, (one) => problemOf(books, one)).then((all) => all.flat())
    return unnamed.length === 0 ? true : null
  }
  await until('every falsehood is named', look, namedWithinMs).catch(() => {
    throw new Error(unnamed.join('; '))
  })
}

/** A mismatch of the deposit that it made, or of the row of the inbox where it made none. */
async function problemOf(
  { query }: BooksBeside,
  { what, id, serviceId, kinds }: Falsehood,
): Promise<string[]> {
  const rows = await query<{ kind: string; detail: string }>(
    `select distinct kind, detail::text from mismatch
     where cleared_at is null and (
       subject in (select 'inbox/' || id from inbox where source = 'webhook' and source_key = $1)
       or group_id in (select group_id from evidence join inbox on inbox.id = inbox_id where source_key = $1)
       or deposit_id in (select id from deposit where service_id = $2))`,
    [id, serviceId],
  )
  if (rows.some(({ kind }) => kinds.includes(kind))) return []
  const open = rows.map(({ kind, detail }) => `${kind} ${detail}`)
  return [`${what} is under ${open.join(', ') || 'no mismatch'}, and under none of ${kinds.join(', ')}`]
}

type Booked = { tx: string; amount: string }

/** What stands in the books as deposited. */
async function bookedOf({ query }: BooksBeside): Promise<Booked[]> {
  return query<Booked>(
    `select split_part(journal.transfer, '/', 2) as tx, amount::text from ledger_journal journal
     join ledger_transfer on journal_id = journal.id
     where kind = 'deposit' and not exists (select from ledger_journal later where later.reverses = journal.id)`,
  )
}

const lineOf = ({ tx, amount }: { tx: string; amount: string | bigint }) => `${tx} ${amount}`

/** Whatever is booked was paid at some time, to its amount on the chain, and is booked once. */
async function holdBooks(books: BooksBeside, everPaid: readonly PaidDeposit[]): Promise<void> {
  const booked = (await bookedOf(books)).map(lineOf)
  const real = new Set(everPaid.map(lineOf))
  const untrue = booked.filter((line, place) => !real.has(line) || booked.indexOf(line) !== place)
  mustBeSame('what is booked and was not paid, or booked twice', untrue, [])
  // A payment that is final before its own claim came is booked of whoever named it, and anew of its own.
  const others = await books.query<{ kind: string; posting_key: string }>(
    `select kind, posting_key from ledger_journal journal where kind not in ('deposit', 'settlement', 'conversion')
     and not exists (
       select from ledger_journal was join ledger_journal anew on (anew.kind, anew.transfer) = (was.kind, was.transfer)
       where was.id = journal.reverses and was.kind = 'deposit' and anew.id > journal.id)`,
  )
  mustBeSame('journals of another kind', others, [])
  const sums = await books.query(`select asset from ledger_entry group by asset having sum(amount) <> 0`)
  mustBeSame('assets whose books are not balanced', sums, [])
}

import { sql } from 'kysely'
import { type DepositKnob, faultTable } from '../../src/service/faults/fault-table.ts'
import type { Faults } from '../../src/service/faults/faults.ts'
import type { ServiceDatabase, ServiceTables } from '../../src/service/tables.ts'
import { openDatabase } from '../../src/store/database.ts'
import { contradictions } from '../oracle/books-of-faults.ts'
import { type Facts, type ForwardFact, type PaidFact, storeFacts } from '../oracle/facts.ts'
import { expected } from './reported-faults.ts'
import { depositKnobs, forwardKnobs } from './struck-payments.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

/** A payment as it was made; `asset` is a key as `base/native`. */
export type Paid = { network: string; tx: string; address: string; asset: string; amount: bigint }

/** What a payment is known by to who receives it. */
const placeOf = ({ network, tx, address, asset }: Omit<Paid, 'amount'>): string =>
  [network, tx, address, asset].join()

const unsent: readonly DepositKnob[] = ['dropWebhookRate']
const refused: readonly DepositKnob[] = ['corruptWebhookRate', 'resignWebhookRate']

/** Two errors that hide a deposit from both sides leave what a third party would see. */
const together = [
  'unreported',
  'settlement_unreported',
  'settlement_missing',
  'webhook_missing',
  'api_missing',
  'conversion_open',
  'record_disappeared',
]

/**
 * Whether the service has nothing left to do or to send. A webhook that is refused for good is sent again for days:
 * once is enough.
 */
export async function isAtRest(db: ServiceDatabase, faults: Faults, count: number): Promise<boolean> {
  const { rows: counts } = await sql<{ settled: bigint; open: bigint }>`
    select (select count(*) from service.deposit where status in ('settled', 'credited')) as settled,
      (select count(*) from service.transfer where outcome is null and kind in ('forward', 'extra')) as open`.execute(
    db,
  )
  const [now] = counts
  if (now?.settled !== BigInt(count) || now.open > 0n) return false
  const { rows: waiting } = await sql<Struck>`
    select distinct network, transaction, index
    from service.delivery join service.event on event.id = event_id join service.deposit on deposit.id = deposit_id
    where delivery.status = 'pending'`.execute(db)
  return waiting.every((deposit) => refused.some((knob) => faults.strikes(knob, deposit)))
}

type Struck = { network: string; transaction: string; index: string }
type Recorded = Struck & {
  address: string
  contract: string | null
  owner_kind: string
  /** Its second forward never landed: on Solana one that is not included in time expires. */
  unmatched_delivery_expired: boolean
}

/** What the service's own database and the table of faults say of the payments, once it is at rest. */
export async function readFacts(db: ServiceDatabase, faults: Faults, paid: readonly Paid[]): Promise<Facts> {
  const { rows: recorded } = await sql<Recorded>`
    select network, transaction, index, address, contract, owner_kind, exists (
      select from service.transfer where deposit_id = deposit.id and kind = 'extra' and outcome = 'expired'
    ) as unmatched_delivery_expired
    from service.deposit`.execute(db)
  const byPlace = new Map(
    recorded.map((row) => [
      placeOf({ ...row, tx: row.transaction, asset: `${row.network}/${row.contract ?? 'native'}` }),
      row,
    ]),
  )
  const payments = paid.map(({ amount, ...payment }): PaidFact => {
    const row = byPlace.get(placeOf(payment))
    if (row === undefined) throw new Error(`the service has no deposit of ${payment.tx}`)
    const isWallet = row.owner_kind === 'stable_wallet'
    const struck = depositKnobs
      .filter((knob) => faults.strikes(knob, row) && !(isWallet && forwardKnobs.includes(knob)))
      .filter((knob) => knob !== 'doubleForwardRate' || !row.unmatched_delivery_expired)
    return {
      ...payment,
      amount: amount.toString(),
      owner_kind: row.owner_kind,
      struck,
      ...endOf(struck, isWallet),
    }
  })
  return { payments, forwards: await readForwards(db), events: await readAnswered(db, faults) }
}

/**
 * What must be open in the end. Errors that time or depositd gets over change nothing beside another; of two that last,
 * one may hide the other.
 */
function endOf(struck: readonly DepositKnob[], isWallet: boolean) {
  const owner = isWallet ? 'savings' : 'shop'
  const lasting = struck.map((knob) => expected({ knob, owner })).filter(({ open }) => open.length > 0)
  const must = lasting.flatMap(({ open }) => open)
  const [first, second] = lasting
  const may = [...ifRead(struck), ...ifAlike(struck)]
  if (second === undefined) return { must, any_of: false, may, is_reconciled: first?.isReconciled ?? true }
  return { must: [...must, 'unreported'], any_of: true, may: [...may, ...together], is_reconciled: null }
}

/** Reported where chance had the record read before it was gone. */
function ifRead(struck: readonly DepositKnob[]): readonly string[] {
  return struck.includes('removeRecordRate') ? [faultTable.removeRecordRate.ifRead] : []
}

async function readForwards(db: ServiceDatabase): Promise<readonly ForwardFact[]> {
  const { rows } = await sql<ForwardFact>`
    select kind, transfer.transaction as tx, transfer.network, transfer.amount,
      deposit.network as paid_network, deposit.transaction as paid_tx, deposit.address as paid_address
    from service.transfer join service.deposit on deposit.id = deposit_id
    where outcome = 'landed' and kind in ('forward', 'extra')`.execute(db)
  return rows
}

/** The delivery log of what is dropped says that it was delivered, which is the error. */
async function readAnswered(db: ServiceDatabase, faults: Faults): Promise<readonly string[]> {
  const { rows } = await sql<Struck & { id: string }>`
    select event.id, network, transaction, index
    from service.event join service.deposit on deposit.id = deposit_id
    where exists (
      select from service.delivery_attempt where event_id = event.id and status_code between 200 and 299)`.execute(
    db,
  )
  return rows.filter((row) => !unsent.some((knob) => faults.strikes(knob, row))).map(({ id }) => id)
}

/** Two second forwards of one amount both fit a deposit that lacks its delivery. */
function ifAlike(struck: readonly DepositKnob[]): readonly string[] {
  return struck.includes('doubleForwardRate') ? ['ambiguous_match'] : []
}

type Broken = { name: string; rows: unknown[] }

/** What contradicts the invariants of the books (I1 to I6), in a moment in which nothing waits to be applied. */
export async function brokenInvariants(world: World): Promise<readonly Broken[]> {
  const service = openDatabase<ServiceTables>({
    url: world.serviceDatabaseUrl,
    poolMax: 1,
    applicationName: 'test',
  })
  const facts = await readFacts(service, world.service.faults, [])
  await service.destroy()
  await storeFacts(world.settings.databaseUrl, facts)
  return await until('nothing waits to be applied', () => brokenAtRest(world.db))
}

/** Null where something came in that is not applied yet: webhooks and records go on. */
function brokenAtRest(db: World['db']): Promise<readonly Broken[] | null> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      const { rows: waiting } = await sql`select inbox_id from inbox_pending limit 1`.execute(tx)
      if (waiting.length > 0) return null
      const invariants = Object.entries(contradictions).filter(([name]) => /^I\d/.test(name))
      const broken: Broken[] = []
      for (const [name, question] of invariants) {
        const { rows } = await sql.raw(question).execute(tx)
        if (rows.length > 0) broken.push({ name, rows })
      }
      return broken
    })
}

/** How many deposits each error struck, for people. */
export function countStruck({ payments }: Facts): string {
  const of = (knob: DepositKnob) => payments.filter(({ struck }) => struck.includes(knob)).length
  const lines = depositKnobs.map(
    (knob) => `  ${knob.padEnd(22)} ${of(knob).toString().padStart(6)}  ${mismatchOf(knob)}`,
  )
  return `${lines.join('\n')}\n  ${'none'.padEnd(22)} ${payments
    .filter(({ struck }) => struck.length === 0)
    .length.toString()
    .padStart(6)}\n`
}

function mismatchOf(knob: DepositKnob): string {
  return faultTable[knob].mismatch ?? 'absorbed'
}

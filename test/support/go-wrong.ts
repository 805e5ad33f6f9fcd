import { sql } from 'kysely'
import type { MismatchKind } from '../../src/core/mismatch.ts'
import type { DepositKnob } from '../../src/service/faults/fault-table.ts'
import { runCommand } from './command.ts'
import { type Demonstration, vault, withinMs } from './demonstration.ts'
import { depositKnobs, sendStruckPayments, signStruckPayments, strikingRate } from './struck-payments.ts'
import { addressed } from './struck-wishes.ts'
import { tamper } from './tamper.ts'
import { until } from './until.ts'

/** Something that goes wrong, and what has to come of it. */
export type Wrong = {
  what: string
  kind: MismatchKind
  /** The alert that fires at once, with some of its labels; null where nobody is to be woken. */
  alert: { name: string; labels: Readonly<Record<string, string>> } | null
}

const severe = (kind: MismatchKind): Wrong['alert'] => ({
  name: 'DepositdSevereMismatch',
  labels: { kind, network: 'base' },
})

/** All that goes wrong in the demonstration. Nothing else may wake anybody. */
export const wrongs: readonly Wrong[] = [
  {
    what: 'the service forwards a tenth less than it says',
    kind: 'settlement_short',
    alert: severe('settlement_short'),
  },
  {
    what: 'the service states another amount in its webhooks',
    kind: 'amount_mismatch',
    alert: severe('amount_mismatch'),
  },
  {
    what: 'the service forwards to another recipient',
    kind: 'recipient_mismatch',
    alert: { name: 'DepositdRecipientMismatch', labels: { network: 'base' } },
  },
  {
    what: 'the service has another recipient for a channel',
    kind: 'address_changed',
    alert: { name: 'DepositdAddressChanged', labels: {} },
  },
  {
    what: 'somebody edits a booked amount: the deposit does not tie',
    kind: 'ledger_imbalance',
    alert: { name: 'DepositdLedgerUntied', labels: { control: 'in_transit' } },
  },
  {
    what: 'somebody edits a booked amount: it is not as it was sealed',
    kind: 'seal_broken',
    alert: { name: 'DepositdSealBroken', labels: {} },
  },
  {
    what: 'webhooks are lost or wrongly signed',
    kind: 'webhook_missing',
    alert: { name: 'DepositdWarningMismatch', labels: { kind: 'webhook_missing' } },
  },
  { what: 'webhooks are dated an hour ahead', kind: 'clock_skew', alert: null },
]

/** Knobs that act when something is sent, and so leave alone what was paid before they were turned. */
const wishes: readonly { knob: DepositKnob | null; owner: string }[] = [
  { knob: 'shortForwardRate', owner: 'shop' },
  { knob: 'editWebhookRate', owner: 'shop' },
  { knob: 'misdirectForwardRate', owner: 'shop' },
  { knob: 'dropWebhookRate', owner: 'shop' },
  { knob: 'resignWebhookRate', owner: 'payroll' },
  { knob: 'skewWebhookRate', owner: 'payroll' },
  { knob: 'doubleWebhookRate', owner: 'payroll' },
  { knob: null, owner: 'shop' },
  { knob: null, owner: 'savings' },
]

const requestRates = { refuseCallRate: 0.1, failCallRate: 0.05, reorderRecordsRate: 0.2 }

/** Makes everything go wrong at once, and returns when depositd has told of each. */
export async function goWrong(demonstration: Demonstration): Promise<void> {
  const { world } = demonstration
  // What is altered is sealed before.
  await runCommand('ledger seal', world.environment)
  const knobs = wishes.flatMap(({ knob }) => knob ?? [])
  const rates = Object.fromEntries(knobs.map((knob) => [knob, strikingRate]))
  world.service.faults.set({ seed: 'demonstration', ...rates, ...requestRates })
  const base = world.networks.find(({ name }) => name === 'base')
  if (base === undefined) throw new Error('the demonstration has Base')
  const wanted = wishes.map((wish) => addressed(world, wish))
  await sendStruckPayments(base, await signStruckPayments(base, world.service.faults, wanted))
  await tamper({ url: world.serviceDatabaseUrl }, otherRecipient)
  await tamper({ url: world.settings.databaseUrl }, editedAmount)
  const isReported = async (): Promise<true | null> => {
    const { rows } = await sql<{ kind: string }>`select distinct kind from open_mismatch`.execute(world.db)
    const reported = new Set(rows.map(({ kind }) => kind))
    return wrongs.every(({ kind }) => reported.has(kind)) || null
  }
  await until('everything that went wrong is told', isReported, withinMs)
  await resolveSkew(demonstration)
  await loseWebhooksOfShort(demonstration)
}

/** What a person ends is counted. */
async function resolveSkew({ world }: Demonstration): Promise<void> {
  const { rows } = await sql<{ id: bigint }>`select id from open_mismatch where kind = 'clock_skew'`.execute(
    world.db,
  )
  for (const { id } of rows) {
    const line = `mismatches resolve ${id} --reason told`
    const { status, err } = await runCommand(line, world.environment)
    if (status !== 0) throw new Error(err)
  }
}

/** What API and chain agree on waits for no webhook; what is short does. From here on none is sent. */
async function loseWebhooksOfShort({ world }: Demonstration): Promise<void> {
  const spared = Object.fromEntries(depositKnobs.map((knob) => [knob, 0]))
  world.service.faults.set({ ...spared, dropWebhookRate: 1, shortForwardRate: 1 })
  const tx = await world.pay({ network: 'base', symbol: 'USDC', owner: 'shop', amount: '4' })
  const isShort = async (): Promise<true | null> => {
    const { rows } = await sql`
      select from open_mismatch m join deposit d on d.id = m.deposit_id
      where m.kind = 'settlement_short' and d.tx = ${tx}`.execute(world.db)
    return rows.length > 0 || null
  }
  await until('the last one is short', isShort, withinMs)
}

const otherRecipient = `
  update service.owner set forward_recipient = '0x00000000000000000000000000000000000bad00'
  where id = '${vault.id}'`

const editedAmount = `
  update ledger_transfer set amount = amount + 1
  where journal_id = (select min(id) from ledger_journal where kind = 'settlement') and credit like 'assets:in_transit:%'`

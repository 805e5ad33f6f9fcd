import { type DepositKnob, type End, faultTable } from '../../src/service/faults/fault-table.ts'
import { showDeposits } from '../../src/store/books/show-deposits.ts'
import { runCommand } from './command.ts'
import { runDecided } from './people.ts'
import { shownOf } from './reported-faults.ts'
import { depositKnobs, type StruckPayment } from './struck-payments.ts'
import { until } from './until.ts'
import type { World } from './world.ts'

/** The errors of deposits whose mismatch has that end. */
export function endedBy(end: End): DepositKnob[] {
  return depositKnobs.filter((knob) => {
    const fault = faultTable[knob]
    return fault.mismatch !== null && fault.ends === end
  })
}

/** Has the service send every webhook of a deposit again, as an operator asks it to. */
export async function resendWebhooks({ settings }: World, serviceId: string): Promise<number> {
  const { url, auth } = settings.services[0]
  const headers = { ...auth.headers, 'content-type': 'application/json' }
  const list = await fetch(`${url}/v1/events?limit=100&deposit=${serviceId}`, { headers })
  const { data } = (await list.json()) as { data: { id: string }[] }
  for (const { id } of data) {
    const answer = await fetch(`${url}/v1/events/${id}/resend`, { method: 'POST', headers, body: '{}' })
    if (!answer.ok) throw new Error(`${id} is not sent again: ${answer.status}`)
  }
  return data.length
}

type DecidedKnob = Extract<
  DepositKnob,
  | 'editWebhookRate'
  | 'claimAgainRate'
  | 'withholdRefundRate'
  | 'reopenRate'
  | 'skewWebhookRate'
  | 'overchargeRate'
  | 'shortForwardRate'
  | 'doubleForwardRate'
  | 'misdirectForwardRate'
  | 'dropTransactionRate'
>

type Mismatch = { id: string; kind: string; subject: string; amount: string; network: string }

/** What a person decides by the command line, once nothing else ends a mismatch. */
export const decisions: Record<DecidedKnob, (world: World, payment: StruckPayment) => Promise<void>> = {
  editWebhookRate: (world, payment) => resolve(world, payment, 'amount_mismatch'),
  claimAgainRate: (world, payment) => resolve(world, payment, 'tx_reused'),
  reopenRate: (world, payment) => resolve(world, payment, 'terminal_reopened'),
  skewWebhookRate: (world, payment) => resolve(world, payment, 'clock_skew'),
  overchargeRate: (world, payment) => resolve(world, payment, 'fee_out_of_band'),
  shortForwardRate: (world, payment) => resolve(world, payment, 'settlement_short'),
  // It belongs to no deposit; no other one of its amount is open.
  doubleForwardRate: async (world, { tx }) => {
    const shown = await shownOf(world.db, tx)
    const { settlement_amount: amount, settlement_network: network } = shown?.deposit ?? {}
    const unmatchedDeliveries = await listed(world, 'settlement_unreported')
    const unmatchedDelivery = unmatchedDeliveries.find(
      (one) => one.amount === amount && one.network === network,
    )
    await decide(world, `mismatches resolve ${unmatchedDelivery?.id} --reason returned`)
  },
  misdirectForwardRate: (world, payment) => writeOff(world, payment, 'recipient_mismatch'),
  withholdRefundRate: (world, payment) => writeOff(world, payment, 'refund_due'),
  dropTransactionRate: async (world, { tx }) => {
    const { deposit, transfer } = await until('it is proposed', async () => {
      const { out } = await runCommand('deposits proposals --json', world.environment)
      const { items } = JSON.parse(out) as {
        items: { deposit: string; transfer: string; score: number }[]
      }
      return items.find((line) => line.transfer.includes(tx) && line.score === 100) ?? null
    })
    await decide(
      world,
      `deposits match ${deposit} --transfer ${transfer} --reason agreed --break-glass anna,ben`,
    )
  },
}

/** Paid, and delivered as it should be or not, which a decision does not change. */
export const endStates: Record<keyof typeof decisions, string> = {
  editWebhookRate: 'settled',
  claimAgainRate: 'reconciled',
  reopenRate: 'reconciled',
  skewWebhookRate: 'reconciled',
  overchargeRate: 'reconciled',
  shortForwardRate: 'settled',
  doubleForwardRate: 'reconciled',
  misdirectForwardRate: 'settling',
  withholdRefundRate: 'failed',
  dropTransactionRate: 'reconciled',
}

async function resolve(world: World, payment: StruckPayment, kind: string): Promise<void> {
  await decide(world, `mismatches resolve ${await mismatchOf(world, payment, kind)} --reason agreed`)
}

async function writeOff(world: World, payment: StruckPayment, kind: string): Promise<void> {
  const id = await mismatchOf(world, payment, kind)
  await decide(world, `mismatches write-off ${id} --account receivable --reason owed --break-glass anna,ben`)
}

async function mismatchOf({ db }: World, { tx }: StruckPayment, kind: string): Promise<string> {
  const shown = await showDeposits(db, tx)
  const found = shown
    .flatMap(({ mismatches }) => mismatches)
    .find((one) => one.kind === kind && one.cleared_at === null)
  if (found === undefined) throw new Error(`${kind} is not open`)
  return found.id
}

async function listed({ environment }: World, kind: string): Promise<Mismatch[]> {
  const { out } = await runCommand(`mismatches list --kind ${kind} --json`, environment)
  return (JSON.parse(out) as { items: Mismatch[] }).items
}

async function decide({ environment }: World, line: string): Promise<void> {
  const { status, err } = await runDecided(line, environment)
  if (status !== 0) throw new Error(err)
}

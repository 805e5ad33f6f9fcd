import { decide, rulesOf } from '../../core/decide.ts'
import type { Observation, ObservedChainTransfer } from '../../core/evidence.ts'
import type { Approval } from '../../core/matching/divide.ts'
import { createClaimReader, readItems } from '../../provider/read-claim.ts'
import { approvalsAt } from '../../store/owners.ts'
import { withDatabase } from '../context.ts'
import { bodyOf } from '../webhooks/profile.ts'
import type { OnboardProfile } from './profile.ts'
import type { Session } from './session.ts'

export type DryRun = {
  deposits: number
  states: Readonly<Record<string, number>>
  mismatches: Readonly<Record<string, number>>
  journals: number
  unread: readonly string[]
  /** On the chains, of deposits of the samples. */
  deliveries: readonly { network: string; from: string | null }[]
}

/** From which addresses the service forwards, by network: those of the deliveries that the chains show. */
export function sendersOf(session: Session, { deliveries }: DryRun): Record<string, string[]> {
  const known = Map.groupBy(
    deliveries.filter(({ from }) => from !== null),
    ({ network }) => network,
  )
  return Object.fromEntries(
    [...known].map(([network, all]) => {
      const senders = [...new Set(all.flatMap(({ from }) => from ?? []))]
      session.say(`  proved  senders.${network}: ${all.length} deliveries came from ${senders.join(', ')}`)
      return [network, senders]
    }),
  )
}

/** What the samples would become: decided as the daemon would, by the real chains, and nothing is stored. */
export async function tryOut(session: Session, { profile, samples, facts }: OnboardProfile): Promise<DryRun> {
  const { settings } = session.service()
  const read = createClaimReader(profile, settings, session.name)
  const now = new Date()
  const readings = [
    ...samples.payloads.flatMap((payload) =>
      readItems(read, { source: 'webhook', body: bodyOf(payload), receivedAt: now }),
    ),
    ...samples.records.map((record) => read({ source: 'api', body: bodyOf(record), receivedAt: now })),
  ]
  const claims = readings.flatMap((reading) => (reading.kind === 'claim' ? [reading.claim] : []))
  const unread = readings.flatMap((reading) =>
    'problem' in reading ? [`${reading.path}: ${reading.problem}`] : [],
  )
  const addresses = claims.map(({ deposit }) => deposit.address)
  const approvals = await withDatabase(session.context, (db) => approvalsAt(db, addresses))
  const observations: Observation[] = [...claims, ...transfersOf(facts, approvals, now)]
  const verdict = decide({ observations, approvals, deposits: [], journals: [] }, rulesOf(settings), now)
  const reported = verdict.deposits.filter(({ evidence }) => evidence.serviceId !== null)
  const tried: DryRun = {
    deposits: reported.length,
    states: countBy(reported.map(({ verdict: { state } }) => state)),
    mismatches: countBy(
      reported.flatMap(({ verdict: { mismatches } }) => mismatches.map(({ kind }) => kind)),
    ),
    journals: reported.reduce((sum, { journals }) => sum + journals.length, 0),
    unread: [...new Set(unread)],
    deliveries: reported.flatMap(({ evidence: { settlements } }) =>
      settlements.map(({ network, from }) => ({ network, from })),
    ),
  }
  session.say(textOf(tried))
  const { unknown_address: unknown } = tried.mismatches
  if (unknown !== undefined)
    session.say(
      `${unknown} of them went to addresses that are not in the address book. Import their owners with "bin/depositd channels import FILE" or "wallets import", with ids like ${session.name}/ID.`,
    )
  return tried
}

function transfersOf(
  { transactions }: OnboardProfile['facts'],
  approvals: readonly Approval[],
  now: Date,
): ObservedChainTransfer[] {
  const deposits = new Set(approvals.map(({ network, address }) => `${network}/${address}`))
  const recipients = new Set(
    approvals.flatMap(({ forward }) => (forward === null ? [] : [`${forward.network}/${forward.recipient}`])),
  )
  return [...transactions.values()].flat().flatMap((fact) => {
    if (fact.kind !== 'moved') return []
    return fact.transfers.flatMap((transfer): ObservedChainTransfer[] => {
      const place = `${transfer.network}/${transfer.to}`
      const observed = { kind: 'chain_transfer', stage: 'final', epoch: 0, receivedAt: now } as const
      return [
        ...(deposits.has(place) ? [{ ...transfer, ...observed, role: 'deposit' } as const] : []),
        ...(recipients.has(place) ? [{ ...transfer, ...observed, role: 'recipient' } as const] : []),
      ]
    })
  })
}

function countBy(words: readonly string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]))
}

function list(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([word, count]) => `${count} ${word}`)
  return parts.join(', ') || 'none'
}

function textOf({ deposits, states, mismatches, journals, unread }: DryRun): string {
  return [
    `Of ${deposits} deposits in the samples: ${list(states)}.`,
    `Open mismatches: ${list(mismatches)}. Journals that would be booked: ${journals}.`,
    ...unread.slice(0, 5).map((one) => `  not read  ${one}`),
  ].join('\n')
}

import { expect, test } from 'vitest'
import { decide, type ObservationGroup } from '../../../src/core/decide.ts'
import type { ClaimStatus } from '../../../src/core/evidence.ts'
import { groupOf } from '../../support/any-evidence.ts'
import { at, channelApproval, claim, delivery, payment, policy, webhook } from '../../support/evidence.ts'
import { decided, late } from '../../support/outcome.ts'

const said = (status: ClaimStatus, minutes: number) => ({ status, receivedAt: at(minutes) })

/** What the missing webhooks are said to be missing of. */
function missing(observations: ObservationGroup['observations'], now = late): string[] {
  const { deposits } = decided(observations, now)
  return deposits.flatMap(({ verdict }) =>
    verdict.mismatches.flatMap(({ kind, detail }) =>
      kind === 'webhook_missing' ? [`${detail.what}, since ${detail.since}`] : [],
    ),
  )
}

test('a status that the API tells of is missed where no webhook tells of it, though one tells of a later', () => {
  const listed = [claim(said('observed', 1)), claim(said('settling', 3)), claim(said('settled', 5))]
  const reported = [webhook(said('observed', 1)), webhook(said('settled', 5))]
  expect(missing([...listed, ...reported, payment(), delivery()])).toEqual([
    `no webhook received for the status settling, since ${at(3).toISOString()}`,
  ])
  expect(missing([...listed, ...reported, payment(), delivery()], at(3 + 9))).toEqual([])
  expect(missing([...listed, ...reported, webhook(said('settling', 300)), payment(), delivery()])).toEqual([])
})

test.each<ClaimStatus>(['held', 'refunded', 'failed'])('so is that it is %s', (status) => {
  const observations = [webhook(said('observed', 1)), claim(said(status, 3)), payment({ receivedAt: at(30) })]
  expect(missing(observations, at(15))).toEqual([
    `no webhook received for the status ${status}, since ${at(3).toISOString()}`,
  ])
})

test('a payment that became final is missed where webhooks fell silent before', () => {
  expect(missing([webhook(said('observed', 1)), payment()])).toEqual([
    `no webhook received for the status confirmed, since ${at(2).toISOString()}`,
  ])
  expect(missing([webhook(said('observed', 1)), webhook(said('settling', 3)), payment()])).toEqual([])
})

test('the step that is known for longest is told of', () => {
  const observations = [
    claim(said('settled', 9)),
    claim(said('confirmed', 4)),
    payment({ receivedAt: at(6) }),
  ]
  expect(missing(observations)).toEqual([
    `no webhook received for this deposit, since ${at(4).toISOString()}`,
  ])
})

test('only the statuses of the policy are waited for', () => {
  const observations = [
    webhook(said('settled', 5)),
    claim(said('observed', 1)),
    claim(),
    payment(),
    delivery(),
  ]
  const approvals = [channelApproval]
  const kindsWith = (webhookStatuses: readonly ClaimStatus[]) => {
    const rules = { policy: { ...policy, webhookStatuses }, routes: [], senders: new Set<string>() }
    const { deposits } = decide({ observations, approvals, deposits: [], journals: [] }, rules, late)
    return deposits.flatMap(({ verdict }) => verdict.mismatches.map(({ kind }) => kind))
  }
  expect(kindsWith(['observed', 'settled'])).toEqual(['webhook_missing'])
  expect(kindsWith(['settled'])).toEqual([])
})

test('steps before the webhooks of the service are expected need none, also if the chain is read later', () => {
  const { webhookStatuses } = policy
  const settled = [
    claim(said('settled', 9)),
    payment({ receivedAt: at(40) }),
    delivery({ receivedAt: at(40) }),
  ]
  const stepsSince = (minutes: number) => {
    const since = { ...policy, webhookStatuses, webhooksSinceMs: at(minutes).getTime() }
    const rules = { policy: since, routes: [], senders: new Set<string>() }
    const [deposit] = decide(groupOf(settled), rules, late).deposits
    return {
      known: deposit?.steps.known,
      missing: deposit?.verdict.mismatches.some(({ kind }) => kind === 'webhook_missing'),
    }
  }
  expect(stepsSince(0)).toEqual({ known: 2, missing: true })
  expect(stepsSince(30)).toEqual({ known: 0, missing: false })
})

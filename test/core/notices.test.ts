import { describe, expect, test } from 'vitest'
import type { OpenCause } from '../../src/core/cause.ts'
import { type CauseNotice, noticeSteps } from '../../src/core/notices.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1) + minutes * 60_000)

const asset = 'base/0x01'

function loss(amount: bigint | null): OpenCause['losses'][number] {
  return { asset, network: 'base', symbol: 'USDC', decimals: 6, amount }
}

function causeAt(since: number, changes: Partial<OpenCause> = {}): OpenCause {
  return {
    kind: 'settlement_short',
    service: 'default',
    network: 'base',
    side: 'service',
    severity: 'severe',
    since: at(since),
    until: at(since),
    count: 1,
    losses: [],
    callsForPeople: true,
    ...changes,
  }
}

/** What is noted of a cause after its first message. */
function noticeOf(cause: OpenCause, changes: Partial<CauseNotice> = {}): CauseNotice {
  const [step] = noticeSteps([cause], [], at(0))
  if (step === undefined) throw new Error('nothing is said')
  const { says: _says, cause: _cause, ...notice } = step
  return { ...notice, ...changes }
}

const said = (causes: readonly OpenCause[], notices: readonly CauseNotice[], minutes = 10) =>
  noticeSteps(causes, notices, at(minutes)).map(({ says }) => says)

describe('a cause', () => {
  test('is opened once it calls for people', () => {
    expect(said([causeAt(0, { callsForPeople: false })], [])).toEqual([])
    expect(said([causeAt(0)], [])).toEqual(['opened'])
    expect(said([causeAt(0)], [noticeOf(causeAt(0))])).toEqual([])
  })

  test.each([
    ['another kind', { kind: 'amount_mismatch' }],
    ['another service', { service: 'acme' }],
    ['another network', { network: 'polygon' }],
    ['more than an hour later', { since: at(61), until: at(61) }],
    ['more than an hour earlier', { since: at(-61), until: at(-61) }],
  ])('of %s is another one', (_what, changes) => {
    expect(said([causeAt(0), causeAt(0, changes)], [noticeOf(causeAt(0))])).toEqual(['opened'])
  })

  test('stays the same while its oldest mismatches end and new ones open', () => {
    const notice = noticeOf(causeAt(0, { until: at(50) }))
    const [step] = noticeSteps([causeAt(50, { until: at(90) })], [notice], at(100))
    expect(step).toMatchObject({ says: 'unchanged', key: notice.key, since: at(0), until: at(90) })
  })

  test('that falls apart stays one', () => {
    const notice = noticeOf(causeAt(0, { until: at(120), count: 3 }))
    expect(said([causeAt(0), causeAt(120)], [notice])).toEqual([])
  })

  test('is grown if its count or a loss has doubled, five minutes after the last message', () => {
    const notice = noticeOf(causeAt(0, { count: 2, losses: [loss(100n)] }))
    const grown = (changes: Partial<OpenCause>, minutes = 5) =>
      said([causeAt(0, { count: 2, losses: [loss(100n)], ...changes })], [notice], minutes)
    expect(grown({ count: 3 })).toEqual([])
    expect(grown({ count: 4 })).toEqual(['grown'])
    expect(grown({ count: 4 }, 4.9)).toEqual([])
    expect(grown({ count: 4, callsForPeople: false })).toEqual([])
    expect(grown({ losses: [loss(199n)] })).toEqual([])
    expect(grown({ losses: [loss(200n)] })).toEqual(['grown'])
    expect(grown({ losses: [loss(100n), { ...loss(1n), asset: 'base/0x02' }] })).toEqual(['grown'])
    expect(grown({ losses: [loss(null)] })).toEqual([])
  })

  test('has ended without an open mismatch, also if it was taken before', () => {
    const notice = noticeOf(causeAt(0))
    expect(said([causeAt(0, { callsForPeople: false })], [notice])).toEqual([])
    expect(noticeSteps([], [notice], at(9))).toEqual([
      { ...notice, says: 'ended', cause: null, messageAt: at(9), closedAt: at(9) },
    ])
  })

  test('that comes back is open again, and not a second one', () => {
    const ended = noticeOf(causeAt(0), { closedAt: at(5) })
    expect(said([], [ended])).toEqual([])
    expect(said([causeAt(0, { callsForPeople: false })], [ended])).toEqual([])
    expect(noticeSteps([causeAt(30)], [ended], at(31))).toMatchObject([
      { says: 'reopened', key: ended.key, closedAt: null, since: at(0), until: at(30) },
    ])
  })
})

import {
  assert,
  constant,
  constantFrom,
  integer,
  property,
  record,
  shuffledSubarray,
  tuple,
  uniqueArray,
  uuid,
} from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type AlertRules,
  type CaseLoss,
  type Cause,
  causesOf,
  lossesOf,
  needsAlert,
  type OpenCase,
} from '../../src/core/cause.ts'
import { mismatchKinds } from '../../src/core/mismatch.ts'

const minute = 60_000
const start = Date.UTC(2026, 0, 1)
const at = (minutes: number) => new Date(start + minutes * minute)

const anyCase = record({
  id: uuid(),
  kind: constantFrom('settlement_short', 'unreported', 'address_changed', 'of_an_older_version'),
  service: constantFrom('default', 'acme', ''),
  network: constantFrom('base', 'solana', ''),
  openedAt: integer({ min: 0, max: 600 }).map(at),
})
const cases = uniqueArray(anyCase, { selector: ({ id }) => id, maxLength: 40 })
const windows = integer({ min: 0, max: 120 }).map((minutes) => minutes * minute)

const idsOf = (causes: readonly Cause<{ id: string }>[]) =>
  causes.map((cause) => ({ ...cause, cases: cause.cases.map(({ id }) => id).toSorted() }))

describe('causes of mismatches', () => {
  test('are the same in whatever order the mismatches come', () => {
    const shuffled = cases.chain((all) =>
      tuple(constant(all), shuffledSubarray(all, { minLength: all.length })),
    )
    assert(
      property(shuffled, windows, ([all, other], within) => {
        expect(idsOf(causesOf(other, within))).toEqual(idsOf(causesOf(all, within)))
      }),
    )
  })

  test('hold every mismatch once, of one kind, service, network and side, and are apart by more than the window', () => {
    assert(
      property(cases, windows, (all, within) => {
        const causes = causesOf(all, within)
        const held = causes.flatMap((cause) => cause.cases.map(({ id }) => id))
        expect(held.toSorted()).toEqual(all.map(({ id }) => id).toSorted())
        for (const {
          kind,
          service,
          network,
          since,
          cases: [first, ...more],
        } of causes) {
          expect(since).toEqual(first?.openedAt)
          let last = since
          for (const one of more) {
            expect(one).toMatchObject({ kind, service, network })
            expect(one.openedAt.getTime() - last.getTime()).toBeLessThanOrEqual(within)
            last = one.openedAt
          }
        }
        for (const one of causes)
          for (const other of causes.filter((cause) => cause !== one && isAlike(cause, one)))
            for (const { openedAt } of other.cases)
              expect(
                one.cases.some((mine) => Math.abs(mine.openedAt.getTime() - openedAt.getTime()) <= within),
              ).toBe(false)
      }),
    )
  })

  test('begin anew after a gap that is longer than the window, and not at one that is as long', () => {
    const opened = [0, 5, 11].map((minutes) => ({
      kind: 'stuck',
      service: 'default',
      network: 'base',
      openedAt: at(minutes),
    }))
    expect(causesOf(opened, 5 * minute).map(({ cases: held }) => held.length)).toEqual([2, 1])
  })

  test('name who is at fault and how grave it is', () => {
    const [cause] = causesOf(
      [{ kind: 'settlement_short', service: 'acme', network: 'base', openedAt: at(0) }],
      0,
    )
    expect(cause).toMatchObject({ service: 'acme', side: 'service', severity: 'severe', since: at(0) })
    const [older] = causesOf([{ kind: 'of_an_older_version', service: '', network: '', openedAt: at(0) }], 0)
    expect(older).toMatchObject({ side: 'unknown', severity: 'warning' })
  })
})

function isAlike(one: Cause<object>, other: Cause<object>): boolean {
  return one.kind === other.kind && one.service === other.service && one.network === other.network
}

const rules: AlertRules = {
  lossAbove: new Map([
    ['base/USDC', '10'],
    ['base/USDT', '10'],
  ]),
  afterMs: 5 * minute,
}

const usdc = (units: bigint): CaseLoss => ({
  asset: 'base/usdc',
  network: 'base',
  symbol: 'USDC',
  decimals: 6,
  amount: units * 1_000_000n,
})

/** Opened at the start; it should be acted on within eight hours. */
const short: OpenCase = {
  kind: 'settlement_short',
  service: 'default',
  network: 'base',
  openedAt: at(0),
  isAssigned: false,
  snoozedUntil: null,
  loss: usdc(11n),
}
const hours = (count: number) => count * 60
const calls = (changes: readonly Partial<OpenCase>[], minutes: number): boolean => {
  const open = changes.map((change) => ({ ...short, ...change }))
  return needsAlert({ kind: open[0]?.kind ?? '', cases: open }, rules, at(minutes))
}

test('the losses of cases are added by asset, and an unknown one makes its sum unknown', () => {
  const losses = [
    usdc(6n),
    { ...usdc(1n), asset: 'USDT', symbol: 'USDT' },
    usdc(5n),
    { ...usdc(1n), asset: 'USDT', symbol: 'USDT', amount: null },
    { ...usdc(1n), asset: 'DAI', symbol: 'DAI', amount: null },
    { ...usdc(1n), asset: 'DAI', symbol: 'DAI' },
  ]
  expect(lossesOf([...losses, null, null].map((loss) => ({ loss })))).toEqual([
    usdc(11n),
    { ...usdc(1n), asset: 'USDT', symbol: 'USDT', amount: null },
    { ...usdc(1n), asset: 'DAI', symbol: 'DAI', amount: null },
    null,
  ])
})

describe('a cause calls for people', () => {
  test.each<[string, readonly Partial<OpenCase>[], { minutes: number; expected: boolean }]>([
    ['once it is old enough', [{}], { minutes: 5, expected: true }],
    ['not before', [{}], { minutes: 4, expected: false }],
    [
      'if its cases together lose more than the limit',
      [{ loss: usdc(6n) }, { loss: usdc(5n) }],
      { minutes: 5, expected: true },
    ],
    [
      'if cases that were opened one after the other lose more than the limit',
      [{ loss: usdc(6n) }, { loss: usdc(6n), openedAt: at(3) }],
      { minutes: 5, expected: true },
    ],
    ['not up to the limit', [{ loss: usdc(6n) }, { loss: usdc(4n) }], { minutes: 5, expected: false }],
    ['if the loss is not known', [{ loss: usdc(1n) }, { loss: null }], { minutes: 5, expected: true }],
    [
      'if one amount of an asset is not known',
      [{ loss: usdc(1n) }, { loss: { ...usdc(1n), amount: null } }],
      { minutes: 5, expected: true },
    ],
    [
      'not if each asset loses no more than its limit',
      [{ loss: usdc(6n) }, { loss: { ...usdc(6n), asset: 'USDT', symbol: 'USDT' } }],
      { minutes: 5, expected: false },
    ],
    [
      'not if only cases that are taken are old enough',
      [{ isAssigned: true, openedAt: at(-10) }, { openedAt: at(-12), loss: usdc(1n) }, { openedAt: at(4) }],
      { minutes: 5, expected: false },
    ],
    [
      'not for a snooze that ended before the case was due',
      [{ snoozedUntil: at(hours(1)), isAssigned: true }],
      { minutes: hours(8) - 1, expected: false },
    ],
    [
      'if the asset is not known',
      [{ loss: { ...usdc(1n), decimals: null } }],
      { minutes: 5, expected: true },
    ],
    [
      'if the asset has no limit',
      [{ loss: { ...usdc(1n), asset: 'DAI', symbol: 'DAI' } }],
      { minutes: 5, expected: true },
    ],
    ['not while somebody has it', [{ isAssigned: true }], { minutes: hours(8) - 1, expected: false }],
    ['once it is overdue, whoever has it', [{ isAssigned: true }], { minutes: hours(8), expected: true }],
    ['not while it is put off', [{ snoozedUntil: at(30) }], { minutes: 29, expected: false }],
    ['once it is not put off any more', [{ snoozedUntil: at(30) }], { minutes: 30, expected: true }],
    [
      'not while it is put off beyond its time',
      [{ snoozedUntil: at(hours(20)) }],
      { minutes: hours(19), expected: false },
    ],
    [
      'if one case of it is taken and another is not',
      [{ isAssigned: true }, {}],
      { minutes: 5, expected: true },
    ],
    [
      'not for a case that joins one that is taken',
      [{ isAssigned: true }, { openedAt: at(30) }],
      { minutes: 60, expected: false },
    ],
    [
      'not for a case that joins one that is put off',
      [{ snoozedUntil: at(hours(2)) }, { openedAt: at(30) }],
      { minutes: 60, expected: false },
    ],
    [
      'once the case that joined is overdue',
      [{ snoozedUntil: at(hours(20)) }, { openedAt: at(30) }],
      { minutes: hours(8) + 30, expected: true },
    ],
    [
      'for a case that was there before the one that is taken',
      [{}, { isAssigned: true, openedAt: at(30) }],
      { minutes: 60, expected: true },
    ],
    [
      'not for the loss of a case that is taken',
      [{ isAssigned: true }, { loss: usdc(1n) }],
      { minutes: 5, expected: false },
    ],
  ])('%s', (_, open, { minutes, expected }) => {
    expect(calls(open, minutes)).toBe(expected)
  })

  const urgent = Object.entries(mismatchKinds).filter(([, { actWithinHours }]) => actWithinHours <= 1)

  test.each(urgent)('at once, whatever it loses, if it is %s', (kind) => {
    expect(calls([{ kind, loss: usdc(1n) }], 0)).toBe(true)
    expect(calls([{ kind, isAssigned: true }], 0)).toBe(false)
    expect(calls([{ kind, isAssigned: true }], hours(1))).toBe(true)
  })
})

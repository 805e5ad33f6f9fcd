import { mismatchKinds } from '../core/mismatch.ts'
import type { KindEntry } from '../core/mismatches/mismatch-entry.ts'
import type { Column } from './column.ts'
import { detailText, type Fact, wordOf, wordsOf } from './words.ts'

/** One line of a list of mismatches. */
export type MismatchRow = {
  id: string
  kind: string
  severity: string
  subject: string
  network: string
  asset: string
  amount: string
  age: string
  status: string
  assigned_to: string | null
  act_in: string
  detail: Readonly<Record<string, string>>
}

/** All that is told of one mismatch. */
export type ToldMismatch = {
  /** As `accounting.mismatches` has it. */
  mismatch: Readonly<Record<string, unknown>> & {
    kind: string
    severity: string
    subject: string
    status: string
  }
  /** The deposit that it is about, in a few words. */
  deposit: { id: string; state: string; owner: string; amount: string } | null
  history: readonly HistoryLine[]
}

type HistoryLine = {
  at: Date
  actor: string
  action: string
  text: string | null
  approved_by: string | null
  before: Readonly<Record<string, unknown>> | null
  after: Readonly<Record<string, unknown>> | null
}

export const mismatchColumns: readonly Column<MismatchRow>[] = [
  { title: 'ID', of: ({ id }) => id, align: 'right' },
  { title: 'SEVERITY', of: ({ severity }) => severity },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'ABOUT', of: ({ subject }) => subject },
  { title: 'AGE', of: ({ age }) => age },
  { title: 'ACT IN', of: ({ act_in: left }) => left },
  {
    title: 'CASE',
    of: ({ status, assigned_to: name }) => (name === null ? status : `${status}, ${name}`),
  },
  { title: 'AMOUNT', of: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', of: ({ asset, network }) => (asset === '' ? '' : `${asset} on ${network}`) },
  { title: 'DETAIL', of: ({ detail }) => detailText(detail) },
]

/** What a kind means, what to do next, and by when somebody should have; of what has ended, null. */
export type Advice = Pick<KindEntry, 'means' | 'next'> & { act_by: Date | null }

export function adviceOf({ mismatch }: Pick<ToldMismatch, 'mismatch'>): Advice {
  const { means, next, actWithinHours } = entryOf(mismatch.kind)
  return { means, next, act_by: actBy(mismatch, actWithinHours) }
}

/** A kind of an older version is in the database and no longer in the table. */
export function entryOf(kind: string): Pick<KindEntry, 'means' | 'next'> & { actWithinHours?: number } {
  const entries: Readonly<Record<string, KindEntry>> = mismatchKinds
  return entries[kind] ?? { means: 'This kind is no longer told.', next: 'Resolve it.' }
}

function actBy(
  { opened_at: openedAt, status }: ToldMismatch['mismatch'],
  withinHours: number | undefined,
): Date | null {
  if (withinHours === undefined || !(openedAt instanceof Date) || !['open', 'snoozed'].includes(status))
    return null
  return new Date(openedAt.getTime() + withinHours * 3_600_000)
}

export function mismatchFacts(
  { mismatch, deposit }: ToldMismatch,
  { means, next, act_by: by }: Advice,
): Fact[] {
  const said = (name: string) => wordOf(mismatch[name])
  const facts = [
    ['about', mismatch.subject],
    [
      'deposit',
      deposit === null ? '' : `${deposit.id}: ${deposit.state}, ${deposit.amount}, for ${deposit.owner}`,
    ],
    [
      'at stake',
      mismatch.amount === null ? '' : `${said('amount')} ${said('asset_symbol')} on ${said('network')}`,
    ],
    ['open for', said('age')],
    ['act by', wordOf(by)],
    ['assigned', said('assigned_to')],
    ['snoozed', said('snoozed_until')],
    [
      'resolved',
      mismatch.resolved_at === null
        ? ''
        : `${said('resolved_at')} by ${said('resolved_by')}: ${said('reason')}`,
    ],
    ['cleared', said('cleared_at')],
    ['says', wordsOf(mismatch.detail)],
    ['means', means],
    ['next', next],
  ]
  return facts.map(([name = '', text = '']) => ({ name, lines: [text === '' ? '-' : text] }))
}

export const historyColumns: readonly Column<HistoryLine>[] = [
  { title: 'AT', of: ({ at }) => at.toISOString() },
  { title: 'WHO', of: ({ actor, approved_by: second }) => (second === null ? actor : `${actor}, ${second}`) },
  { title: 'DID', of: ({ action }) => action.replaceAll('_', ' ') },
  { title: 'WHY', of: ({ text }) => text ?? '' },
  { title: 'FROM', of: ({ before }) => wordsOf(before) },
  { title: 'TO', of: ({ after }) => wordsOf(after) },
]

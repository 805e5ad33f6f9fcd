import { Fault } from '../core/errors.ts'
import { mismatchKinds } from '../core/mismatch.ts'
import type { KindEntry } from '../core/mismatches/mismatch-entry.ts'
import { type ShownMismatch, showMismatch } from '../store/mismatches/show-mismatch.ts'
import { mismatchIds } from './case-options.ts'
import { type Context, withDatabase } from './context.ts'
import { type Column, printable, printJson, table } from './print.ts'

export async function showMismatchCommand(
  context: Context,
  word: string,
  { json }: { json?: boolean },
): Promise<void> {
  const [id = 0n] = mismatchIds([word])
  const shown = await withDatabase(context, (db) => showMismatch(db, id))
  if (shown === null) {
    throw new Fault('usage_bad', {
      problem: `there is no mismatch ${id}`,
      mend: 'take a number from "depositd mismatches list --all"',
    })
  }
  const { means, next, actWithinHours } = entryOf(shown)
  const told = { means, next, act_by: actBy(shown, actWithinHours) }
  if (json === true) printJson(context, { ...shown, ...told })
  else context.stdout.write(printable(textOf(shown, told)))
}

type Told = Pick<KindEntry, 'means' | 'next'> & { act_by: Date | null }

/** A kind of an older version is in the database and no longer in the table. */
function entryOf({
  mismatch,
}: ShownMismatch): Pick<KindEntry, 'means' | 'next'> & { actWithinHours?: number } {
  const entries: Readonly<Record<string, KindEntry>> = mismatchKinds
  return entries[mismatch.kind] ?? { means: 'This kind is no longer told.', next: 'Resolve it.' }
}

/** By when somebody should have done something; of what has ended, null. */
function actBy({ mismatch }: ShownMismatch, withinHours: number | undefined): Date | null {
  const { opened_at: openedAt, status } = mismatch
  if (withinHours === undefined || !(openedAt instanceof Date) || !['open', 'snoozed'].includes(status))
    return null
  return new Date(openedAt.getTime() + withinHours * 3_600_000)
}

function textOf({ mismatch, deposit, history }: ShownMismatch, { means, next, act_by: by }: Told): string {
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
  const lines = facts.map(([name = '', text = '']) => `  ${name.padEnd(9)} ${text === '' ? '-' : text}\n`)
  const past = table(history, historyColumns).replaceAll(/^(?=.)/gm, '    ')
  return `mismatch ${said('id')}: ${mismatch.kind} (${mismatch.severity}), ${mismatch.status}\n${lines.join('')}\n  history\n${past}`
}

const historyColumns: Column<ShownMismatch['history'][number]>[] = [
  { title: 'AT', of: ({ at }) => at.toISOString() },
  { title: 'WHO', of: ({ actor, approved_by: second }) => (second === null ? actor : `${actor}, ${second}`) },
  { title: 'DID', of: ({ action }) => action.replaceAll('_', ' ') },
  { title: 'WHY', of: ({ text }) => text ?? '' },
  { title: 'FROM', of: ({ before }) => wordsOf(before) },
  { title: 'TO', of: ({ after }) => wordsOf(after) },
]

function wordsOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return wordOf(value)
  return Object.entries(value)
    .filter(([, inner]) => inner !== null)
    .map(([name, inner]) =>
      typeof inner === 'object' ? wordsOf(inner) : `${name.replaceAll('_', ' ')} ${wordOf(inner)}`,
    )
    .filter((text) => text !== '')
    .join(', ')
}

function wordOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

import { Fault } from '../../core/errors.ts'
import { parseTime } from '../../core/time.ts'
import { inTransaction } from '../../store/database.ts'
import { type CaseAction, workOnCases } from '../../store/mismatches/cases.ts'
import { listMismatches } from '../../store/reports.ts'
import { type Context, withDatabase } from '../context.ts'
import { wholeOf } from '../lists.ts'
import { parseSpan, textOf } from '../options.ts'
import { actorOf, actorText, mismatchIds, nameOf } from './case-options.ts'
import { printMismatches } from './mismatches.ts'

type CaseOptions = { by?: string; json?: boolean }

/** The last word is the name; `nobody` removes the assignment. */
export function assignCommand(context: Context, words: readonly string[], options: CaseOptions) {
  const name = words.at(-1) ?? ''
  if (/^\d+$/.test(name)) {
    throw new Fault('usage_bad', {
      problem: `${name} is a number, and no name`,
      fix: 'end with the name of a person, or with "nobody"; nothing was changed',
    })
  }
  const to = name === 'nobody' ? null : nameOf('the name', name)
  return work(context, words.slice(0, -1), { ...options, act: { action: 'assigned', to } })
}

/** The last word is the comment. */
export function commentCommand(context: Context, words: readonly string[], options: CaseOptions) {
  const text = textOf('the comment', words.at(-1) ?? '')
  return work(context, words.slice(0, -1), { ...options, act: { action: 'commented', text } })
}

export function snoozeCommand(
  context: Context,
  ids: readonly string[],
  { until, ...options }: CaseOptions & { until: string },
) {
  return work(context, ids, { ...options, act: { action: 'snoozed', until: comingTime(until, new Date()) } })
}

type CaseReasonOptions = CaseOptions & { reason: string }

export function resolveCommand(
  context: Context,
  ids: readonly string[],
  { reason, ...options }: CaseReasonOptions,
) {
  return work(context, ids, { ...options, act: { action: 'resolved', text: textOf('--reason', reason) } })
}

export function reopenCommand(
  context: Context,
  ids: readonly string[],
  { reason, ...options }: CaseReasonOptions,
) {
  return work(context, ids, { ...options, act: { action: 'reopened', text: textOf('--reason', reason) } })
}

/** Applies the action to all mismatches or none, and prints them as they are afterwards. */
async function work(
  context: Context,
  words: readonly string[],
  { act, json, ...options }: CaseOptions & { act: CaseAction },
): Promise<void> {
  const ids = mismatchIds(words)
  const actor = actorOf(options)
  const rows = await withDatabase(context, async (db) => {
    await inTransaction(db, (tx) => workOnCases(tx, ids, { ...act, actor: actor.name }))
    return listMismatches(db, { ids, also: 'all', limit: ids.length })
  })
  if (json !== true) context.stdout.write(`${act.action} ${actorText(actor)}\n`)
  printMismatches(context, wholeOf(rows), json === true ? { json } : {})
}

/**
 * Returns null for `now`, which ends the snooze.
 * @throws Fault `usage_bad` if the text is not a time, or a past one
 */
function comingTime(text: string, now: Date): Date | null {
  if (text === 'now') return null
  const span = parseSpan(text)
  const time = span === null ? parseTime(text) : new Date(now.getTime() + span)
  if (time !== null && time > now) return time
  throw new Fault('usage_bad', {
    problem: `--until is ${JSON.stringify(text)}`,
    fix: 'give a time to come, like 2026-12-24 or 2026-12-24T08:00:00Z, how long from now, like 24h or 3d, or "now"',
  })
}

import { randomUUID } from 'node:crypto'
import { unreadableKinds } from '../core/mismatch.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import { refuseOnePerson } from '../jobs/books/book-by-hand.ts'
import { type ReplayCounts, replayKept } from '../jobs/books/replay.ts'
import { type BooksRestoration, restoreBooks } from '../jobs/books/restore-books.ts'
import {
  type BooksDifference,
  type BooksVerification,
  type BooksVerificationProgress,
  verifyBooks,
} from '../jobs/books/verify-books.ts'
import { parseLossless } from '../provider/lossless-json.ts'
import type { RestoredJournal } from '../store/books/restore.ts'
import { withoutWorkers } from '../store/worker-lock.ts'
import { actorOf, nameOf } from './actor.ts'
import { type Context, longQueryMs } from './context.ts'
import { textOf as textOfOption, wrongUse } from './options.ts'
import { type News, print, printable, reportProgress, type TableColumn, table } from './print.ts'
import { withRules } from './rules.ts'

type ReplayOptions = { kind?: (typeof unreadableKinds)[number]; since?: Date; passedOver?: boolean }

/** Bad news if a payload still cannot be read. */
export async function replayCommand(context: Context, options: ReplayOptions): Promise<News> {
  const { kind, since = null, passedOver } = options
  const kinds = kind === undefined ? (passedOver === true ? 'all' : unreadableKinds) : [kind]
  const report = reportProgress(context)
  const replayed = await withRules(context, (deps) =>
    replayKept(deps, { kinds, since }, (soFar) => report(replayLine(soFar))),
  )
  print(context, replayed, `${replayLine(replayed)}\n`)
  return replayed.unreadable === 0 ? 'good' : 'bad'
}

function replayLine({ rows, applied, passedOver, unreadable, journals }: ReplayCounts): string {
  return `read: ${rows}; applied: ${applied}; ignored: ${passedOver}; still unreadable: ${unreadable}; journals: ${journals}`
}

type RebuildOptions = {
  limit: number
  verify?: boolean
  restore?: boolean
  by?: string
  approvedBy?: string
  reason?: string
}

/** Bad news if anything differs from the evidence, after a restore if there is one. */
export async function rebuildCommand(context: Context, options: RebuildOptions): Promise<News> {
  if (options.restore === true) return restoreCommand(context, options)
  if (options.verify !== true)
    throw wrongUse('neither --verify nor --restore is given', 'compare the books first, with --verify')
  const verified = await withRules(context, (deps) => verify(context, deps, options), longQueryMs)
  print(context, documentOf(verified), printable(`${textOf(verified)}\n`))
  return verified.differing === 0 ? 'good' : 'bad'
}

function verify(context: Context, deps: ApplyDeps, { limit }: RebuildOptions): Promise<BooksVerification> {
  const report = reportProgress(context)
  return verifyBooks(deps, { subjectsMax: limit, onProgress: (progress) => report(lineOf(progress)) })
}

function documentOf(verified: BooksVerification) {
  return { ...verified, differences: verified.differences.map(parsed) }
}

/** Compares before and after. @throws Fault `usage_bad` if a worker of the daemon runs */
async function restoreCommand(context: Context, options: RebuildOptions): Promise<News> {
  const people = {
    by: actorOf(options.by).name,
    approvedBy: nameOf('--approved-by', options.approvedBy ?? ''),
    reason: textOfOption('--reason', options.reason ?? ''),
  }
  refuseOnePerson(people)
  const report = reportProgress(context)
  const onProgress = (progress: BooksVerificationProgress) => report(lineOf(progress))
  const done = await withRules(
    context,
    (deps) =>
      withoutWorkers(deps.db, async () => ({
        before: await verify(context, deps, options),
        restored: await restoreBooks(deps, {
          holder: randomUUID(),
          people,
          journalsMax: options.limit,
          onProgress,
        }),
        after: await verify(context, deps, options),
      })),
    longQueryMs,
  )
  const { before, restored, after } = done
  const document = { before: documentOf(before), restored, after: documentOf(after) }
  const text = `before:\n${textOf(before)}\n${restoredText(restored)}after:\n${textOf(after)}\n`
  print(context, document, printable(text))
  return after.differing === 0 ? 'good' : 'bad'
}

function restoredText({ resumed, written, journals, ...counts }: BooksRestoration): string {
  const what = resumed ? 'an interrupted restore was continued' : 'restored'
  const read = `${counts.rows} observations read, ${counts.corrected} corrected; ${counts.groups} groups decided`
  const more = written - journals.length
  return [
    `${what}: ${read}; journals: ${written}\n`,
    ...(journals.length === 0 ? [] : [table(journals, journalColumns)]),
    ...(more > 0 ? [`and ${more} more; "bin/depositd ledger journal list --by NAME" lists all\n`] : []),
  ].join('')
}

const journalColumns: TableColumn<RestoredJournal>[] = [
  { title: 'JOURNAL', value: ({ id }) => id.toString(), align: 'right' },
  { title: 'KEY', value: ({ key }) => key },
  { title: 'HAPPENED', value: ({ eventAt }) => eventAt.toISOString() },
  { title: 'BOOKS OF', value: ({ period }) => period },
  { title: 'DEPOSIT', value: ({ depositId }) => depositId?.toString() ?? '', align: 'right' },
]

function lineOf({ stage, done, of }: BooksVerificationProgress): string {
  return stage === 'read' ? `observations read: ${done} of ${of}` : `groups decided: ${done} of ${of}`
}

function parsed({ live, rebuilt, ...difference }: BooksDifference) {
  return { ...difference, live: live && parseLossless(live), rebuilt: rebuilt && parseLossless(rebuilt) }
}

function textOf({ differences, differing, subjects, due, pending, ...verified }: BooksVerification): string {
  const bySubject = Map.groupBy(differences, ({ subject }) => subject)
  const reported = [...bySubject].flatMap(([subject, all]) => [subject, ...all.flatMap(linesOf)])
  const verdict =
    differing === 0
      ? `the books agree with the evidence: ${subjects} compared`
      : `THE BOOKS DIFFER FROM THE EVIDENCE: ${differing} of ${subjects}`
  return [
    ...reported,
    ...(bySubject.size < differing
      ? [`and ${differing - bySubject.size} more; a higher --limit shows them`]
      : []),
    `live     sha256 ${verified.live}`,
    `rebuilt  sha256 ${verified.rebuilt}`,
    verdict,
    ...(due > 0 ? [`skipped, as they are being decided again: ${due}`] : []),
    ...(pending > 0 ? [`skipped, as they are not applied yet: ${pending} observations`] : []),
  ].join('\n')
}

/** Of what has no name, only the fields that differ. */
function linesOf({ what, name, live, rebuilt }: BooksDifference): string[] {
  if (name === '' && live !== null && rebuilt !== null) {
    const [is, shouldBe] = [fieldsOf(live), fieldsOf(rebuilt)]
    const names = [...new Set([...is.keys(), ...shouldBe.keys()])]
    return names
      .filter((field) => is.get(field) !== shouldBe.get(field))
      .map((field) => lineOfOne(field, is.get(field) ?? null, shouldBe.get(field) ?? null))
  }
  return [lineOfOne(name === '' ? what : `${what} ${name}`, live, rebuilt)]
}

function fieldsOf(content: string): Map<string, string> {
  const fields = parseLossless(content) as Record<string, unknown>
  return new Map(Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)]))
}

function lineOfOne(name: string, is: string | null, shouldBe: string | null): string {
  return `  ${name}: is ${is ?? 'nothing'}; should be ${shouldBe ?? 'nothing'}`
}

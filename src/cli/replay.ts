import { Fault } from '../core/errors.ts'
import { unreadableKinds } from '../core/mismatch.ts'
import { parseTime } from '../core/time.ts'
import { type ReplayCounts, replayKept } from '../jobs/books/replay.ts'
import {
  type BooksDifference,
  type BooksVerification,
  type BooksVerificationProgress,
  verifyBooks,
} from '../jobs/books/verify-books.ts'
import { parseLossless } from '../provider/lossless-json.ts'
import type { UnappliedPayloadFilter } from '../store/inbox.ts'
import type { Context } from './context.ts'
import { choiceOf } from './options.ts'
import { type News, printable, printJson, reportProgress } from './print.ts'
import { withRules } from './rules.ts'

type ReplayOptions = { kind?: string; since?: string; passedOver?: boolean; json?: boolean }

/** Bad news if a payload still cannot be read. */
export async function replayCommand(context: Context, options: ReplayOptions): Promise<News> {
  const filter = { kinds: kindsOf(options), since: sinceOf(options.since) }
  const report = reportProgress(context)
  const replayed = await withRules(context, (deps) =>
    replayKept(deps, filter, (soFar) => report(replayLine(soFar))),
  )
  if (options.json) printJson(context, replayed)
  else context.stdout.write(`${replayLine(replayed)}\n`)
  return replayed.unreadable === 0 ? 'good' : 'bad'
}

function kindsOf({ kind, passedOver }: ReplayOptions): UnappliedPayloadFilter['kinds'] {
  if (kind === undefined) return passedOver ? 'all' : unreadableKinds
  if (!passedOver) return [choiceOf('--kind', kind, unreadableKinds)]
  throw new Fault('usage_bad', {
    problem: '--kind and --passed-over exclude each other',
    fix: 'use one of them: ignored payloads have no kind',
  })
}

function sinceOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = parseTime(text)
  if (time !== null) return time
  throw new Fault('usage_bad', {
    problem: `--since is ${JSON.stringify(text)}`,
    fix: 'give a day or a time, like 2026-11-20 or 2026-11-20T08:00:00Z',
  })
}

function replayLine({ rows, applied, passedOver, unreadable, journals }: ReplayCounts): string {
  return `read: ${rows}; applied: ${applied}; ignored: ${passedOver}; still unreadable: ${unreadable}; journals: ${journals}`
}

type RebuildOptions = { verify?: boolean; limit: number; json?: boolean }

/** Postgres sorts the results of millions of deposits before its first row. */
const queryTimeoutMs = 3_600_000

/** Bad news if anything differs from the evidence. */
export async function rebuildCommand(context: Context, options: RebuildOptions): Promise<News> {
  if (options.verify !== true) {
    throw new Fault('usage_bad', {
      problem: 'books are not rebuilt in place: errors are corrected by reversal',
      fix: 'use --verify, which recomputes them and compares',
    })
  }
  const report = reportProgress(context)
  const onProgress = (progress: BooksVerificationProgress) => report(lineOf(progress))
  const verified = await withRules(
    context,
    (deps) => verifyBooks(deps, { subjectsMax: options.limit, onProgress }),
    queryTimeoutMs,
  )
  if (options.json) printJson(context, { ...verified, differences: verified.differences.map(parsed) })
  else context.stdout.write(printable(`${textOf(verified)}\n`))
  return verified.differing === 0 ? 'good' : 'bad'
}

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

/** For a deposit, only the fields that differ. */
function linesOf({ what, name, live, rebuilt }: BooksDifference): string[] {
  if (what === 'deposit' && live !== null && rebuilt !== null) {
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

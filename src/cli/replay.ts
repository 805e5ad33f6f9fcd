import { applyDeps } from '../app/rules.ts'
import { unreadableKinds } from '../core/mismatch.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import { type ReplayCounts, replayKept } from '../jobs/books/replay.ts'
import { type BooksDifference, type BooksVerification, verifyBooks } from '../jobs/books/verify-books.ts'
import type { RestoreChange } from '../jobs/people/restore-procedure.ts'
import { parseLossless } from '../provider/lossless-json.ts'
import type { CreditDifference } from '../store/books/rebuild.ts'
import { attachedSettings, type Context, longQueryMs, withDatabase } from './context.ts'
import { textOf as textOfOption, wrongUse } from './options.ts'
import { decideCommand } from './people/decide.ts'
import { progressLine } from './people/restored-text.ts'
import { type News, print, printable, reportProgress } from './print.ts'

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
  breakGlass?: string
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
  return verifyBooks(deps, { subjectsMax: limit, onProgress: (progress) => report(progressLine(progress)) })
}

function documentOf(verified: BooksVerification) {
  const { differences, credits } = verified
  return {
    ...verified,
    differences: differences.map(parsed),
    credits: { ...credits, differences: credits.differences.map(parsed) },
  }
}

/** @throws Fault `usage_bad` if a worker of the daemon runs */
async function restoreCommand(context: Context, { reason, breakGlass }: RebuildOptions): Promise<News> {
  const change: RestoreChange = { reason: textOfOption('--reason', reason ?? '') }
  await decideCommand(context, { kind: 'restore', change }, breakGlass)
  return 'good'
}

function parsed<Difference extends CreditDifference>({ live, rebuilt, ...difference }: Difference) {
  return { ...difference, live: live && parseLossless(live), rebuilt: rebuilt && parseLossless(rebuilt) }
}

function textOf(verified: BooksVerification): string {
  const { differences, differing, subjects, due, pending, credits } = verified
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
    ...creditLines(credits),
    ...(due > 0 ? [`skipped, as they are being decided again: ${due}`] : []),
    ...(pending > 0 ? [`skipped, as they are not applied yet: ${pending} observations`] : []),
  ].join('\n')
}

function creditLines({ differing, differences }: BooksVerification['credits']): string[] {
  if (differing === 0) return []
  const lines = differences.map(({ subject, live, rebuilt }) => lineOfOne(subject, live, rebuilt))
  return [`safe to credit, and decided otherwise from all evidence of today: ${differing}`, ...lines]
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

function withRules<Result>(
  context: Context,
  work: (deps: ApplyDeps) => Promise<Result>,
  queryTimeoutMs?: number,
): Promise<Result> {
  const settings = attachedSettings(context)
  return withDatabase(context, async (db) => work(await applyDeps(settings, db)), queryTimeoutMs)
}

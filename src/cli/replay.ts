import { Fault } from '../core/errors.ts'
import { unreadableKinds } from '../core/mismatch.ts'
import { parseTime } from '../core/time.ts'
import { type ReplayCounts, replayKept } from '../jobs/books/replay.ts'
import type { UnappliedPayloadFilter } from '../store/mismatches/kept.ts'
import { withRules } from './apply-deps.ts'
import type { Context } from './context.ts'
import { wordOf } from './options.ts'
import { type News, printJson, reportProgress } from './print.ts'

type ReplayOptions = { kind?: string; since?: string; passedOver?: boolean; json?: boolean }

/** Bad news if any payload still cannot be read. */
export async function replayCommand(context: Context, options: ReplayOptions): Promise<News> {
  const filter = { kinds: kindsOf(options), since: sinceOf(options.since) }
  const report = reportProgress(context)
  const replayed = await withRules(context, (deps) =>
    replayKept(deps, filter, (soFar) => report(lineOf(soFar))),
  )
  if (options.json) printJson(context, replayed)
  else context.stdout.write(`${lineOf(replayed)}\n`)
  return replayed.unreadable === 0 ? 'good' : 'bad'
}

function kindsOf({ kind, passedOver }: ReplayOptions): UnappliedPayloadFilter['kinds'] {
  if (kind === undefined) return passedOver ? 'all' : unreadableKinds
  if (!passedOver) return [wordOf('kind', kind, unreadableKinds)]
  throw new Fault('usage_bad', {
    problem: '--kind and --passed-over exclude each other',
    fix: 'what was passed over is under no kind: leave one of them out',
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

function lineOf({ rows, applied, passedOver, unreadable, journals }: ReplayCounts): string {
  return `read again: ${rows}; applied: ${applied}; passed over: ${passedOver}; still unreadable: ${unreadable}; journals: ${journals}`
}

import { Fault } from '../core/errors.ts'
import { unreadableKinds } from '../core/mismatch.ts'
import { parseTime } from '../core/time.ts'
import { type Replayed, replayKept } from '../jobs/replay.ts'
import { createClaimReader } from '../provider/read-claim.ts'
import { loadServiceProfile } from '../service-profile.ts'
import { pinnedNetworks } from '../store/assets.ts'
import type { KeptFilter } from '../store/kept.ts'
import { attachedSettings, type Context, withDatabase } from './context.ts'
import { wordOf } from './options.ts'
import { type News, printJson } from './print.ts'

type ReplayOptions = { kind?: string; since?: string; passedOver?: boolean; json?: boolean }

/** Bad news is what still cannot be read. */
export async function replayCommand(context: Context, options: ReplayOptions): Promise<News> {
  const filter = { kinds: kindsOf(options), since: sinceOf(options.since) }
  const settings = attachedSettings(context)
  const profile = loadServiceProfile(settings)
  const readNetworks = new Set(
    settings.networks.flatMap(({ name, rpcUrls }) => (rpcUrls.length > 0 ? [name] : [])),
  )
  const rules = { policy: settings.policy, routes: settings.routes, senders: settings.senders }
  const tell = tellProgress(context)
  const replayed = await withDatabase(context, async (db) => {
    const networks = await pinnedNetworks(db, settings.networks)
    const readClaim = createClaimReader(profile, { ...settings, networks })
    return replayKept({ db, readClaim, rules, readNetworks, now: () => new Date() }, filter, tell)
  })
  if (options.json) printJson(context, replayed)
  else context.stdout.write(`${lineOf(replayed)}\n`)
  return replayed.unreadable === 0 ? 'good' : 'bad'
}

function kindsOf({ kind, passedOver }: ReplayOptions): KeptFilter['kinds'] {
  if (kind === undefined) return passedOver ? 'all' : unreadableKinds
  if (!passedOver) return [wordOf('kind', kind, unreadableKinds)]
  throw new Fault('usage_bad', {
    problem: '--kind and --passed-over exclude each other',
    mend: 'what was passed over is under no kind: leave one of them out',
  })
}

function sinceOf(text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = parseTime(text)
  if (time !== null) return time
  throw new Fault('usage_bad', {
    problem: `--since is ${JSON.stringify(text)}`,
    mend: 'give a day or a time, like 2026-11-20 or 2026-11-20T08:00:00Z',
  })
}

/** One line that is written over on a terminal; a line per batch elsewhere. */
function tellProgress({ stderr }: Context): (soFar: Replayed) => void {
  const isTerminal = 'isTTY' in stderr && stderr.isTTY === true
  return (soFar) => void stderr.write(isTerminal ? `\r\u001b[K${lineOf(soFar)}` : `${lineOf(soFar)}\n`)
}

function lineOf({ rows, applied, passedOver, unreadable, journals }: Replayed): string {
  return `read again: ${rows}; applied: ${applied}; passed over: ${passedOver}; still unreadable: ${unreadable}; journals: ${journals}`
}

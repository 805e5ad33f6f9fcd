import { loadServiceProfile } from '../app/service-profile.ts'
import { type Rules, rulesOf } from '../core/decide.ts'
import { isFault } from '../core/errors.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import { createClaimReader } from '../provider/read-claim.ts'
import { pinnedNetworks } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { attachedSettings, type Context, withDatabase } from './context.ts'

export type RulesOrProblem = { rules: Rules } | { problem: string }

/** Stored data needs only the database URL, but an explanation of verdicts needs all settings. */
export function knownRules(context: Context): RulesOrProblem {
  try {
    return { rules: rulesOf(attachedSettings(context)) }
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return { problem: error.details.faults.join('; ') }
  }
}

export function withRules<Result>(
  context: Context,
  work: (deps: ApplyDeps) => Promise<Result>,
  queryTimeoutMs?: number,
): Promise<Result> {
  const settings = attachedSettings(context)
  const profile = loadServiceProfile(settings)
  const readNetworks = new Set(
    settings.networks.flatMap(({ name, rpcUrls }) => (rpcUrls.length > 0 ? [name] : [])),
  )
  const applying = async (db: Database<Tables>) => {
    const networks = await pinnedNetworks(db, settings.networks)
    const readClaim = createClaimReader(profile, { ...settings, networks })
    return work({ db, readClaim, rules: rulesOf(settings), readNetworks, now: () => new Date() })
  }
  return withDatabase(context, applying, queryTimeoutMs)
}

import { loadServiceProfile } from '../app/service-profile.ts'
import { rulesOf } from '../core/decide.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import { createServiceReader, readerOfServices } from '../provider/read-evidence.ts'
import { pinnedNetworks } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { attachedSettings, type Context, withDatabase } from './context.ts'

export function withRules<Result>(
  context: Context,
  work: (deps: ApplyDeps) => Promise<Result>,
  queryTimeoutMs?: number,
): Promise<Result> {
  const settings = attachedSettings(context)
  const readNetworks = new Set(
    settings.networks.flatMap(({ name, rpcUrls }) => (rpcUrls.length > 0 ? [name] : [])),
  )
  const applying = async (db: Database<Tables>) => {
    const networks = await pinnedNetworks(db, settings.networks)
    const readers = settings.services.map((service) => {
      const profile = loadServiceProfile(settings, service)
      return [service.name, createServiceReader(profile, { ...settings, networks }, service.name)] as const
    })
    const readClaim = readerOfServices(new Map(readers))
    return work({ db, readClaim, rules: rulesOf(settings), readNetworks, now: () => new Date() })
  }
  return withDatabase(context, applying, queryTimeoutMs)
}

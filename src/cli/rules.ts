import { loadServiceProfile } from '../app/service-profile.ts'
import type { Settings } from '../config/settings.ts'
import { rulesOf } from '../core/decide.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import { createServiceReader, readerOfServices } from '../provider/read-evidence.ts'
import { pinnedNetworks } from '../store/assets.ts'
import { attachedSettings, type Context, withDatabase } from './context.ts'

export function withRules<Result>(
  context: Context,
  work: (deps: ApplyDeps) => Promise<Result>,
  queryTimeoutMs?: number,
): Promise<Result> {
  const settings = attachedSettings(context)
  return withDatabase(context, async (db) => work(await applyDeps(settings, db)), queryTimeoutMs)
}

export async function applyDeps(settings: Settings, db: ApplyDeps['db']): Promise<ApplyDeps> {
  const networks = await pinnedNetworks(db, settings.networks)
  const readers = settings.services.map((service) => {
    const profile = loadServiceProfile(settings, service)
    return [service.name, createServiceReader(profile, { ...settings, networks }, service.name)] as const
  })
  const read = settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0).map(({ name }) => name)
  return {
    db,
    readClaim: readerOfServices(new Map(readers)),
    rules: rulesOf(settings),
    readNetworks: new Set(read),
    now: () => new Date(),
  }
}

import type { Settings } from '../config/settings.ts'
import { rulesOf } from '../core/decide.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import type { DecisionProcedures } from '../jobs/people/decide.ts'
import { createProcedures } from '../jobs/people/procedures.ts'
import { createServiceReader, readerOfServices } from '../provider/read-evidence.ts'
import { pinnedNetworks } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { loadServiceProfile } from './service-profile.ts'

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

type DecisionSettings = {
  /** Only journals and decisions about money need them, so a close works without valid settings. */
  settings: () => Settings
  pinned: string | null
  now: () => Date
}

/** What each kind of decision does, by these settings. */
export function decisionProcedures({ settings, ...rest }: DecisionSettings): DecisionProcedures {
  return createProcedures({
    ...rest,
    books() {
      const { accounts } = settings()
      return { accountPatterns: accounts.known, guards: accounts.guards }
    },
    money: async (db: Database<Tables>) => ({
      ...(await applyDeps(settings(), db)),
      secondPersonAbove: settings().secondPersonAbove,
    }),
  })
}

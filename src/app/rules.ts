import type { Kysely } from 'kysely'
import { createReader } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import type { NetworkSettings } from '../core/asset.ts'
import { type RuleSet, ruleSetOf } from '../core/rule-set.ts'
import { rulesInForce } from '../jobs/books/activate-rules.ts'
import type { ApplyDeps } from '../jobs/books/apply.ts'
import type { OpeningDeps } from '../jobs/books/open-books.ts'
import type { OpeningProofDeps } from '../jobs/books/prove-opening.ts'
import type { BooksVerificationProgress } from '../jobs/books/verify-books.ts'
import type { DecisionProcedures } from '../jobs/people/decide.ts'
import { createProcedures } from '../jobs/people/procedures.ts'
import { createServiceReader, readerOfServices } from '../provider/read-evidence.ts'
import { pinnedNetworks, readAssetNames } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { loadServiceProfile } from './service-profile.ts'

export async function applyDeps(
  settings: Settings,
  db: ApplyDeps['db'],
): Promise<ApplyDeps & { rules: Required<RuleSet> }> {
  const networks = await pinnedNetworks(db, settings.networks)
  const readers = settings.services.map((service) => {
    const profile = loadServiceProfile(settings, service)
    return [service.name, createServiceReader(profile, { ...settings, networks }, service.name)] as const
  })
  const read = settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0).map(({ name }) => name)
  return {
    db,
    readClaim: readerOfServices(new Map(readers)),
    rules: await rulesInForce(db, ruleSetOf(settings)),
    readNetworks: new Set(read),
    now: () => new Date(),
  }
}

type DecisionSettings = {
  /** Few decisions need them, so a close works without valid settings. */
  settings: () => Settings
  pinned: string | null
  now: () => Date
  /** Of a restore. */
  report?: (progress: BooksVerificationProgress) => void
}

/** What each kind of decision does, by these settings. */
export function decisionProcedures({
  settings,
  report = () => undefined,
  ...rest
}: DecisionSettings): DecisionProcedures {
  return createProcedures({
    ...rest,
    books() {
      const { accounts } = settings()
      return { accountPatterns: accounts.known, guards: accounts.guards }
    },
    async money(db: Database<Tables>) {
      const deps = await applyDeps(settings(), db)
      return { ...deps, secondPersonAbove: deps.rules.secondPersonAbove }
    },
    opening: (db) => openingDeps(settings(), db),
    restore: async (db) => ({ ...(await applyDeps(settings(), db)), report }),
    addressPeople: () => (settings().addressBook.secondPerson ? 2 : 1),
  })
}

/** Of the balances with which the books begin. Asks every node for its network. */
export async function openingDeps(
  settings: Settings,
  db: Kysely<Tables>,
): Promise<OpeningDeps & OpeningProofDeps> {
  const networks = await pinnedNetworks(db, settings.networks)
  return {
    db,
    accountPatterns: settings.accounts.known,
    contras: settings.contras,
    ownFunds: settings.valuation,
    creditAsset: settings.creditAsset.key,
    networks: await Promise.all(networks.map(readerOf)),
    assets: await readAssetNames(db),
    now: () => new Date(),
  }
}

async function readerOf(settings: NetworkSettings): Promise<OpeningProofDeps['networks'][number]> {
  if (settings.rpcUrls.length === 0) return { settings, reader: null }
  const reader = createReader(settings)
  await reader.checkIdentity()
  return { settings, reader }
}

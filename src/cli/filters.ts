import { defaultService } from '../core/evidence.ts'
import { didYouMean, type ServicesShown } from '../presentation/text.ts'
import { networksKnown } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import { ownerIdsKnown } from '../store/owners.ts'
import { servicesKnown } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'
import { type Context, settingsOrProblem } from './context.ts'
import { badValue, choiceOf } from './options.ts'

type Filters = {
  service?: string | undefined
  network?: string | undefined
  owner?: string | undefined
}

/**
 * An unknown service, network or owner is refused: an empty list would look like good news.
 * @throws Fault `usage_bad`
 */
export async function checkFilters(
  context: Context,
  db: Database<Tables>,
  { service, network, owner }: Filters,
): Promise<ServicesShown> {
  const services = await knownServices(context, db, service)
  if (service !== undefined) choiceOf('--service', service, services)
  if (network !== undefined) {
    const read = settingsOrProblem(context)
    const listed = 'settings' in read ? read.settings.networks.map(({ name }) => name) : []
    const known = new Set<string>([...listed, ...(await networksKnown(db, network))])
    choiceOf('--network', network, [...known].toSorted())
  }
  if (owner !== undefined) await checkOwner(db, owner)
  return { hasSeveralServices: services.length > 1 }
}

/** Of the settings, then of the database. */
async function knownServices(context: Context, db: Database<Tables>, asked?: string): Promise<string[]> {
  const read = settingsOrProblem(context)
  const listed = 'settings' in read ? read.settings.services.map(({ name }) => name) : [defaultService]
  const stored = await servicesKnown(db, asked ?? null)
  return [...new Set<string>([...listed, ...stored.toSorted()])]
}

async function checkOwner(db: Database<Tables>, owner: string): Promise<void> {
  const ids = await ownerIdsKnown(db, owner)
  if (ids.includes(owner)) return
  const fix = 'use an id from "bin/depositd channels list" or "bin/depositd wallets list"'
  throw badValue('--owner', owner, `${didYouMean(owner, ids)}${fix}`)
}

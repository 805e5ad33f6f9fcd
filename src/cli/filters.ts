import { isFault } from '../core/errors.ts'
import { networksKnown } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import { ownerIdsKnown } from '../store/owners.ts'
import type { Tables } from '../store/tables.ts'
import { attachedSettings, type Context } from './context.ts'
import { badValue, choiceOf, didYouMean } from './options.ts'

type Filters = { network?: string | undefined; owner?: string | undefined }

/**
 * An unknown network or owner is refused: an empty list would look like good news.
 * @throws Fault `usage_bad`
 */
export async function checkFilters(
  context: Context,
  db: Database<Tables>,
  { network, owner }: Filters,
): Promise<void> {
  if (network !== undefined) {
    const known = new Set([...networksOfSettings(context), ...(await networksKnown(db, network))])
    choiceOf('--network', network, [...known].toSorted())
  }
  if (owner !== undefined) await checkOwner(db, owner)
}

/** Empty if the settings are incomplete: a list only needs the database. */
function networksOfSettings(context: Context): string[] {
  try {
    return attachedSettings(context).networks.map(({ name }) => name)
  } catch (error) {
    if (isFault(error, 'settings_bad')) return []
    throw error
  }
}

async function checkOwner(db: Database<Tables>, owner: string): Promise<void> {
  const ids = await ownerIdsKnown(db, owner)
  if (ids.includes(owner)) return
  const fix = 'use an id from "bin/depositd channels list" or "bin/depositd wallets list"'
  throw badValue('--owner', owner, `${didYouMean(owner, ids)}${fix}`)
}

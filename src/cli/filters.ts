import { networksKnown } from '../store/assets.ts'
import type { Database } from '../store/database.ts'
import { ownerIdsKnown } from '../store/owners.ts'
import type { Tables } from '../store/tables.ts'
import { type Context, settingsOrProblem } from './context.ts'
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
    const read = settingsOrProblem(context)
    const listed = 'settings' in read ? read.settings.networks.map(({ name }) => name) : []
    const known = new Set<string>([...listed, ...(await networksKnown(db, network))])
    choiceOf('--network', network, [...known].toSorted())
  }
  if (owner !== undefined) await checkOwner(db, owner)
}

async function checkOwner(db: Database<Tables>, owner: string): Promise<void> {
  const ids = await ownerIdsKnown(db, owner)
  if (ids.includes(owner)) return
  const fix = 'use an id from "bin/depositd channels list" or "bin/depositd wallets list"'
  throw badValue('--owner', owner, `${didYouMean(owner, ids)}${fix}`)
}

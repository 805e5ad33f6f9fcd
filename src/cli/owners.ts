import { createChannel, createStableWallet } from '../jobs/provision.ts'
import { createProviderClient } from '../provider/client.ts'
import { listOwners, type OwnerEntry, type OwnerLine } from '../store/address-book.ts'
import { attachedSettings, type Context, withDatabase } from './context.ts'
import { limitOf } from './options.ts'
import { type Column, printJson, printRows } from './print.ts'

type ChannelOptions = { id: string; network: string; asset: string; recipient: string; json?: boolean }

export async function createChannelCommand(context: Context, options: ChannelOptions): Promise<void> {
  const settings = attachedSettings(context)
  const request = {
    id: options.id,
    forwardNetwork: options.network,
    forwardAsset: options.asset,
    forwardRecipient: options.recipient,
  }
  const client = createProviderClient(settings.service)
  const entry = await withDatabase(context, (db) => createChannel({ ...settings, db, client }, request))
  printEntry(context, entry, options)
}

export async function createWalletCommand(
  context: Context,
  options: { id: string; json?: boolean },
): Promise<void> {
  const settings = attachedSettings(context)
  const client = createProviderClient(settings.service)
  const entry = await withDatabase(context, (db) =>
    createStableWallet({ ...settings, db, client }, options.id),
  )
  printEntry(context, entry, options)
}

export async function listOwnersCommand(
  context: Context,
  kind: 'channel' | 'stable_wallet',
  { limit, json }: { limit: string; json?: boolean },
): Promise<void> {
  const rows = await withDatabase(context, (db) => listOwners(db, { kind, limit: limitOf(limit) }))
  printRows(context, rows, { columns, json: json === true, empty: 'none yet' })
}

const columns: Column<OwnerLine>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'NETWORK', of: ({ network }) => network },
  { title: 'ADDRESS', of: ({ address }) => address },
  { title: 'FORWARDS TO', of: ({ forward }) => forward },
]

function printEntry(
  context: Context,
  { owner, deposits, forward }: OwnerEntry,
  { json }: { json?: boolean },
): void {
  if (json === true) {
    printJson(context, { owner, deposits, forward })
    return
  }
  context.stdout.write(`${owner.kind} ${owner.id} is watched from now on; deposit addresses:\n`)
  for (const { network, address } of deposits) context.stdout.write(`  ${network.padEnd(10)} ${address}\n`)
}

import { dailyCalls } from '../../chain/evm/request-cost.ts'
import { defaultBounds } from '../../chain/options.ts'
import type { Settings } from '../../config/settings.ts'
import type { NetworkName } from '../../core/asset.ts'
import { longestPause } from '../../jobs/schedule.ts'
import { readWatchList } from '../../store/chain/chain-watch.ts'
import { openDatabase } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { attachedSettings, type Context } from '../context.ts'
import { type News, printJson, type TableColumn, table } from '../print.ts'

type RpcCostRow = { network: NetworkName; addresses: number; isCurrent: boolean; least: number; most: number }

/** Shown in addition to the current number of watched addresses. */
const examples = [10, 1000, 10_000]

/** Prints how many JSON-RPC calls a day scanning sends to the nodes of each EVM network with the current settings. */
export async function costReport(context: Context, json: boolean): Promise<News> {
  const settings = attachedSettings(context)
  const watched = await watchedAddresses(settings)
  const rows = settings.networks
    .filter(({ family, rpcUrls }) => family === 'evm' && rpcUrls.length > 0)
    .flatMap((network) => {
      const current = watched.get(network.name) ?? null
      const scanSeconds = longestPause(settings.schedule.scan)
      return [...(current === null ? [] : [current]), ...examples].map((addresses, place): RpcCostRow => {
        const calls = dailyCalls({ settings: network, addresses, scanSeconds, bounds: defaultBounds })
        return {
          network: network.name,
          addresses,
          isCurrent: current !== null && place === 0,
          least: calls.least,
          most: calls.most,
        }
      })
    })
  if (json) printJson(context, { items: rows })
  else context.stdout.write(`${table(rows, columns)}${explanation}`)
  return 'good'
}

/** Number of addresses by network, from the address book. */
async function watchedAddresses({
  databaseUrl: url,
  networks,
}: Settings): Promise<ReadonlyMap<NetworkName, number>> {
  const db = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'depositd doctor' })
  try {
    const counts = new Map<NetworkName, number>()
    for (const { name } of networks) {
      const list = await readWatchList(db, name)
      counts.set(name, new Set(list.map(({ address }) => address)).size)
    }
    return counts
  } finally {
    await db.destroy()
  }
}

const thousands = (number: number) => number.toLocaleString('en-US')

const columns: TableColumn<RpcCostRow>[] = [
  { title: 'NETWORK', value: ({ network }) => network },
  {
    title: 'ADDRESSES',
    value: ({ addresses, isCurrent }) => `${thousands(addresses)}${isCurrent ? ' (now)' : ''}`,
  },
  { title: 'CALLS PER DAY', value: ({ least }) => thousands(least) },
  { title: 'AT MOST', value: ({ most }) => thousands(most) },
]

const explanation = `
JSON-RPC calls of scanning to all nodes of a network together, while nothing is paid. At most: if every query for logs
names addresses, ${defaultBounds.recipientsPerRequest} in each. Each payment adds two or three calls; see docs/chains.md.
`

import { randomUUID } from 'node:crypto'
import { createReader } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import { assetCode, type NetworkSettings } from '../core/asset.ts'
import { assert } from '../core/errors.ts'
import type { ObservedChainTransfer } from '../core/evidence.ts'
import { type BackfillProgress, type BackfillReport, backfillByHand } from '../jobs/chain/backfill-by-hand.ts'
import { pinnedNetworks } from '../store/assets.ts'
import { attachedSettings, type Context, withDatabase } from './context.ts'
import { choiceOf } from './options.ts'
import { type News, print, reportProgress, type TableColumn, table } from './print.ts'

type BackfillOptions = { network: string; from: number; to?: number }

/** Longer than one reading takes; the daemon waits this long if the command is killed. */
const leaseMs = 60_000

/** Bad news if a height could not be read. */
export async function backfillCommand(context: Context, options: BackfillOptions): Promise<News> {
  const requested = { from: BigInt(options.from), to: options.to === undefined ? null : BigInt(options.to) }
  const settings = attachedSettings(context)
  const report = reportProgress(context)
  const named = networkOf(settings, options.network)
  const result = await withDatabase(context, async (db) => {
    const [network = named] = await pinnedNetworks(db, [named])
    const reader = createReader(network)
    await reader.checkIdentity()
    const deps = {
      db,
      holder: randomUUID(),
      leaseMs,
      startHeights: settings.startHeights,
      assets: new Map([[network.name, network.assets.map(({ key }) => key)]]),
      now: () => new Date(),
    }
    return backfillByHand(deps, reader, {
      requested,
      report: (progress) => report(progressLine(network, progress)),
    })
  })
  print(context, result, textOf(result))
  return result.complete ? 'good' : 'bad'
}

function networkOf({ networks }: Settings, name: string): NetworkSettings {
  const read = networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
  const names = read.map((one) => one.name)
  const named = choiceOf('--network', name, names)
  const network = read.find((one) => one.name === named)
  assert(network !== undefined, 'a name of the list has its network')
  return network
}

function progressLine({ name }: NetworkSettings, { reached, to, stored }: BackfillProgress): string {
  return `${name}: read up to ${reached} of ${to}; new chain transfers: ${stored}`
}

function textOf({ network, outcome, from, to, complete, stored, news }: BackfillReport): string {
  const what = outcome === 'resumed' ? 'resumed' : 'read again'
  const lines = [`${network} from ${from} to ${to}: ${what}; new chain transfers: ${stored}\n`]
  if (news.length > 0) lines.push(table(news, columns))
  if (!complete) lines.push('some heights could not be read: see "coverage_gap" in docs/runbook.md\n')
  return lines.join('')
}

const columns: TableColumn<ObservedChainTransfer>[] = [
  { title: 'HEIGHT', value: ({ height }) => height.toString(), align: 'right' },
  { title: 'STAGE', value: ({ stage }) => stage },
  { title: 'AS', value: ({ role }) => role },
  { title: 'TO', value: ({ to }) => to },
  { title: 'SMALLEST UNITS', value: ({ amount }) => amount.toString(), align: 'right' },
  { title: 'ASSET', value: ({ asset }) => assetCode(asset) },
  { title: 'TRANSACTION', value: ({ tx }) => tx },
]

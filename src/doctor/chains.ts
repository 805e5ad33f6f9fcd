import { createReader, readDecimals } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import type { NetworkSettings } from '../core/asset.ts'
import { isFault, lineOf } from '../core/errors.ts'
import { decodePosition, scanStream } from '../jobs/chain/scan-position.ts'
import { within } from '../jobs/within.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { duration } from '../presentation/text.ts'
import { pinFaults, pinnedNetworks } from '../store/assets.ts'
import { type HistoryProgress, readHistory } from '../store/chain/history.ts'
import { readCursor } from '../store/streams.ts'
import {
  adviceFor,
  checkMaxMs,
  examined,
  fault,
  type IsMade,
  ok,
  openExaminedDatabase,
  requestMaxMs,
  warning,
} from './finding.ts'

/** Each network's nodes must serve the chain of the settings and still have the heights read as final. */
export async function chainFindings(
  { networks, databaseUrl }: Settings,
  isMade: IsMade,
): Promise<readonly DoctorFinding[]> {
  const found = networks.map((network) => checkChain(network, databaseUrl, isMade))
  return (await Promise.all(found)).flat()
}

function rpcOf({ name }: NetworkSettings): string {
  return `RPC_${name.toUpperCase()}`
}

async function checkChain(
  network: NetworkSettings,
  databaseUrl: string,
  isMade: IsMade,
): Promise<readonly DoctorFinding[]> {
  const check = `chain ${network.name}`
  if (network.rpcUrls.length === 0)
    return [warning(check, 'is not read', `set ${rpcOf(network)} if deposits or forwards use this network`)]
  const known = await recall(network, databaseUrl)
  const fix = 'set the decimals in DEPOSITD_CONFIG to those with which amounts were stored'
  const pinned = known.faults.map((says) => fault(check, says, fix))
  const found = await identityFindings(check, known.network, isMade)
  if (found.every(({ state }) => state !== 'ok')) return [...pinned, ...found]
  const heights = await heightFindings(known.network, known.readUpTo)
  return [...pinned, ...(pinned.length > 0 ? found.filter(({ state }) => state !== 'ok') : found), ...heights]
}

async function identityFindings(
  check: string,
  network: NetworkSettings,
  isMade: IsMade,
): Promise<readonly DoctorFinding[]> {
  const asked = await Promise.all(network.rpcUrls.map((rpcUrl) => askNode(network, rpcUrl)))
  const faults = asked.filter((one) => one.kind === 'other').map(({ says }) => says)
  const away = asked.filter((one) => one.kind === 'away')
  const rpc = rpcOf(network)
  const file = isMade('DEPOSITD_CONFIG') ? ', or correct chainId and assets in DEPOSITD_CONFIG' : ''
  const ofOther = `set ${rpc} to nodes of that chain${file}`
  if (faults.length > 0) return [...new Set(faults)].map((says) => fault(check, says, ofOther))
  const node = { setting: rpc, credential: `the key in ${rpc}` }
  const silent = (says: string) => adviceFor(says, node)
  if (away.length === asked.length) return away.map(({ says }) => fault(check, says, silent(says)))
  const warnings = away.map(({ says }) => warning(check, `${says}; the other nodes are used`, silent(says)))
  return [...warnings, ...(await decimalsFinding(check, network))]
}

/** Each request is sent once, and waits no longer than any check. */
const bounds = { timeoutMs: requestMaxMs, triesMax: 1, quotaWaitMs: 0 }

type NodeCheckResult = { kind: 'fine' | 'other' | 'away'; says: string }

/** Alone: among others, a node that does not answer would be skipped. */
async function askNode(network: NetworkSettings, rpcUrl: string): Promise<NodeCheckResult> {
  const { reading, ...rest } = network
  const alone = { ...rest, rpcUrls: [rpcUrl], ...(reading && { reading: { ...reading, quorum: 1 } }) }
  try {
    await within(checkMaxMs, network.name, createReader(alone, { bounds }).checkIdentity())
    return { kind: 'fine', says: '' }
  } catch (error) {
    return { kind: isFault(error, 'settings_bad') ? 'other' : 'away', says: lineOf(error) }
  }
}

function decimalsFinding(check: string, network: NetworkSettings): Promise<readonly DoctorFinding[]> {
  const fix = `correct the assets of ${network.name} in DEPOSITD_CONFIG`
  return examined(check, fix, async () => {
    const { unpinned = [] } = network
    const read = unpinned.length === 0 ? [] : await readDecimals(network, unpinned)
    const reported = read.map(
      ({ symbol, decimals }) => `; ${symbol} has ${decimals} decimals, stored at the first start`,
    )
    return ok(check, `serves the chain and assets of the settings${reported.join('')}`)
  })
}

function heightFindings(
  network: NetworkSettings,
  readUpTo: bigint | null,
): Promise<readonly DoctorFinding[]> {
  const check = `final ${network.name}`
  const fix = `put another node first in ${rpcOf(network)}: this one lags, or was restored from an old state`
  const unreported = `try again; if it persists, use other nodes in ${rpcOf(network)}, or a plan that allows these requests`
  return examined(check, unreported, async () => {
    const { at } = await createReader(network, { bounds }).readBalances({ pairs: [], at: null })
    if (readUpTo === null) return ok(check, `height ${at.height}; no block was read yet`)
    if (at.height >= readUpTo) return ok(check, `height ${at.height}; read up to ${readUpTo}`)
    return fault(check, `height ${at.height} is below ${readUpTo}, which was already read as final`, fix)
  })
}

type StoredNetworkState = { network: NetworkSettings; faults: string[]; readUpTo: bigint | null }

/** Empty before the first start, and if the database does not answer, which is a check of its own. */
async function recall(network: NetworkSettings, url: string): Promise<StoredNetworkState> {
  await using db = openExaminedDatabase(url)
  try {
    const [known = network] = await pinnedNetworks(db, [network])
    const position = decodePosition(await readCursor(db, scanStream(network.name)))
    const faults = await pinFaults(db, network.assets)
    return { network: known, faults, readUpTo: position?.cursor.final.height ?? null }
  } catch {
    return { network, faults: [], readUpTo: null }
  }
}

type HistoryFinding = DoctorFinding & { history: HistoryProgress }

/** How much of the history of the watched addresses was read, by network. */
export function historyFindings({
  databaseUrl,
  networks,
}: Pick<Settings, 'databaseUrl' | 'networks'>): Promise<readonly DoctorFinding[]> {
  const read = new Set(networks.filter(({ rpcUrls }) => rpcUrls.length > 0).map(({ name }) => name))
  return examined('history', 'see the check of the database', async () => {
    await using db = openExaminedDatabase(databaseUrl)
    const found = await readHistory(db)
    return found
      .filter(({ network }) => read.has(network))
      .map(
        (history): HistoryFinding => ({
          ...ok(`history ${history.network}`, textOf(history)),
          history,
        }),
      )
  })
}

/** A gap that does not close is a mismatch, and no finding here. */
function textOf({ from, to, missing, requests, secondsLeft }: HistoryProgress): string {
  if (missing === 0n) return `everything read from height ${thousands(from)} on`
  const whole = to - from + 1n
  const share = (Number((whole - missing) * 1000n) / Number(whole) / 10).toFixed(1)
  const cost = requests === null ? '' : `, ${thousands(BigInt(requests))} requests so far`
  const left = secondsLeft === null ? '' : `, about ${duration(secondsLeft)} left`
  return `${share}% read: ${thousands(missing)} of ${thousands(whole)} heights missing${cost}${left}`
}

const thousands = (number: bigint) => number.toLocaleString('en-US')

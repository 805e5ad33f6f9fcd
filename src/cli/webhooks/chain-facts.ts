import { mapBounded } from '../../chain/map-bounded.ts'
import { rpcSetting } from '../../chain/options.ts'
import { createReader } from '../../chain/reader.ts'
import type { FullChainReader } from '../../chain/types.ts'
import { type Environment, readFrom } from '../../config/environment.ts'
import type { NetworkSettings, TxId } from '../../core/asset.ts'
import { isFault, lineOf } from '../../core/errors.ts'
import type { Hints } from '../../provider/infer/hints.ts'
import type { Samples } from '../../provider/infer/infer-profile.ts'
import {
  isOfFamily,
  offlineFacts,
  type ProofFacts,
  questionsOf,
  type SilentNetwork,
  type TransactionFact,
} from '../../provider/prove/facts.ts'

const readAtOnce = 4
/** A node that is away is reported; nothing waits for it. */
const bounds = { timeoutMs: 10_000, triesMax: 2, quotaWaitMs: 2_000 }

/** Asks the nodes of each network (`RPC_…` of the environment) for every transaction of the samples. */
export async function readChainFacts(
  samples: Samples,
  hints: Hints,
  environment: Environment,
): Promise<ProofFacts> {
  const networks = readFrom(environment, (reader) =>
    hints.networks.map((network) => ({
      ...network,
      rpcUrls: reader.urls(rpcSetting(network.name), ['http', 'https']),
    })),
  ).filter(({ rpcUrls }) => rpcUrls.length > 0)
  if (networks.length === 0) return offlineFacts(hints)
  const questions = questionsOf(samples, hints)
  const answers = await Promise.all(networks.map((network) => askNetwork(network, questions)))
  const transactions = new Map<TxId, TransactionFact[]>()
  for (const { tx, fact } of answers.flatMap(({ found }) => found))
    transactions.set(tx, [...(transactions.get(tx) ?? []), fact])
  return { hints, transactions, silent: answers.flatMap(({ silent }) => silent), isOffline: false }
}

type TransactionFinding = { tx: TxId; fact: TransactionFact }

type NetworkAnswer = { found: TransactionFinding[]; silent: SilentNetwork[] }

async function askNetwork(
  network: NetworkSettings,
  { transactions, addresses }: ReturnType<typeof questionsOf>,
): Promise<NetworkAnswer> {
  const own = transactions.filter((tx) => isOfFamily(tx, network.family))
  const watched = new Set([...addresses].filter((one) => one.startsWith('0x') === (network.family === 'evm')))
  try {
    const reader = createReader(network, { bounds })
    await reader.checkIdentity()
    const found = await mapBounded(own, readAtOnce, (tx) => factOf(reader, tx, watched))
    return { found: found.flat(), silent: [] }
  } catch (error) {
    if (!isFault(error, 'remote_failed') && !isFault(error, 'settings_bad')) throw error
    return { found: [], silent: [{ network: network.name, problem: lineOf(error) }] }
  }
}

/** What may still vanish proves nothing. */
async function factOf(
  reader: FullChainReader,
  tx: TxId,
  watched: Parameters<FullChainReader['readTransaction']>[1],
): Promise<TransactionFinding[]> {
  const reading = await reader.readTransaction(tx, watched)
  const { network } = reader
  if (reading.kind === 'unknown') return []
  if (reading.kind === 'failed') return [{ tx, fact: { kind: 'failed', network } }]
  const { transfers } = reading
  if (transfers.some(({ stage }) => stage !== 'final')) return []
  return [{ tx, fact: { kind: 'moved', network, transfers } }]
}

import { createReader } from '../../chain/reader.ts'
import type { Settings } from '../../config/settings.ts'
import { lineOf } from '../../core/errors.ts'
import type { NoProof, ProveDeps, ProvenNetwork } from '../../jobs/chain/proof-run.ts'
import { type BalanceProofResult, proveBalances } from '../../jobs/chain/prove-balances.ts'
import { pinnedNetworks } from '../../store/assets.ts'
import { type AssetDifferenceTotal, differingBalances } from '../../store/chain/balance-differences.ts'
import { type ProofStatus, proofStatus } from '../../store/chain/balance-points.ts'
import { type Database, openDatabase } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { type DoctorFinding, fault } from './finding.ts'

/** Longer than any single request may take. */
const leaseMs = 60_000
const pauseMs = 1000
const pausesMax = 60

const fixes = {
  unproved: 'fix what the check of the chain reports and try again; another process may be proving them',
  differing: 'bin/depositd mismatches list --kind unexplained_balance; docs/runbook.md#unexplained_balance',
  unknown: 'fix what the check database reports, and try again',
  open: 'let the daemon continue (bin/depositd start), and try again',
}

export async function balanceFindings({
  databaseUrl: url,
  networks,
  startHeights,
}: Settings): Promise<DoctorFinding[]> {
  const db = openDatabase<Tables>({ url, poolMax: 4, applicationName: 'depositd doctor' })
  try {
    const named = networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
    const read = await pinnedNetworks(db, named)
    return await Promise.all(
      read.map((network) => {
        const startHeight = startHeights.get(network.name) ?? null
        return proveNetwork(db, { settings: network, reader: createReader(network), startHeight })
      }),
    )
  } catch (error) {
    return [fault('balances', { says: lineOf(error), fix: fixes.unknown })]
  } finally {
    await db.destroy()
  }
}

async function proveNetwork(db: Database<Tables>, network: ProvenNetwork): Promise<DoctorFinding> {
  const { settings } = network
  const check = `balances ${settings.name}`
  try {
    const deps = { db, holder: `doctor ${process.pid}`, leaseMs, now: () => new Date() }
    const problem = await proveAll(deps, network)
    if (problem !== null) return fault(check, { says: problem, fix: fixes.unproved })
    const assets = settings.assets.map(({ key }) => key)
    const differing = await differingBalances(db, settings.name)
    return { check, ...verdictOf(await proofStatus(db, { network: settings.name, assets }), differing) }
  } catch (error) {
    return fault(check, { says: lineOf(error), fix: fixes.unproved })
  }
}

/**
 * Waits a while for other processes that prove the same balances, and for scans that are behind.
 * @returns why balances could not be proved; null if they were, or wait for scans
 */
async function proveAll(deps: ProveDeps, network: ProvenNetwork): Promise<string | null> {
  const startedAt = deps.now()
  const assets = network.settings.assets.map(({ key }) => key)
  for (let pauses = 0; ; pauses++) {
    const proved = await proveWhatIsDue(deps, network, startedAt)
    if (proved === 'unread') return null
    if (proved !== 'busy') {
      const { waiting } = await proofStatus(deps.db, { network: proved.network, assets })
      const [problem = null] = proved.problems
      if (problem !== null || waiting === 0) return problem
    }
    if (pauses === pausesMax) return proved === 'busy' ? 'another process is proving them; try again' : null
    await new Promise((done) => setTimeout(done, pauseMs))
  }
}

/** One run reads a limited number of balances. */
async function proveWhatIsDue(
  deps: ProveDeps,
  network: ProvenNetwork,
  startedAt: Date,
): Promise<BalanceProofResult | NoProof> {
  for (;;) {
    const proved = await proveBalances(deps, network, startedAt)
    if (typeof proved === 'string' || proved.read === 0 || proved.problems.length > 0) return proved
  }
}

function verdictOf(
  { points, unread, waiting, lowest }: ProofStatus,
  differing: readonly AssetDifferenceTotal[],
): Omit<DoctorFinding, 'check'> {
  if (differing.length > 0) {
    const amounts = differing.map(({ symbol, units, holdings }) => `${units} ${symbol} at ${holdings}`)
    const says = `differ from the ledger: ${amounts.join(', ')} of the addresses`
    return { state: 'fault', says, fix: fixes.differing }
  }
  const open = unread + waiting
  if (open === 0)
    return {
      state: 'ok',
      says: `${points} proved${lowest === null ? '' : `, up to height ${lowest}`}`,
      fix: '',
    }
  const says = `${open} of ${points + unread} are not proved, as blocks up to their height are not read yet`
  return { state: 'warning', says, fix: fixes.open }
}

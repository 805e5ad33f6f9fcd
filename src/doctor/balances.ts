import { createReader } from '../chain/reader.ts'
import type { Settings } from '../config/settings.ts'
import { lineOf } from '../core/errors.ts'
import type { NoProof, ProveDeps, ProvenNetwork } from '../jobs/chain/proof-run.ts'
import { type BalanceProofResult, proveBalances } from '../jobs/chain/prove-balances.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { pinnedNetworks } from '../store/assets.ts'
import { type AssetDifferenceTotal, differingBalances } from '../store/chain/balance-differences.ts'
import { type ProofStatus, proofStatus } from '../store/chain/balance-points.ts'
import { type Database, openDatabase } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import { fault, ok, warning } from './finding.ts'

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

export async function balanceFindings(settings: Settings): Promise<DoctorFinding[]> {
  const { databaseUrl: url, networks, startHeights } = settings
  await using db = openDatabase<Tables>({ url, poolMax: 4, applicationName: 'depositd doctor' })
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
    return [fault('balances', lineOf(error), fixes.unknown)]
  }
}

async function proveNetwork(db: Database<Tables>, network: ProvenNetwork): Promise<DoctorFinding> {
  const { settings } = network
  const check = `balances ${settings.name}`
  try {
    const deps = { db, holder: `doctor ${process.pid}`, leaseMs, now: () => new Date() }
    const problem = await proveAll(deps, network)
    if (problem !== null) return fault(check, problem, fixes.unproved)
    const assets = settings.assets.map(({ key }) => key)
    const status = await proofStatus(db, { network: settings.name, assets })
    return verdictOf(check, status, await differingBalances(db, settings.name))
  } catch (error) {
    return fault(check, lineOf(error), fixes.unproved)
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
  check: string,
  { points, unread, waiting, lowest }: ProofStatus,
  differing: readonly AssetDifferenceTotal[],
): DoctorFinding {
  if (differing.length > 0) {
    const amounts = differing.map(({ symbol, units, holdings }) => `${units} ${symbol} at ${holdings}`)
    return fault(check, `differ from the ledger: ${amounts.join(', ')} of the addresses`, fixes.differing)
  }
  const open = unread + waiting
  if (open === 0) return ok(check, `${points} proved${lowest === null ? '' : `, up to height ${lowest}`}`)
  const says = `${open} of ${points + unread} are not proved, as blocks up to their height are not read yet`
  return warning(check, says, fixes.open)
}

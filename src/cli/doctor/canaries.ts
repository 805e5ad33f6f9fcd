import { readFileSync, statSync } from 'node:fs'
import { type DepositCanarySettings, keyProblem } from '../../config/canary.ts'
import type { Settings } from '../../config/settings.ts'
import { depositCanary } from '../../core/canary.ts'
import { isCustomer } from '../../store/canary.ts'
import { type Database, openDatabase } from '../../store/database.ts'
import { readOwners } from '../../store/owners.ts'
import type { Tables } from '../../store/tables.ts'
import { type DoctorFinding, examined, fault, ok, warning } from './finding.ts'

const fixes = {
  unknown: 'mend what the checks database and schema say, and try again',
  owner:
    'bin/depositd channels create, or wallets create, for the canary alone; then name its id in the settings',
  address: 'make an owner that has an address there (docs/canary.md#the-deposit)',
  malformed: 'give the file that the wallet was made with (docs/canary.md#the-risk-of-a-key)',
  unreadable: 'nothing, where no worker runs here; else let the user of the daemon read it',
}

/** Checks that the owners of canaries can be paid and are not customers, and that the keys exist and are private. */
export async function canaryFindings({
  canary,
  networks,
  databaseUrl: url,
}: Settings): Promise<readonly DoctorFinding[]> {
  if (canary.deposits.length === 0) return []
  const db = openDatabase<Tables>({
    url,
    poolMax: 2,
    applicationName: 'depositd doctor',
    queryTimeoutMs: 10_000,
  })
  try {
    const found = await Promise.all(
      canary.deposits.map((one) => {
        const check = `canary ${one.network}`
        const family = networks.find(({ name }) => name === one.network)?.family ?? 'evm'
        return examined(check, fixes.unknown, async () => {
          const troubles = [...(await ownerTroubles(db, one)), ...keyTroubles(one.keyPath, family)]
          if (troubles.length > 0) return troubles.map((report) => report(check))
          return ok(check, `${one.owner.kind} ${one.owner.id} can be paid, and is no customer`)
        })
      }),
    )
    return found.flat()
  } finally {
    await db.destroy()
  }
}

type FindingFactory = (check: string) => DoctorFinding

async function ownerTroubles(
  db: Database<Tables>,
  { network, owner }: DepositCanarySettings,
): Promise<FindingFactory[]> {
  const who = `${owner.kind} ${owner.id}`
  if (await isCustomer(db, { name: depositCanary(network), owner })) {
    const says = `${who} has deposits already, and no worker starts`
    return [(check) => fault(check, { says, fix: fixes.owner })]
  }
  const [entry] = await readOwners(db, owner.kind, [owner.id])
  if (entry?.deposits.some((one) => one.network === network) === true) return []
  const says =
    entry === undefined ? `${who} is not in the address book` : `${who} has no deposit address there`
  const fix = entry === undefined ? fixes.owner : fixes.address
  return [(check) => warning(check, { says, fix })]
}

function keyTroubles(path: string | null, family: Parameters<typeof keyProblem>[1]): FindingFactory[] {
  if (path === null) return []
  const problem = keyProblem(path, family, (name) => readFileSync(name, 'utf8'))
  if (problem !== null) {
    const report = problem.kind === 'malformed' ? fault : warning
    return [(check) => report(check, { says: problem.says, fix: fixes[problem.kind] })]
  }
  // Access of the group and of all other users.
  const isOpen = (statSync(path).mode & 0o077) !== 0
  const says = 'keyFile: can be read by other users of this machine'
  return isOpen ? [(check) => warning(check, { says, fix: `chmod 600 ${path}` })] : []
}

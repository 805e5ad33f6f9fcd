import type { ServiceSettings, Settings } from '../config/settings.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import type { Profile } from '../provider/profile/profile-schema.ts'
import { countWallets } from '../store/books/withdrawals.ts'
import { examined, ok, openExaminedDatabase, warning } from './finding.ts'

/** Whether the balances of the StableWallets are compared with the books. Nothing if there are no wallets. */
export function walletFindings(
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
  { name, profile }: ServiceSettings & { profile: Profile },
): Promise<readonly DoctorFinding[]> {
  return examined('wallets', 'see the check of the database', async () => {
    await using db = openExaminedDatabase(databaseUrl)
    const { wallets, tied, differing } = await countWallets(db, name)
    if (wallets === 0) return []
    const { balance, withdrawals } = profile.owners.wallets
    const missing = [
      ...(balance === undefined ? ['balances, so they are not compared with the books'] : []),
      ...(withdrawals === undefined ? ['withdrawals, so people have to book them'] : []),
    ]
    if (missing.length > 0)
      return missing.map((what) => warning('wallets', `the profile names no call for ${what}`, profileFix))
    if (differing > 0)
      return warning('wallets', `${differing} of ${wallets} balances differ from the books`, differingFix)
    if (tied === 0) return ok('wallets', `${wallets} in the address book; no balance was read yet`)
    return ok('wallets', `${tied} of ${wallets} balances agree with the books`)
  })
}

const profileFix =
  'if the service has such a call, add it to owners.wallets of the profile; docs/mapping.md#balances-and-withdrawals'
const differingFix =
  'bin/depositd mismatches list --kind wallet_balance_mismatch; docs/runbook.md#wallet_balance_mismatch'

import { idAtService, type ServiceName } from '../core/evidence.ts'
import { createDepositClient, type DepositPage, type Service, understood } from './deposit-client.ts'
import type { PageMark } from './paging.ts'
import { compileAmount } from './profile/compile-value.ts'
import type { Vocabulary } from './profile/known-assets.ts'
import type { Profile } from './profile/profile-schema.ts'
import { failure } from './service-call.ts'

/** Of the StableWallets of a service, by ids unique among services. Null if the profile names no such call. */
export type WalletsClient = {
  service: ServiceName
  /** In base units of the asset in which wallets are credited. */
  readBalance: ((wallet: string) => Promise<bigint>) | null
  /** Page by page. */
  listWithdrawals: ((wallet: string) => AsyncIterable<DepositPage['records']>) | null
}

/** Every call throws Fault `remote_failed` if its answer cannot be used. */
export function createWalletsClient(
  service: Service,
  { owners: { wallets } }: Pick<Profile, 'owners'>,
  vocabulary: Vocabulary,
): WalletsClient {
  const { balance, withdrawals } = wallets
  return {
    service: service.name,
    readBalance: balance === undefined ? null : balanceReader(service, balance, vocabulary),
    listWithdrawals: withdrawals === undefined ? null : withdrawalLister(service, withdrawals),
  }
}

function balanceReader(
  { call }: Service,
  { path, amount }: NonNullable<Profile['owners']['wallets']['balance']>,
  { creditAsset: { decimals } }: Vocabulary,
): NonNullable<WalletsClient['readBalance']> {
  const read = compileAmount(amount, '')
  return async (wallet) => {
    const request = { method: 'GET' as const, path: pathOf(path, wallet) }
    const answer = await call(request)
    return understood(request, answer, ({ body }) => {
      const found = read({ payload: body, record: body }, decimals)
      if (found === null) throw new Error(`${amount.paths[0]} is missing`)
      return found
    })
  }
}

const pagesMax = 10_000

function withdrawalLister(
  service: Service,
  { list, record }: NonNullable<Profile['owners']['wallets']['withdrawals']>,
): NonNullable<WalletsClient['listWithdrawals']> {
  return async function* (wallet) {
    const path = pathOf(list.path, wallet)
    const { listDeposits } = createDepositClient(service, { list: { ...list, path }, record })
    let mark: PageMark = null
    for (let count = 0; count < pagesMax; count++) {
      const page = await listDeposits({ mark, since: null })
      if (page === null)
        throw failure({ method: 'GET', path }, 'the service refuses the next page of its list')
      yield page.records
      if (page.next === null) return
      mark = page.next.mark
    }
    throw failure({ method: 'GET', path }, `there are more than ${pagesMax} pages`, { isLasting: true })
  }
}

function pathOf(path: string, wallet: string): string {
  return path.replaceAll('{id}', () => encodeURIComponent(idAtService(wallet)))
}

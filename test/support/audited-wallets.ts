import type { ServerResponse } from 'node:http'
import type { Address } from '../../src/core/asset.ts'
import { defaultService, type ServiceId, stableWalletNetwork } from '../../src/core/evidence.ts'
import { applyPending } from '../../src/jobs/books/apply.ts'
import { auditWallets, type WalletAudit } from '../../src/jobs/books/audit-wallets.ts'
import type { Profile } from '../../src/provider/profile/profile-schema.ts'
import { createServiceReader, readerOfServices } from '../../src/provider/read-evidence.ts'
import { createServiceCall } from '../../src/provider/service-call.ts'
import { createWalletsClient } from '../../src/provider/wallets-client.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from './books.ts'
import { at, base, claim, credit, payment, policy, txId, walletAddress, walletApproval } from './evidence.ts'
import { vocabulary } from './own-payloads.ts'
import { ownProfile } from './profile.ts'
import { startRawService } from './raw-service.ts'
import { keyAuth } from './service-auth.ts'

/** The wallet `savings` with 99.9 USDC in the books, at a service that answers as a test says. */
export type AuditedWallets = AsyncDisposable & {
  books: Books
  now: Date
  /** What the service answers, and what it was asked. */
  balance: string
  records: object[]
  asked: string[]
  /** What it answers about wallets instead. */
  statuses: Record<string, number>
  /** Before it answers. */
  meanwhile: (path: string) => Promise<unknown>
  audit: (profile?: Profile, named?: string) => Promise<WalletAudit>
}

const pageSize = 2

export async function openAuditedWallets(): Promise<AuditedWallets> {
  const stack = new AsyncDisposableStack()
  const books = stack.use(await openBooks())
  await receiveCredit(books, 'dep_1', 'pay')
  const world: AuditedWallets = {
    books,
    now: at(0),
    balance: '99900000',
    records: [],
    asked: [],
    statuses: {},
    meanwhile: () => Promise.resolve(),
    audit: (profile = ownProfile, named) => audit(world, { url: service.url, profile, named }),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
  const service = stack.use(
    await startRawService(({ url: path = '' }, response) => void answer(world, path, response)),
  )
  return world
}

async function answer(world: AuditedWallets, path: string, response: ServerResponse): Promise<void> {
  world.asked.push(path)
  await world.meanwhile(path)
  response.statusCode = world.statuses[path.split(/[/?]/)[3] ?? ''] ?? 200
  response.end(JSON.stringify(answerOf(world, path)))
}

function answerOf({ records, balance: amount }: AuditedWallets, path: string): object {
  if (!path.includes('/withdrawals'))
    return { stable_wallet: { balance: { asset: 'USDC', decimals: 6, amount } } }
  const from = Number(new URL(path, 'http://x').searchParams.get('cursor') ?? 0)
  const next = from + pageSize < records.length ? `${from + pageSize}` : null
  return { data: records.slice(from, from + pageSize), next_cursor: next }
}

type Audit = { url: string; profile: Profile; named: string | undefined }

function audit(world: AuditedWallets, { url, profile, named }: Audit): Promise<WalletAudit> {
  const call = createServiceCall({ url, auth: keyAuth('key'), attemptsMax: 1 })
  const readClaim = readerOfServices(new Map([[defaultService, createServiceReader(profile, vocabulary)]]))
  const { books } = world
  const deps = {
    db: books.db,
    rules: { policy, routes: [], senders: new Set<string>() },
    creditAsset: credit,
    now: () => (world.now = new Date(world.now.getTime() + 1)),
    apply: () => applyPending({ ...books.deps, readClaim }),
  }
  const client = createWalletsClient({ name: defaultService, url, call }, profile, vocabulary)
  return auditWallets(deps, client, named)
}

/** Of 99.9 USDC to the wallet, which was credited. */
export const credited = (id: string, tx: string) =>
  claim({
    serviceId: id as ServiceId,
    owner: walletApproval.owner,
    deposit: { address: walletAddress, tx: txId(tx) },
    settlement: { network: stableWalletNetwork, address: 'savings' as Address, asset: credit, tx: null },
  })

export async function receiveCredit(books: Books, id: string, tx: string): Promise<void> {
  await books.receive(credited(id, tx), payment({ to: walletAddress, tx: txId(tx) }))
  await books.settle()
}

export function openWallet({ books }: AuditedWallets, id: string, address: Address): Promise<unknown> {
  const owner = { kind: 'stable_wallet', id } as const
  return saveOwner(books.db, { owner, deposits: [{ network: base, address }], forward: null })
}

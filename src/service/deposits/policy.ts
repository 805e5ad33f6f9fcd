import { isOffCurveAddress, isAddress as isSolanaAddress } from '@solana/kit'
import { sql } from 'kysely'
import { type Address, parseAddress } from '../../core/asset.ts'
import { inTransaction } from '../../store/database.ts'
import type {
  DepositReason,
  OwnerKind,
  ServiceDatabase,
  ServiceDepositRow,
  ServiceTransaction,
} from '../tables.ts'

type PolicyAsset = { network: string; asset: string }

/** Omitted rules do not apply. Amounts are base units as decimal strings. */
export type OwnerPolicy = {
  /** Applies regardless of the other rules. */
  hold?: boolean | undefined
  minimum_amounts?: readonly (PolicyAsset & { amount: string })[] | undefined
  assets?: AllowDenyList<PolicyAsset> | undefined
  /** Either list rejects deposits with an unknown sender. */
  senders?: AllowDenyList<string> | undefined
  /** What happens to a rejected deposit; `hold` by default. */
  otherwise?: 'hold' | 'refund' | undefined
}

type AllowDenyList<Item> = { allow: readonly Item[] } | { deny: readonly Item[] }

export type PolicyDecision =
  | { kind: 'pass' }
  | { kind: 'hold'; reason: DepositReason }
  | { kind: 'refund'; reason: DepositReason; to: Address }

export type JudgedDeposit = Pick<ServiceDepositRow, 'network' | 'asset' | 'amount' | 'sender'>

export function decidePolicy(policy: OwnerPolicy, deposit: JudgedDeposit): PolicyDecision {
  if (policy.hold === true) return { kind: 'hold', reason: 'policy_hold' }
  const reason = turnedAway(policy, deposit)
  if (reason === null) return { kind: 'pass' }
  if (policy.otherwise !== 'refund') return { kind: 'hold', reason }
  const to = knownSender(deposit)
  return to === null || isProgramAddress(to)
    ? { kind: 'hold', reason: 'sender_unknown' }
    : { kind: 'refund', reason, to }
}

/** Null for newly minted tokens, which come from the zero address. */
export function knownSender({ sender }: Pick<ServiceDepositRow, 'sender'>): Address | null {
  return sender === null || /^0x0+$/.test(sender) ? null : sender
}

/**
 * On Solana, an address off the curve has no key. Its program, such as an exchange's vault, may be unable to credit a
 * refund. EVM addresses do not show whether they are contracts.
 */
function isProgramAddress(address: Address): boolean {
  return isSolanaAddress(address) && isOffCurveAddress(address)
}

function turnedAway(policy: OwnerPolicy, deposit: JudgedDeposit): DepositReason | null {
  if (!passes(policy.assets, (listed) => isAssetOf(listed, deposit))) return 'asset_denied'
  if (policy.senders !== undefined) {
    const sender = knownSender(deposit)
    if (sender === null) return 'sender_unknown'
    if (!passes(policy.senders, (listed) => isAddress(listed, sender))) return 'sender_denied'
  }
  const isBelow = (policy.minimum_amounts ?? []).some(
    (minimum) => isAssetOf(minimum, deposit) && BigInt(deposit.amount) < BigInt(minimum.amount),
  )
  return isBelow ? 'below_minimum' : null
}

function passes<Item>(listing: AllowDenyList<Item> | undefined, isListed: (item: Item) => boolean): boolean {
  if (listing === undefined) return true
  return 'allow' in listing ? listing.allow.some(isListed) : !listing.deny.some(isListed)
}

function isAssetOf(listed: PolicyAsset, { network, asset }: JudgedDeposit): boolean {
  return listed.network === network && listed.asset === asset
}

function isAddress(listed: string, sender: Address): boolean {
  return parseAddress(listed.startsWith('0x') ? 'evm' : 'solana', listed) === sender
}

type PolicyOwner = { kind: OwnerKind; id: string }

export type StoredPolicy = { policy: OwnerPolicy; updatedAt: Date }

/** `none`: the owner has no policy. */
export type PolicyOutcome = ({ kind: 'found' } & StoredPolicy) | { kind: 'none' } | { kind: 'owner_unknown' }

export async function getPolicy(db: ServiceDatabase, owner: PolicyOwner): Promise<PolicyOutcome> {
  const row = await db
    .selectFrom('service.owner as owner')
    .leftJoin('service.policy as policy', (join) =>
      join.onRef('policy.owner_kind', '=', 'owner.kind').onRef('policy.owner_id', '=', 'owner.id'),
    )
    .select(['policy.body', 'policy.updated_at'])
    .where('owner.kind', '=', owner.kind)
    .where('owner.id', '=', owner.id)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'owner_unknown' }
  const { body, updated_at: updatedAt } = row
  return updatedAt === null ? { kind: 'none' } : { kind: 'found', policy: body as OwnerPolicy, updatedAt }
}

/** Once answered, the policy applies to every deposit that is not converting or credited yet. */
export function putPolicy(
  db: ServiceDatabase,
  owner: PolicyOwner,
  policy: OwnerPolicy,
): Promise<PolicyOutcome> {
  return inTransaction(db, async (tx): Promise<PolicyOutcome> => {
    await lockOwner(tx, owner)
    const { rows } = await sql<{ updated_at: Date }>`
      insert into service.policy (owner_kind, owner_id, body)
      select kind, id, ${JSON.stringify(policy)}::jsonb from service.owner
      where kind = ${owner.kind} and id = ${owner.id}
      on conflict (owner_kind, owner_id) do update set body = excluded.body, updated_at = clock_timestamp()
      returning updated_at`.execute(tx)
    const [row] = rows
    return row === undefined
      ? { kind: 'owner_unknown' }
      : { kind: 'found', policy, updatedAt: row.updated_at }
  })
}

/** Deposits that it holds stay held until they are released or refunded. */
export function deletePolicy(db: ServiceDatabase, owner: PolicyOwner): Promise<PolicyOutcome> {
  return inTransaction(db, async (tx) => {
    await lockOwner(tx, owner)
    await tx
      .deleteFrom('service.policy')
      .where('owner_kind', '=', owner.kind)
      .where('owner_id', '=', owner.id)
      .execute()
    return getPolicy(tx, owner)
  })
}

/** The policies cannot change until the decisions commit. */
export async function lockPolicies(tx: ServiceTransaction, depositIds: readonly string[]): Promise<void> {
  await sql`
    select from service.owner
    where (kind, id) in (select owner_kind, owner_id from service.deposit where id = any(${depositIds}))
    order by kind, id for share`.execute(tx)
}

/** Waits until decisions under this owner's policy have committed. */
async function lockOwner(tx: ServiceTransaction, { kind, id }: PolicyOwner): Promise<void> {
  await sql`select from service.owner where kind = ${kind} and id = ${id} for no key update`.execute(tx)
}
